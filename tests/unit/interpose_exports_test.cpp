// What the preload library shows to the process it is loaded into.
#include <gmock/gmock.h>

#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include "interpose/hooks.hpp"
#include "preloaded_program.hpp"

namespace cuward::test {
namespace {

std::set<std::string> exported_symbols() {
    const Outcome nm = PreloadedProgram("nm --dynamic --defined-only --format=posix " +
                                        PreloadedProgram::library())
                           .run_bare();
    std::istringstream lines(nm.out);
    std::set<std::string> symbols;
    for (std::string line; std::getline(lines, line);) {
        symbols.insert(line.substr(0, line.find(' ')));
    }
    return symbols;
}

TEST(Exports, AreTheHooksAndNothingElse) {
    std::set<std::string> expected{"dlsym", "dlvsym"};
    for (const Hook hook : kHooks) {
        expected.insert(symbol_of(hook));
    }
    EXPECT_EQ(exported_symbols(), expected);
}

TEST(Exports, NeedOnlyTheCLibrary) {
    const Outcome dynamic =
        PreloadedProgram("readelf --dynamic --wide " + PreloadedProgram::library()).run_bare();
    EXPECT_THAT(dynamic.out, ::testing::HasSubstr("[libc.so.6]"));
    for (const char* unwanted : {"libstdc++", "libgcc", "libcuda", "libcupti", "spdlog", "fmt"}) {
        EXPECT_THAT(dynamic.out, ::testing::Not(::testing::HasSubstr(unwanted)));
    }
}

}  // namespace
}  // namespace cuward::test
