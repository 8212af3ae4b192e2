// Programs that reach the driver in every way there is, on the simulated device: they see what they
// see without the tool, and the tool sees what they do.
#include <gmock/gmock.h>

#include <string>

#include "preloaded_program.hpp"

namespace cuward::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string linked() {
    return CUWARD_DRIVER_LINKED;
}
std::string looked_up(const std::string& way) {
    return CUWARD_DRIVER_LOOKED_UP " " + way;
}
std::string looked_up_per_thread(const std::string& way) {
    return CUWARD_DRIVER_LOOKED_UP_PER_THREAD " " + way;
}

PreloadedProgram& on_simgpu(PreloadedProgram& program) {
    return program.with("LD_LIBRARY_PATH=" CUWARD_SIMGPU);
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
    }
    return found;
}

/// What a log must hold of driver_calls.cpp.
void expect_everything_seen(const std::string& log) {
    for (const char* kind : {"device", "async", "pitched", "managed", "host", "registered", "array",
                             "mipmapped-array"}) {
        EXPECT_THAT(log, HasSubstr("\"kind\":\"" + std::string(kind) + "\"")) << kind;
    }
    for (const char* api :
         {"cuMemAlloc", "cuMemAllocPitch", "cuMemAllocManaged", "cuMemFree", "cuMemAllocHost",
          "cuMemHostAlloc", "cuMemFreeHost", "cuMemHostRegister", "cuMemHostUnregister",
          "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuArrayCreate",
          "cuArray3DCreate", "cuArrayDestroy", "cuMipmappedArrayCreate", "cuMipmappedArrayDestroy",
          "cuDevicePrimaryCtxRelease"}) {
        EXPECT_THAT(log, HasSubstr("\"api\":\"" + std::string(api) + "\"")) << api;
    }
    // 2 device, 1 pitched, 1 managed, 2 host, 1 registered, 2 × (2 async, 1 of a pool), 3 arrays.
    EXPECT_EQ(count(log, "{\"r\":\"alloc\""), 16u);
    EXPECT_EQ(count(log, "{\"r\":\"free\""), 16u);  // the leaked one by the context's end
    EXPECT_EQ(count(log, "\"kind\":\"double-free\""), 3u);
    EXPECT_EQ(count(log, "\"kind\":\"invalid-free\""), 1u);
    EXPECT_EQ(count(log, "{\"r\":\"end\""), 1u);
}

class EveryWay : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryWay, ProgramSeesTheSameAndTheToolSeesAll) {
    PreloadedProgram program(GetParam());
    const Outcome bare = on_simgpu(program).run_bare();
    ASSERT_EQ(bare.status, 0) << bare.err;
    const Outcome watched = program.run_watched();
    EXPECT_EQ(watched.status, 0);
    EXPECT_EQ(watched.out, bare.out);
    ASSERT_EQ(watched.logs.size(), 1u);
    expect_everything_seen(watched.logs[0]);
}

TEST_P(EveryWay, IsTheSameWithMemoryFromAPool) {
    PreloadedProgram program(GetParam());
    const Outcome bare = on_simgpu(program).run_bare();
    const Outcome watched = program.with("CUWARD_BACKEND=async").run_watched();
    EXPECT_EQ(watched.status, 0);
    EXPECT_EQ(watched.out, bare.out);
    ASSERT_EQ(watched.logs.size(), 1u);
    expect_everything_seen(watched.logs[0]);
}

INSTANTIATE_TEST_SUITE_P(Driver, EveryWay,
                         ::testing::Values(linked(), looked_up("dlsym"),
                                           looked_up("cuGetProcAddress"),
                                           looked_up("cuGetProcAddress_v2"),
                                           looked_up_per_thread("dlsym"),
                                           looked_up_per_thread("cuGetProcAddress_v2")));

TEST(Driver, HooksAreForTheProgramAndNotForTheDriversCompanions) {
    PreloadedProgram program(CUWARD_PROVIDERS " " CUWARD_COMPANION);
    EXPECT_EQ(on_simgpu(program).run_watched().out,
              "hooked: libcuward.so\n"
              "hooked, default: libcuward.so\n"
              "hooked, asked: libcuward.so\n"
              "asked for itself: libcuward.so\n"
              "not hooked: libcuda.so.1\n"
              "not hooked, asked: libcuda.so.1\n"
              "unknown: nobody\n"
              "companion: libcuda.so.1\n"
              "companion, default: libcuda.so.1\n"
              "companion, asked: libcuda.so.1\n");
}

TEST(Pool, CannotBeToldFromOrdinaryMemory) {
    PreloadedProgram program(CUWARD_POOL_CALLS);
    const Outcome bare = on_simgpu(program).with("SIMGPU_MEMORY_MB=1024").run_bare();
    ASSERT_THAT(bare.out, HasSubstr("done"));
    const Outcome watched = program.with("CUWARD_BACKEND=async").run_watched();
    EXPECT_EQ(watched.status, bare.status);
    EXPECT_EQ(watched.out, bare.out);
}

TEST(Pool, MemoryToBeSharedIsTheDriversFromTheFirstRequestOn) {
    PreloadedProgram program(CUWARD_POOL_CALLS " ipc");
    EXPECT_EQ(on_simgpu(program).run_bare().out, "share: 0\nshare later memory: 0\n");
    const Outcome watched =
        program.with("CUWARD_BACKEND=async").with("CUWARD_SUMMARY=0").run_watched();
    EXPECT_EQ(watched.out, "share: 1\nshare later memory: 0\n");
    EXPECT_THAT(watched.err, HasSubstr("--backend direct"));
    EXPECT_EQ(count(watched.err, "\n"), 1u);
}

TEST(Pool, IsNotUsedWhereWorkIsNotSeen) {
    PreloadedProgram program(CUWARD_POOL_CALLS " ipc");
    const Outcome watched = on_simgpu(program)
                                .with("CUWARD_BACKEND=async")
                                .with("CUWARD_SUMMARY=0")
                                .with("CUWARD_CUPTI=/no/such/libcupti.so")
                                .run_watched();
    EXPECT_EQ(watched.out, "share: 0\nshare later memory: 0\n") << watched.err;
    EXPECT_THAT(watched.err, HasSubstr("without CUPTI it is not known"));
}

TEST(Driver, TooOldToBeWatchedRunsUnwatched) {
    PreloadedProgram program(CUWARD_INIT_ONLY);
    const Outcome watched = program.with("LD_LIBRARY_PATH=" CUWARD_OLD_DRIVER).run_watched();
    EXPECT_EQ(watched.status, 0);
    EXPECT_EQ(watched.out, "wrong flags: 1\ninit: 0\nagain: 0\n");
    EXPECT_THAT(watched.err, HasSubstr("too old"));
    EXPECT_EQ(count(watched.err, "\n"), 1u);
    EXPECT_THAT(watched.logs, IsEmpty());
}

TEST(Process, SummarizesOnStandardError) {
    PreloadedProgram program(linked());
    const Outcome watched = on_simgpu(program).run_watched();
    EXPECT_THAT(watched.err,
                AllOf(HasSubstr("cuward: 0 races, 0 possible races, 4 lifetime errors"),
                      HasSubstr("cuward report ")));
    EXPECT_EQ(count(watched.err, "still allocated at exit"), 1u) << "once, and not by the child";
}

TEST(Process, KeepsQuietWhenAsked) {
    PreloadedProgram program(linked());
    const Outcome watched = on_simgpu(program).with("CUWARD_SUMMARY=0").run_watched();
    EXPECT_EQ(watched.err, "");
    EXPECT_EQ(watched.logs.size(), 1u);
}

TEST(Process, IsInertWhenDisabled) {
    PreloadedProgram program(linked());
    const Outcome bare = on_simgpu(program).run_bare();
    const Outcome watched = program.with("CUWARD_DISABLE=1").run_watched();
    EXPECT_EQ(watched.out, bare.out);
    EXPECT_EQ(watched.err, "");
    EXPECT_THAT(watched.logs, IsEmpty());
}

TEST(Process, RunsOnWithoutALogFolder) {
    PreloadedProgram program(linked());
    const Outcome bare = on_simgpu(program).run_bare();
    const Outcome watched = program.with("CUWARD_LOG_DIR=/nonexistent/folder").run_watched();
    EXPECT_EQ(watched.status, 0);
    EXPECT_EQ(watched.out, bare.out);
    EXPECT_THAT(watched.err,
                AllOf(HasSubstr("/nonexistent/folder"), Not(HasSubstr("cuward report"))));
}

TEST(Process, KeepsTheLogOfAProgramReplacedByExec) {
    PreloadedProgram program(linked());
    const Outcome watched = on_simgpu(program).with("THEN_EXEC=1").run_watched();
    EXPECT_EQ(watched.logs.size(), 2u);
}

TEST(Process, StartsOnceForManyThreads) {
    PreloadedProgram program(CUWARD_THREADS);
    const Outcome watched = on_simgpu(program).run_watched();
    EXPECT_EQ(count(watched.out, "fine"), 8u);
    ASSERT_EQ(watched.logs.size(), 1u);
    EXPECT_EQ(count(watched.logs[0], "{\"r\":\"header\""), 1u);
    EXPECT_EQ(count(watched.logs[0], "{\"r\":\"alloc\""), 8u * 200u);
    EXPECT_EQ(count(watched.logs[0], "{\"r\":\"free\""), 8u * 200u);
}

TEST(Process, ChildOfAParentWithoutCudaIsWatchedItself) {
    PreloadedProgram program(linked());
    const Outcome bare = on_simgpu(program).with("FORK_FIRST=1").run_bare();
    const Outcome watched = program.run_watched();
    EXPECT_EQ(watched.out, bare.out);
    ASSERT_EQ(watched.logs.size(), 1u);
    expect_everything_seen(watched.logs[0]);
}

}  // namespace
}  // namespace cuward::test
