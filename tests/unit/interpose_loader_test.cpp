// The dynamic loader under the preload library: a program that uses no CUDA must not notice it.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "preloaded_program.hpp"

namespace cuward::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string lookups() {
    return CUWARD_LOOKUPS " " CUWARD_PLUGIN;
}

TEST(Loader, AnswersAsWithoutTheTool) {
    PreloadedProgram program(lookups());
    const Outcome bare = program.run_bare();
    ASSERT_EQ(bare.status, 0);
    ASSERT_THAT(bare.out, HasSubstr("next getppid: libc.so.6, no error"));
    ASSERT_THAT(bare.out, HasSubstr("default cuInit: nobody, error about it"));
    ASSERT_THAT(bare.out,
                HasSubstr("plugin plugin_datum: libcuward_interpose_plugin.so, no error"));
    EXPECT_EQ(program.run_watched().out, bare.out);
}

TEST(Loader, KeepsOtherPreloadedLibrariesInTheChain) {
    PreloadedProgram program(lookups());
    const std::string ours = PreloadedProgram::library();
    const std::string other = CUWARD_INTERPOSER;
    const Outcome alone = program.run_watched(other);
    ASSERT_THAT(alone.out, HasSubstr("interposed calls: 2, same answer: 1"));
    EXPECT_EQ(program.run_watched(ours + ":" + other).out, alone.out);
    EXPECT_EQ(program.run_watched(other + ":" + ours).out, alone.out);
}

TEST(Loader, ProgramWithoutCudaGetsNoLogAndNoOutput) {
    PreloadedProgram program(lookups());
    const Outcome watched = program.run_watched();
    EXPECT_EQ(watched.status, 0);
    EXPECT_EQ(watched.err, "");
    EXPECT_THAT(watched.logs, IsEmpty());
}

/// The best of a few runs, taken in turns: other programs share the machine.
TEST(Loader, LookupsCostHardlyMore) {
    PreloadedProgram program(CUWARD_MANY_LOOKUPS);
    double bare = 1e9;
    double watched = 1e9;
    for (int i = 0; i < 5; ++i) {
        bare = std::min(bare, std::stod(program.run_bare().out));
        watched = std::min(watched, std::stod(program.run_watched().out));
    }
    EXPECT_LE(watched, 1.5 * bare);
}

}  // namespace
}  // namespace cuward::test
