// Which blocks are leaks, which are held on purpose, and how they are grouped.
#include <gmock/gmock.h>

#include "core/report/leak_policy.hpp"
#include "tests/unit/report_fixture.hpp"

namespace cuward::report {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
constexpr const char* kRuntime = "/wheel/libcudart.so.12";

TEST(LeakPolicy, AProgramOfItsOwnLeaks) {
    EXPECT_EQ(keeper_of({kCuda, kRuntime, "/bin/app"}), "");
}

TEST(LeakPolicy, NothingKnownAboutTheStackLeaks) {
    EXPECT_EQ(keeper_of({}), "");
    EXPECT_EQ(keeper_of({kCuda, ""}), "");
}

TEST(LeakPolicy, ALibraryOfNvidiaHoldsWhatItAllocatesItself) {
    for (const std::string library :
         {"/l/libcublas.so.12", "/l/libcublasLt.so.13", "/l/libcudnn_ops.so.9", "/l/libcufft.so.12",
          "/l/libcurand.so.10", "/l/libcusparse.so.12", "/l/libcusolver.so.12", "/l/libnccl.so.2",
          "/l/libnvjpeg.so.13", "/l/libnppif.so.13"}) {
        EXPECT_EQ(keeper_of({"/l/libcuward.so", library, "/bin/app"}), library);
    }
}

TEST(LeakPolicy, ACallbackFromALibraryIntoTheProgramLeaks) {
    EXPECT_EQ(keeper_of({kCuda, "/bin/app", "/l/libcufft.so.12"}), "");
}

TEST(LeakPolicy, ACachingAllocatorHoldsWhateverServesIt) {
    EXPECT_EQ(
        keeper_of({kCuda, "/my/pluggable.so", "/t/lib/libc10_cuda.so", "/t/lib/libtorch_cuda.so"}),
        "/t/lib/libc10_cuda.so");
    EXPECT_EQ(keeper_of({kCuda, kRuntime, "/r/librmm.so"}), "/r/librmm.so");
}

TEST(LeakPolicy, AnExtensionCalledThroughAFrameworkLeaks) {
    EXPECT_EQ(keeper_of({kCuda, "/my/extension.so", "/t/lib/libtorch_cpu.so"}), "");
}

TEST(LeakPolicy, FrameworksOfPython) {
    const std::string cupy = "/s/cupy/cuda/memory.cpython-312-x86_64-linux-gnu.so";
    const std::string jax = "/s/jax_plugins/xla_cuda12/xla_cuda_plugin.so";
    EXPECT_EQ(keeper_of({kCuda, kRuntime, cupy}), cupy);
    EXPECT_EQ(keeper_of({kCuda, "/lib/libstdc++.so.6", jax}), jax);
}

class LeakTest : public ReportTest {
  protected:
    static std::string alloc(int block, int stack, int bytes, const char* kind = "device") {
        return R"({"r":"alloc","block":)" + std::to_string(block) + R"(,"ptr":"0x7f00","bytes":)" +
               std::to_string(bytes) + R"(,"kind":")" + kind +
               R"(","device":0,"api":"cuMemAlloc_v2","stream":0,"stack":)" + std::to_string(stack) +
               R"(,"thread":1,"t":1})" + "\n";
    }
    const std::string start_ =
        std::string(kHeader) +
        R"({"r":"module","id":1,"path":"/nowhere/app","base":"0x0","build_id":""})"
        "\n"
        R"({"r":"module","id":2,"path":"/nowhere/libcublas.so.13","base":"0x0","build_id":""})"
        "\n"
        R"({"r":"stack","id":1,"frames":[[1,16]]})"
        "\n"
        R"({"r":"stack","id":2,"frames":[[1,32]]})"
        "\n"
        R"({"r":"stack","id":3,"frames":[[2,16],[1,48]]})"
        "\n";
};

TEST_F(LeakTest, GroupsByPlaceLargestFirst) {
    const Report report =
        report_of(start_ + alloc(1, 1, 10) + alloc(2, 2, 100) + alloc(3, 1, 10) + kEnd);
    ASSERT_EQ(report.findings.size(), 2U);
    EXPECT_EQ(report.findings[0].leaked_bytes, 100U);
    EXPECT_EQ(report.findings[1].count, 2U);
    EXPECT_EQ(report.findings[1].leaked_bytes, 20U);
    EXPECT_EQ(report.summary.leaks, 2U);
    EXPECT_EQ(report.summary.leaked_blocks, 3U);
    EXPECT_EQ(report.summary.leaked_bytes, 120U);
}

TEST_F(LeakTest, HeldMemoryIsNoFinding) {
    const Report report = report_of(start_ + alloc(1, 3, 10) + alloc(2, 3, 10) + kEnd);
    EXPECT_FALSE(report.summary.anything_wrong());
    EXPECT_THAT(text_of(report),
                HasSubstr("held until exit by libcublas.so.13: 2 blocks, 20 bytes"));
    EXPECT_EQ(json_of(report)["summary"]["held_bytes"], 20);
}

TEST_F(LeakTest, BlocksThatTheirContextTookAlongAreNoLeaks) {
    const Report report = report_of(
        start_ + alloc(1, 1, 10) +
        R"({"r":"free","block":1,"api":"cuDevicePrimaryCtxReset_v2","stream":0,"stack":0,"thread":1,"t":2})"
        "\n" +
        kEnd);
    EXPECT_EQ(report.summary.leaks, 0U);
}

TEST_F(LeakTest, TheFixNamesTheFreeThatBelongsToTheKind) {
    const Report report = report_of(start_ + alloc(1, 1, 10, "host") + kEnd);
    EXPECT_THAT(report.findings[0].suggestion, HasSubstr("cudaFreeHost"));
}

TEST_F(LeakTest, ALogWithoutEndSaysThatBlocksWereStillLive) {
    const Report report = report_of(start_ + alloc(1, 1, 10));
    EXPECT_THAT(report.findings[0].message, HasSubstr("live when the log ended"));
    EXPECT_EQ(json_of(report)["findings"][0]["live_when_log_ended"], true);
}

}  // namespace
}  // namespace cuward::report
