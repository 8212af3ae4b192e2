// Copies and memsets: the exact bytes of both sides, and what the host learns.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cupti/stored_addresses.hpp"
#include "cupti_fixture.hpp"

namespace cuward::cupti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Copies : public DecoderTest {
  protected:
    void expect_edges(Edge earlier_work, Edge completion) const {
        EXPECT_EQ(call.operation.earlier_work_to_host, earlier_work);
        EXPECT_EQ(call.operation.completion_to_host, completion);
    }
};

TEST_F(Copies, HostToDevicePageable) {
    cuMemcpyHtoD_v2_params p{};
    p.dstDevice = kBlock + 4;
    p.srcHost = address(0x77);
    p.ByteCount = 100;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p);
    EXPECT_EQ(c.operation.kind, OperationKind::Copy);
    EXPECT_STREQ(c.api, "cuMemcpyHtoD");
    EXPECT_EQ(c.stream.stream, kLegacyStream);
    EXPECT_THAT(c.accesses, ElementsAre(exact(ByteRange::linear(kBlock + 4, 100), Access::Write)));
    expect_edges(Edge::Documented, Edge::None);
}

TEST_F(Copies, HostToDevicePinned) {
    cuMemcpyHtoD_v2_ptds_params p{};
    p.dstDevice = kBlock;
    p.srcHost = address(kPinnedBlock + 8);
    p.ByteCount = 16;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, p);
    EXPECT_EQ(c.stream.stream, kPerThreadStream);
    EXPECT_THAT(c.accesses,
                ElementsAre(exact(ByteRange::linear(kPinnedBlock + 8, 16), Access::Read),
                            exact(ByteRange::linear(kBlock, 16), Access::Write)));
    expect_edges(Edge::Documented, Edge::Documented);
}

TEST_F(Copies, AddressesInHostMemoryAreStored) {
    const std::array<Address, 4> table{kOther, 0, kPinnedBlock + 8, 0x7};
    cuMemcpyHtoD_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = table.data();
    p.ByteCount = sizeof table;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p);
    ASSERT_EQ(c.stored.size(), 2U);
    EXPECT_EQ(c.stored[0].place, kBlock);
    EXPECT_EQ(c.stored[0].value, kOther);
    EXPECT_TRUE(c.stored[0].begins_a_table);
    EXPECT_EQ(c.stored[1].place, kBlock + 16);
    EXPECT_EQ(c.stored[1].value, kPinnedBlock + 8);
    EXPECT_FALSE(c.stored[1].begins_a_table);
}

TEST_F(Copies, PinnedMemoryIsReadAsFarAsItsBlockGoes) {
    std::memcpy(pinned.data() + kBlockBytes - 8, &kOther, sizeof kOther);
    cuMemcpyHtoDAsync_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = pinned.data() + kBlockBytes - 8;
    p.ByteCount = 8;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, p).stored.size(), 1U);
    std::memset(pinned.data() + kBlockBytes - 8, 0, sizeof kOther);
    p.ByteCount = std::uint64_t{1} << 40;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, p).stored, IsEmpty());
}

TEST_F(Copies, PinnedMemoryIsNotReadByItsDeviceAddress) {
    constexpr Address kUnreachable = 0x1000;
    blocks.blocks[kUnreachable] = {.bytes = 64, .kind = BlockKind::Host, .is_alias = true};
    cuMemcpyHtoDAsync_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = reinterpret_cast<const void*>(kUnreachable);
    p.ByteCount = 64;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, p).stored, IsEmpty());
}

TEST_F(Copies, OnlyWordsThatAreAlignedOnTheDeviceAreAddresses) {
    std::array<std::byte, 16> table{};
    std::memcpy(table.data() + 4, &kOther, sizeof kOther);
    cuMemcpyHtoD_v2_params p{};
    p.dstDevice = kBlock + 4;
    p.srcHost = table.data();
    p.ByteCount = sizeof table;
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p);
    ASSERT_EQ(c.stored.size(), 1U);
    EXPECT_EQ(c.stored[0].place, kBlock + 8);
    p.dstDevice = kBlock;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p).stored, IsEmpty());
}

TEST_F(Copies, TheStartOfACopyTellsWhetherItIsATable) {
    std::vector<Address> words(20000, kOther);
    cuMemcpyHtoD_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = words.data();
    p.ByteCount = words.size() * sizeof(Address);
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p).stored.size(),
              kMostBytesLookedAt / sizeof(Address));
    std::fill_n(words.begin(), kDecidingWords, 1);
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p).stored, IsEmpty());
}

TEST_F(Copies, HostMemoryThatIsNotThereStoresNothing) {
    cuMemcpyHtoD_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = address(0x4);
    p.ByteCount = 4096;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, p).stored, IsEmpty());
}

TEST_F(Copies, DeviceToHostAsync) {
    cuMemcpyDtoHAsync_v2_params p{};
    p.dstHost = address(kPinnedBlock);
    p.srcDevice = kBlock;
    p.ByteCount = 16;
    p.hStream = stream(0x50);
    const Call& c = decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, p);
    EXPECT_EQ(c.stream.stream, StreamId{0x50});
    EXPECT_THAT(c.accesses, ElementsAre(exact(ByteRange::linear(kBlock, 16), Access::Read),
                                        exact(ByteRange::linear(kPinnedBlock, 16), Access::Write)));
    expect_edges(Edge::None, Edge::None);
    p.dstHost = address(0x3);
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, p);
    expect_edges(Edge::Implicit, Edge::Implicit);
}

TEST_F(Copies, DeviceToDevice) {
    cuMemcpyDtoD_v2_params p{};
    p.dstDevice = kOther;
    p.srcDevice = kBlock;
    p.ByteCount = 16;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, p).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 16), Access::Read),
                            exact(ByteRange::linear(kOther, 16), Access::Write)));
    expect_edges(Edge::None, Edge::None);
    p.dstDevice = 0x999999;  // device memory that nobody tracks
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, p);
    expect_edges(Edge::None, Edge::None);
}

TEST_F(Copies, UnifiedAddressesGoByTheirBlocks) {
    cuMemcpyAsync_params p{};
    p.dst = 0x4;
    p.src = kBlock;
    p.ByteCount = 16;
    p.hStream = stream(0x50);
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, p);
    expect_edges(Edge::Implicit, Edge::Implicit);
    p.dst = kPinnedBlock;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, p);
    expect_edges(Edge::None, Edge::None);
    cuMemcpy_params q{};
    q.dst = kBlock;
    q.src = 0x4;
    q.ByteCount = 16;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy, q);
    expect_edges(Edge::Documented, Edge::None);
}

TEST_F(Copies, LargePageableSourceWaitsForEarlierWork) {
    cuMemcpyHtoDAsync_v2_params p{};
    p.dstDevice = kBlock;
    p.srcHost = address(0x4);
    p.ByteCount = 32U << 20;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, p);
    expect_edges(Edge::Implicit, Edge::None);
    p.ByteCount = 1U << 20;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, p);
    expect_edges(Edge::None, Edge::None);
}

TEST_F(Copies, Peer) {
    cuMemcpyPeerAsync_params p{};
    p.dstDevice = kOther;
    p.srcDevice = kBlock;
    p.ByteCount = 64;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, p).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 64), Access::Read),
                            exact(ByteRange::linear(kOther, 64), Access::Write)));
}

TEST_F(Copies, TheLinearSideOfAnArrayCopy) {
    cuMemcpyAtoD_v2_params from{};
    from.dstDevice = kBlock;
    from.ByteCount = 64;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoD_v2, from).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 64), Access::Write)));
    cuMemcpyHtoAAsync_v2_params to{};
    to.srcHost = address(kPinnedBlock);
    to.ByteCount = 64;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2, to).accesses,
                ElementsAre(exact(ByteRange::linear(kPinnedBlock, 64), Access::Read)));
    cuMemcpyAtoH_v2_params back{};
    back.dstHost = address(0x4);
    back.ByteCount = 64;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2, back);
    expect_edges(Edge::Documented, Edge::Documented);
}

TEST_F(Copies, PitchedRows) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = kBlock;
    copy.srcPitch = 256;
    copy.srcXInBytes = 16;
    copy.srcY = 2;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = address(kPinnedBlock);
    copy.dstPitch = 100;
    copy.WidthInBytes = 100;
    copy.Height = 10;
    cuMemcpy2DAsync_v2_params p{};
    p.pCopy = &copy;
    p.hStream = stream(0x50);
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, p).accesses,
        ElementsAre(exact({.lo = kBlock + 2 * 256 + 16, .width = 100, .pitch = 256, .rows = 10},
                          Access::Read),
                    exact(ByteRange::linear(kPinnedBlock, 1000), Access::Write)));
    cuMemcpy2DUnaligned_v2_params q{};
    q.pCopy = &copy;
    EXPECT_EQ(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, q).accesses.size(), 2U);
    expect_edges(Edge::Documented, Edge::Documented);
}

TEST_F(Copies, ThreeDimensions) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = kBlock;
    copy.srcPitch = 64;
    copy.srcHeight = 8;
    copy.srcXInBytes = 4;
    copy.srcY = 1;
    copy.srcZ = 2;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = kOther;
    copy.dstPitch = 32;
    copy.dstHeight = 5;
    copy.WidthInBytes = 32;
    copy.Height = 5;
    copy.Depth = 3;
    cuMemcpy3D_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, p).accesses,
                ElementsAre(exact({.lo = kBlock + (2 * 8 + 1) * 64 + 4,
                                   .width = 32,
                                   .pitch = 64,
                                   .rows = 5,
                                   .slice_pitch = 8 * 64,
                                   .slices = 3},
                                  Access::Read),
                            exact(ByteRange::linear(kOther, 480), Access::Write)));
}

TEST_F(Copies, EmptyCopiesTouchNothing) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = kBlock;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = kOther;
    copy.WidthInBytes = 32;
    cuMemcpy3D_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, p).accesses, IsEmpty());
    cuMemcpyDtoD_v2_params q{};
    q.srcDevice = kBlock;
    q.dstDevice = kOther;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, q).accesses, IsEmpty());
}

TEST_F(Copies, BoxesLargerThanAnyMemoryTouchNothing) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = kBlock;
    copy.srcPitch = 64;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = kOther;
    copy.dstPitch = 64;
    copy.WidthInBytes = 32;
    copy.Height = ~std::size_t{0};
    copy.Depth = 2;
    cuMemcpy3D_v2_params p{};
    p.pCopy = &copy;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, p).accesses, IsEmpty());
}

#if CUDA_VERSION >= 13000
TEST_F(Copies, EveryEntryOfABatchIsAnAccess) {
    std::array<CUdeviceptr, 2> sources{kBlock, kBlock + 64};
    std::array<CUdeviceptr, 2> destinations{kOther, kPinnedBlock};
    std::array<std::size_t, 2> sizes{32, 16};
    cuMemcpyBatchAsync_v2_params p{};
    p.srcs = sources.data();
    p.dsts = destinations.data();
    p.sizes = sizes.data();
    p.count = 2;
    p.hStream = stream(0x50);
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2, p).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 32), Access::Read),
                            exact(ByteRange::linear(kOther, 32), Access::Write),
                            exact(ByteRange::linear(kBlock + 64, 16), Access::Read),
                            exact(ByteRange::linear(kPinnedBlock, 16), Access::Write)));
    expect_edges(Edge::None, Edge::None);
}

TEST_F(Copies, BatchOfBoxes) {
    CUDA_MEMCPY3D_BATCH_OP copy{};
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = kBlock;
    copy.src.op.ptr.rowLength = 64;
    copy.src.op.ptr.layerHeight = 4;
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = kOther;
    copy.extent = {.width = 32, .height = 4, .depth = 2};
    cuMemcpy3DBatchAsync_v2_params p{};
    p.numOps = 1;
    p.opList = &copy;
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2, p).accesses,
        ElementsAre(exact({.lo = kBlock, .width = 32, .pitch = 64, .rows = 8}, Access::Read),
                    exact(ByteRange::linear(kOther, 256), Access::Write)));
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2, p).accesses,
                ElementsAre(MemoryAccess{
                    .range = {.lo = kBlock}, .access = Access::Read, .range_exact = false}));
}
#endif

#if CUDA_VERSION >= 12060
TEST_F(Copies, DecompressionReadsItsSourceAndWritesDataAndLength) {
    CUmemDecompressParams operation{};
    operation.src = reinterpret_cast<const void*>(kBlock);
    operation.srcNumBytes = 100;
    operation.dst = reinterpret_cast<void*>(kOther);
    operation.dstActBytes = reinterpret_cast<cuuint32_t*>(kPinnedBlock);
    cuMemBatchDecompressAsync_params p{};
    p.paramsArray = &operation;
    p.count = 1;
    p.stream = stream(0x50);
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemBatchDecompressAsync, p).accesses,
        ElementsAre(
            exact(ByteRange::linear(kBlock, 100), Access::Read),
            MemoryAccess{.range = {.lo = kOther}, .access = Access::Write, .range_exact = false},
            exact(ByteRange::linear(kPinnedBlock, 4), Access::Write)));
    EXPECT_EQ(call.effect, Effect::Queue);
    EXPECT_EQ(call.stream.stream, StreamId{0x50});
    expect_edges(Edge::None, Edge::None);
}
#endif

TEST_F(Copies, MemsetsOfEveryElementSize) {
    cuMemsetD8_v2_params d8{};
    d8.dstDevice = kBlock;
    d8.N = 10;
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, d8).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 10), Access::Write)));
    EXPECT_EQ(call.operation.kind, OperationKind::Memset);
    expect_edges(Edge::None, Edge::None);
    cuMemsetD16Async_params d16{};
    d16.dstDevice = kBlock;
    d16.N = 10;
    d16.hStream = stream(0x50);
    EXPECT_THAT(decode(CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async, d16).accesses,
                ElementsAre(exact(ByteRange::linear(kBlock, 20), Access::Write)));
    cuMemsetD2D32_v2_params d32{};
    d32.dstDevice = kBlock;
    d32.dstPitch = 512;
    d32.Width = 10;
    d32.Height = 3;
    EXPECT_THAT(
        decode(CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2, d32).accesses,
        ElementsAre(exact({.lo = kBlock, .width = 40, .pitch = 512, .rows = 3}, Access::Write)));
}

TEST_F(Copies, MemsetOfPinnedMemoryCompletes) {
    cuMemsetD8_v2_params p{};
    p.dstDevice = kPinnedBlock;
    p.N = 10;
    decode(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, p);
    expect_edges(Edge::Documented, Edge::Documented);
}

}  // namespace
}  // namespace cuward::cupti
