// Kernel launches: pointers found, directions, kernels told apart.
#include <array>

#include "cupti_fixture.hpp"

namespace cuward::cupti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Launches : public DecoderTest {
  protected:
    Launches() {
        FakeDriver::kernels()[0x100] = {
            .is_function = true, .name = "_Z3addPKfPfi", .layout = {{0, 8}, {8, 8}, {16, 4}}};
        FakeDriver::kernels()[0x200] = {
            .is_function = false, .name = "plain", .layout = {{0, 8}, {8, 8}}};
        FakeDriver::kernels()[0x300] = {
            .is_function = true, .name = "_Z1f1Sif", .layout = {{0, 24}, {24, 4}, {28, 4}}};
        FakeDriver::kernels()[0x400] = {.is_function = true, .name = "_Z5emptyv", .layout = {}};
    }

    static cuLaunchKernel_params launch(std::uint64_t kernel, void** params) {
        cuLaunchKernel_params p{};
        p.f = function(kernel);
        p.gridDimX = 4;
        p.gridDimY = 5;
        p.gridDimZ = 6;
        p.blockDimX = 32;
        p.blockDimY = 2;
        p.blockDimZ = 1;
        p.hStream = stream(0x55);
        p.kernelParams = params;
        return p;
    }
};

TEST_F(Launches, PointersWithTheirDirections) {
    Address in = kBlock + 16;
    Address out = kOther;
    int n = 3;
    std::array<void*, 3> params{&in, &out, &n};
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data()),
                           "_Z3addPKfPfi");
    EXPECT_EQ(c.effect, Effect::Queue);
    EXPECT_STREQ(c.api, "cuLaunchKernel");
    EXPECT_EQ(c.operation.kind, OperationKind::Kernel);
    EXPECT_EQ(c.stream.context, kContext);
    EXPECT_EQ(c.stream.stream, StreamId{0x55});
    EXPECT_EQ(c.operation.grid, (Dim3{4, 5, 6}));
    EXPECT_EQ(c.operation.threads, (Dim3{32, 2, 1}));
    EXPECT_EQ(names[static_cast<std::uint32_t>(c.operation.kernel)], "_Z3addPKfPfi");
    EXPECT_THAT(c.accesses, ElementsAre(pointer(in, Access::Read, true),
                                        pointer(out, Access::ReadWrite, true)));
}

TEST_F(Launches, UntrackedPointersAreNoAccesses) {
    Address in = 0x5;
    Address out = 0;
    int n = 3;
    std::array<void*, 3> params{&in, &out, &n};
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data())).accesses,
        IsEmpty());
}

TEST_F(Launches, ACUkernelIsKnownToTheOtherQuery) {
    Address a = kBlock;
    Address b = kOther;
    std::array<void*, 2> params{&a, &b};
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x200, params.data()));
    EXPECT_THAT(c.accesses, ElementsAre(pointer(a, Access::ReadWrite, false),
                                        pointer(b, Access::ReadWrite, false)));
    EXPECT_EQ(names[static_cast<std::uint32_t>(c.operation.kernel)], "plain");
}

TEST_F(Launches, PointersInsideStructs) {
    struct {
        Address first = kBlock + 8;
        std::uint64_t n = 12;
        Address second = kOther + 1;
    } fields;
    int i = 1;
    float f = 1;
    std::array<void*, 3> params{&fields, &i, &f};
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x300, params.data())).accesses,
        ElementsAre(pointer(kBlock + 8, Access::ReadWrite, false),
                    pointer(kOther + 1, Access::ReadWrite, false)));
}

TEST_F(Launches, ParameterBuffer) {
    struct {
        Address in = kBlock;
        Address out = kOther;
        int n = 1;
    } buffer;
    std::size_t size = 20;
    std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                               &size, CU_LAUNCH_PARAM_END};
    cuLaunchKernel_params p = launch(0x100, nullptr);
    p.extra = extra.data();
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).accesses,
        ElementsAre(pointer(kBlock, Access::Read, true), pointer(kOther, Access::ReadWrite, true)));
    size = 8;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).accesses,
                ElementsAre(pointer(kBlock, Access::Read, true)))
        << "beyond the buffer nothing is read";
}

TEST_F(Launches, SizeWithoutAParameterBuffer) {
    std::size_t size = 16;
    std::array<void*, 3> extra{CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    for (const std::uint64_t kernel : {0x100U, 0x999U}) {
        cuLaunchKernel_params p = launch(kernel, nullptr);
        p.extra = extra.data();
        EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).accesses, IsEmpty());
    }
}

TEST_F(Launches, ParameterBufferOfAnUnknownKernel) {
    std::array<Address, 2> buffer{7, kOther};
    std::size_t size = sizeof buffer;
    std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER,
                               buffer.data(), CU_LAUNCH_PARAM_END};
    cuLaunchKernel_params p = launch(0x999, nullptr);
    p.extra = extra.data();
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).accesses,
                ElementsAre(pointer(kOther, Access::ReadWrite, false)));
}

TEST_F(Launches, WithoutALayoutThereIsOneNote) {
    Address a = kBlock;
    std::array<void*, 1> params{&a};
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x999, params.data()), "k1").accesses,
        IsEmpty());
    decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x998, params.data()), "k2");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_THAT(notes[0], testing::HasSubstr("k1"));
}

TEST_F(Launches, KernelWithoutParameters) {
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x400, nullptr));
    EXPECT_EQ(c.effect, Effect::Queue);
    EXPECT_THAT(c.accesses, IsEmpty());
    EXPECT_THAT(notes, IsEmpty());
}

TEST_F(Launches, ExAndCooperativeForms) {
    Address in = kBlock;
    Address out = kOther;
    int n = 3;
    std::array<void*, 3> params{&in, &out, &n};
    CUlaunchConfig config{};
    config.gridDimX = 7;
    config.blockDimX = 64;
    config.hStream = stream(0x66);
    cuLaunchKernelEx_params ex{};
    ex.config = &config;
    ex.f = function(0x100);
    ex.kernelParams = params.data();
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, ex);
    EXPECT_EQ(c.stream.stream, StreamId{0x66});
    EXPECT_EQ(c.operation.grid[0], 7U);
    EXPECT_EQ(c.accesses.size(), 2U);

    cuLaunchCooperativeKernel_params cooperative{};
    cooperative.f = function(0x100);
    cooperative.kernelParams = params.data();
    EXPECT_EQ(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, cooperative).accesses.size(), 2U);
}

TEST_F(Launches, DefaultStreamsOfBothKinds) {
    cuLaunchKernel_params p = launch(0x400, nullptr);
    p.hStream = nullptr;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).stream.stream, kLegacyStream);
    cuLaunchKernel_ptsz_params ptsz{};
    ptsz.f = function(0x400);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, ptsz).stream.stream,
              kPerThreadStream);
    ptsz.hStream = CU_STREAM_LEGACY;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, ptsz).stream.stream,
              kLegacyStream);
    p.hStream = CU_STREAM_PER_THREAD;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p).stream.stream, kPerThreadStream);
}

TEST_F(Launches, TheDriverIsAskedOnceAKernel) {
    Address in = kBlock;
    Address out = kOther;
    int n = 3;
    std::array<void*, 3> params{&in, &out, &n};
    decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data()));
    const int asked = FakeDriver::questions();
    decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data()));
    EXPECT_EQ(FakeDriver::questions(), asked);
}

TEST_F(Launches, AHandleMayMeanAnotherKernelAfterAnUnload) {
    Address a = kBlock;
    Address b = kOther;
    int n = 3;
    std::array<void*, 3> params{&a, &b, &n};
    decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data()));
    kernels.forget_handles();
    FakeDriver::kernels()[0x100] = {
        .is_function = true, .name = "_Z3subPfPKf", .layout = {{0, 8}, {8, 8}}};
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch(0x100, params.data())).accesses,
        ElementsAre(pointer(a, Access::ReadWrite, true), pointer(b, Access::Read, true)));
}

TEST_F(Launches, ThousandsOfKernels) {
    for (std::uint64_t i = 0; i < 5000; ++i) {
        FakeDriver::kernels()[0x10000 + i * 16] = {
            .is_function = true, .name = "_Z1k" + std::to_string(i) + "Pf", .layout = {{0, 8}}};
    }
    for (int round = 0; round < 2; ++round) {
        for (std::uint64_t i = 0; i < 5000; ++i) {
            const KernelInfo& kernel = kernels.find(0x10000 + i * 16, nullptr);
            EXPECT_EQ(names[static_cast<std::uint32_t>(kernel.id)],
                      "_Z1k" + std::to_string(i) + "Pf");
        }
    }
}

}  // namespace
}  // namespace cuward::cupti
