// Arrays, texture and surface objects, variables and attributes: what calls say of memory that they
// do not allocate.
#include <array>

#include "cupti_fixture.hpp"

namespace cuward::cupti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Address kArray = 0x77;
constexpr Address kPlace = Address{1} << 63;
constexpr Address kUnknownFormat = 0x78;

template <typename Handle>
Handle handle(Address value) {
    return reinterpret_cast<Handle>(value);
}

class Memory : public DecoderTest {
  protected:
    Memory() {
        const ArrayLayout layout{
            .element_bytes = 4, .width = 16, .rows = 8, .slices = 2, .is_known = true};
        blocks.arrays[kArray] = {.range = ByteRange::linear(kPlace, layout.bytes()),
                                 .layout = layout};
        blocks.arrays[kUnknownFormat] = {.range = ByteRange::linear(kPlace + 8192, 100),
                                         .layout = {}};
        FakeDriver::kernels()[0x100] = {
            .is_function = true, .name = "_Z1kyPf", .layout = {{0, 8}, {8, 8}}};
        FakeDriver::kernels()[0x200] = {
            .is_function = true, .name = "plain", .layout = {{0, 8}, {8, 4}}};
        FakeDriver::kernels()[0x300] = {
            .is_function = true, .name = "_Z1kmPf", .layout = {{0, 8}, {8, 8}}};
    }

    const Call& launch(std::uint64_t kernel, std::uint64_t object) {
        Address nowhere = 0;
        std::array<void*, 2> params{&object, &nowhere};
        cuLaunchKernel_params p{};
        p.f = function(kernel);
        p.kernelParams = params.data();
        return decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, p);
    }
};

TEST_F(Memory, ABoxOfAnArrayIsRowsOfIt) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = address(0x10);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = handle<CUarray>(kArray);
    copy.dstXInBytes = 8;
    copy.dstY = 2;
    copy.dstZ = 1;
    copy.WidthInBytes = 16;
    copy.Height = 3;
    copy.Depth = 1;
    cuMemcpy3DAsync_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, p).accesses,
        ElementsAre(exact({.lo = kPlace + 512 + 2 * 64 + 8, .width = 16, .pitch = 64, .rows = 3},
                          Access::Write)));
}

TEST_F(Memory, WholeArraysAreOneRange) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = handle<CUarray>(kArray);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = kBlock;
    copy.dstPitch = 64;
    copy.WidthInBytes = 64;
    copy.Height = 8;
    cuMemcpy2DAsync_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, p).accesses,
                ElementsAre(exact(ByteRange::linear(kPlace, 512), Access::Read),
                            exact(ByteRange::linear(kBlock, 512), Access::Write)));
}

TEST_F(Memory, LinearCopiesOfArraysHaveAnOffset) {
    cuMemcpyAtoA_v2_params p{};
    p.srcArray = handle<CUarray>(kArray);
    p.srcOffset = 64;
    p.dstArray = handle<CUarray>(kArray);
    p.dstOffset = 128;
    p.ByteCount = 32;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoA_v2, p).accesses,
                ElementsAre(exact(ByteRange::linear(kPlace + 64, 32), Access::Read),
                            exact(ByteRange::linear(kPlace + 128, 32), Access::Write)));
}

TEST_F(Memory, InArraysOfUnknownFormatsACopyIsSomewhere) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = handle<CUarray>(kUnknownFormat);
    copy.WidthInBytes = 4;
    copy.Height = 1;
    cuMemcpy2DAsync_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, p).accesses,
                ElementsAre(MemoryAccess{.range = ByteRange::linear(kPlace + 8192, 100),
                                         .access = Access::Write,
                                         .range_exact = false}));
}

TEST_F(Memory, ObjectsAreWhatIsBehindThem) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = handle<CUarray>(kArray);
    CUtexObject texture = 0;
    cuTexObjectCreate_params create{};
    create.pTexObject = &texture;
    create.pResDesc = &resource;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate, create).effect,
              Effect::ObjectCreated);
    EXPECT_THAT(call.accesses, ElementsAre(MemoryAccess{.range = ByteRange::linear(kPlace, 1024),
                                                        .access = Access::Read,
                                                        .range_exact = false}));
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {.devPtr = kBlock,
                            .format = CU_AD_FORMAT_FLOAT,
                            .numChannels = 1,
                            .width = 16,
                            .height = 4,
                            .pitchInBytes = 512};
    decode(CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate, create);
    EXPECT_THAT(call.accesses, ElementsAre(MemoryAccess{.range = ByteRange::linear(kBlock, 2048),
                                                        .access = Access::Read,
                                                        .range_exact = false}));
}

TEST_F(Memory, KernelsAccessWhatIsBehindTheirObjects) {
    const MemoryAccess access{
        .range = ByteRange::linear(kPlace, 1024), .access = Access::Read, .range_exact = false};
    MemoryAccess unsure = access;
    unsure.direction_known = false;
    objects.add(ObjectKind::Texture, kContext, 1, access);
    EXPECT_THAT(launch(0x100, 1).accesses, ElementsAre(access)) << "unsigned long long";
    EXPECT_THAT(launch(0x100, 2).accesses, IsEmpty()) << "another number";
    EXPECT_THAT(launch(0x200, 1).accesses, ElementsAre(unsure)) << "eight bytes without a type";
    EXPECT_THAT(launch(0x300, 1).accesses, IsEmpty()) << "unsigned long is no object";

    MemoryAccess surface = access;
    surface.access = Access::ReadWrite;
    objects.add(ObjectKind::Surface, kContext, 1, surface);
    surface.direction_known = false;
    EXPECT_THAT(launch(0x100, 1).accesses, ElementsAre(unsure, surface)) << "either may be meant";

    objects.remove(ObjectKind::Texture, kContext, 1);
    objects.add(ObjectKind::Surface, kContext + 1, 3, surface);
    EXPECT_THAT(launch(0x100, 3).accesses, IsEmpty()) << "of another context";
    objects.forget_context(kContext);
    EXPECT_THAT(launch(0x100, 1).accesses, IsEmpty());
}

TEST_F(Memory, CopiesAreCompleteWhereTheyMustSynchronize) {
    cuMemcpyDtoD_v2_params p{};
    p.srcDevice = kBlock;
    p.dstDevice = kOther;
    p.ByteCount = 64;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, p).operation.completion_to_host,
              Edge::None);
    blocks.synchronizing = kOther;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, p).operation.completion_to_host,
              Edge::Documented);
    cuMemcpyDtoDAsync_v2_params async{};
    async.srcDevice = kBlock;
    async.dstDevice = kOther;
    async.ByteCount = 64;
    EXPECT_EQ(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, async).operation.completion_to_host,
        Edge::None);
}

TEST_F(Memory, VariablesAndAddresses) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    cuModuleGetGlobal_v2_params module{};
    module.dptr = &address;
    module.bytes = &bytes;
    module.hmod = handle<CUmodule>(0x99);
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2, module);
    EXPECT_EQ(c.effect, Effect::VariableFound);
    EXPECT_EQ(c.handle, 0x99U);
    EXPECT_EQ(c.created, &address);
    EXPECT_EQ(c.created_bytes, &bytes);

    const unsigned on = 1;
    cuPointerSetAttribute_params attribute{};
    attribute.value = &on;
    attribute.attribute = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    attribute.ptr = kBlock;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuPointerSetAttribute, attribute).effect,
              Effect::CopiesSynchronize);
    EXPECT_TRUE(call.enabled);
}

#if CUDA_VERSION >= 13000
TEST_F(Memory, WhatIsDiscardedIsAsGoodAsWritten) {
    std::array<CUdeviceptr, 2> pointers{kBlock, kManagedBlock};
    std::array<std::size_t, 2> sizes{64, 32};
    cuMemDiscardBatchAsync_params p{};
    p.dptrs = pointers.data();
    p.sizes = sizes.data();
    p.count = 2;
    p.hStream = stream(0x55);
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemDiscardBatchAsync, p).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 64), Access::Write),
                            exact(ByteRange::linear(kManagedBlock, 32), Access::Write)));
    EXPECT_EQ(call.stream.stream, StreamId{0x55});
}

TEST_F(Memory, ElementsOfAnArrayAreTheUnitOfABatch) {
    CUDA_MEMCPY3D_BATCH_OP copy{};
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    copy.src.op.array.array = handle<CUarray>(kArray);
    copy.src.op.array.offset = {4, 1, 0};
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = kBlock;
    copy.extent = {2, 3, 1};
    cuMemcpy3DBatchAsync_v2_params p{};
    p.numOps = 1;
    p.opList = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2, p).accesses,
                ElementsAre(exact({.lo = kPlace + 64 + 16, .width = 8, .pitch = 64, .rows = 3},
                                  Access::Read),
                            exact(ByteRange::linear(kBlock, 24), Access::Write)));
}
#endif

}  // namespace
}  // namespace cuward::cupti
