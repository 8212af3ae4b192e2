// From offsets to source lines, on a program built for it.
#include "core/report/symbolizer.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace cuward::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string kProgram = CUWARD_REPORT_SAMPLE;

std::uint64_t recorded_offset() {
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(("'" + kProgram + "'").c_str(), "r"),
                                                       &::pclose);
    std::array<char, 64> line{};
    EXPECT_NE(std::fgets(line.data(), line.size(), output.get()), nullptr);
    return std::stoull(line.data(), nullptr, 16);
}

unsigned line_of(const std::string& mark) {
    std::ifstream source(CUWARD_REPORT_SAMPLE_SOURCE);
    std::string text;
    for (unsigned number = 1; std::getline(source, text); ++number) {
        if (text.ends_with("// mark: " + mark)) {
            return number;
        }
    }
    return 0;
}

TEST(Symbolizer, NamesInlinedFunctionsAndTheirCaller) {
    Symbolizer symbolizer;
    const auto& frames =
        symbolizer.frames_at(kProgram, CUWARD_REPORT_SAMPLE_BUILD_ID, recorded_offset());
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_THAT(frames[0].function, HasSubstr("inlined_helper"));
    EXPECT_THAT(frames[0].file, EndsWith("report_sample.cpp"));
    EXPECT_EQ(frames[0].line, line_of("in the helper"));
    EXPECT_EQ(frames[1].function, "void sample::outer<int>(int)");
    EXPECT_EQ(frames[1].line, line_of("call of the helper"));
    EXPECT_EQ(frames[1].module, kProgram);
}

TEST(Symbolizer, NamesButDoesNotReadAModuleOfAnotherBuild) {
    Symbolizer symbolizer;
    const std::uint64_t offset = recorded_offset();
    const auto& frames = symbolizer.frames_at(kProgram, "00", offset);
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0], (Frame{"", "", 0, kProgram, offset}));
    EXPECT_THAT(symbolizer.changed_modules(), ::testing::ElementsAre(kProgram));
}

TEST(Symbolizer, ReadsAModuleWhoseBuildIdIsNotKnown) {
    Symbolizer symbolizer;
    EXPECT_EQ(symbolizer.frames_at(kProgram, "", recorded_offset()).size(), 2U);
}

TEST(Symbolizer, SurvivesModulesThatAreMissingOrNoProgramsAndOffsetsOutside) {
    Symbolizer symbolizer;
    for (const std::string module : {"/nowhere", "/dev/zero", "/", "", "[vdso]", "/etc/passwd"}) {
        const auto& frames = symbolizer.frames_at(module, "", 16);
        ASSERT_EQ(frames.size(), 1U) << module;
        EXPECT_EQ(frames[0].line, 0U);
    }
    for (const std::uint64_t offset : {0ULL, 1ULL, ~0ULL, 1ULL << 47}) {
        EXPECT_EQ(symbolizer.frames_at(kProgram, "", offset).size(), 1U) << offset;
    }
}

TEST(Symbolizer, DownloadsNothing) {
    ::setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
    const Symbolizer symbolizer;
    EXPECT_EQ(::getenv("DEBUGINFOD_URLS"), nullptr);
}

}  // namespace
}  // namespace cuward::report
