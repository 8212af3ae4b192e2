// What people and programs read: golden files of every kind of finding, and the rules of what is
// shown.
#include <gmock/gmock.h>

#include <cstdlib>

#include "core/report/text.hpp"
#include "tests/unit/report_fixture.hpp"

namespace cuward::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RenderTest : public ReportTest {
  protected:
    static Report every_kind(const ReportOptions& options) {
        std::vector<LogModel> logs;
        logs.push_back(*read_log(CUWARD_TEST_DATA "/report/every_kind.jsonl"));
        // The golden files do not depend on where the sources are.
        logs[0].file = "every_kind.jsonl";
        return build_report(logs, options);
    }

    static void expect_golden(const std::string& actual, const std::string& name) {
        if (std::getenv("CUWARD_UPDATE_GOLDEN") != nullptr) {
            std::ofstream(CUWARD_TEST_DATA "/report/" + name) << actual;
        }
        EXPECT_EQ(actual, data_file(name));
    }
};

TEST_F(RenderTest, TextOfEveryKind) {
    expect_golden(text_of(every_kind({.show_possible = true, .pedantic = true})), "every_kind.txt");
}

TEST_F(RenderTest, JsonOfEveryKind) {
    std::ostringstream out;
    render_json(every_kind({.show_possible = true, .pedantic = true}), out);
    expect_golden(out.str(), "every_kind.json");
}

TEST_F(RenderTest, CountsPossibleFindingsAndListsThemOnRequest) {
    const Report brief = every_kind({});
    EXPECT_EQ(brief.summary.possible_races, 1U);
    EXPECT_EQ(brief.summary.races, 4U);
    EXPECT_EQ(json_of(brief)["findings"].size() + 1,
              json_of(every_kind({.show_possible = true}))["findings"].size());
    EXPECT_THAT(text_of(brief), HasSubstr("1 possible race (--show-possible lists them)"));
}

TEST_F(RenderTest, ListsImplicitSyncOnlyWithPedantic) {
    EXPECT_THAT(text_of(every_kind({})), Not(HasSubstr("relies-on-implicit-sync")));
    EXPECT_THAT(text_of(every_kind({.pedantic = true})), HasSubstr("relies-on-implicit-sync"));
}

TEST_F(RenderTest, LeaksAreLeftOutOnRequest) {
    const Report report = every_kind({.leak_check = false});
    EXPECT_EQ(report.summary.leaks, 0U);
    EXPECT_THAT(text_of(report), HasSubstr("leaks were not looked for"));
}

TEST_F(RenderTest, CertainBeforeLikelyBeforeLeaksBeforePossible) {
    const Report report = every_kind({.show_possible = true});
    std::vector<int> order;
    for (const Finding& finding : report.findings) {
        order.push_back(finding.verdict == Verdict::Possible ? 3
                        : finding.kind == Kind::Leak         ? 2
                        : finding.verdict == Verdict::Likely ? 1
                                                             : 0);
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(RenderTest, NothingWrongIsSaidInOneLine) {
    EXPECT_EQ(text_of(report_of(std::string(kHeader) + kEnd)), "cuward: nothing found\n");
}

TEST_F(RenderTest, EscapesWhatATerminalWouldObey) {
    const Report report = report_of(
        std::string(kHeader) +
        R"({"r":"kernel","id":1,"name":"\u001b[2Jevil\u202e\u009b"})"
        "\n" +
        R"({"r":"note","text":"a\nb\u0007"})"
        "\n" +
        R"({"r":"finding","id":1,"kind":"race\u001b","verdict":"proven","hazard":"\u001bx","accesses":[{"op":"kernel","kernel":1},{"op":"\u001b","api":"\u001b"}]})"
        "\n" +
        kEnd);
    const std::string text = text_of(report);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
    EXPECT_THAT(text, HasSubstr("a\\x0ab\\x07"));
}

TEST_F(RenderTest, ColourOnlyWhenAsked) {
    const Report report = every_kind({});
    std::ostringstream coloured;
    render_text(report, true, coloured);
    EXPECT_THAT(coloured.str(), HasSubstr("\x1b[1;31m"));
    EXPECT_THAT(text_of(report), Not(HasSubstr("\x1b")));
}

TEST_F(RenderTest, NamesTheProcessOnlyWhereThereAreSeveral) {
    const std::string leak =
        R"({"r":"alloc","block":1,"ptr":"0x1","bytes":5,"kind":"device","device":0,"api":"cuMemAlloc_v2","stream":0,"stack":0,"thread":1,"t":1})"
        "\n";
    std::string other = kHeader;
    other.replace(other.find("\"rank\":null"), 11, "\"rank\":3");
    std::vector<LogModel> logs;
    logs.push_back(read(kHeader + leak + kEnd));
    EXPECT_THAT(text_of(build_report(logs, {})), Not(HasSubstr("pid 7")));
    logs.push_back(read(other + leak + kEnd));
    const Report merged = build_report(logs, {});
    EXPECT_THAT(text_of(merged), HasSubstr("in app (pid 7, rank 3 on box)"));
    EXPECT_EQ(merged.summary.leaks, 2U);
    EXPECT_EQ(json_of(merged)["findings"][1]["process"]["rank"], 3);
}

TEST_F(RenderTest, SaysWhatIsLostWithoutCupti) {
    const std::string log =
        std::string(kHeader) + "{\"r\":\"driver\",\"version\":13000,\"cupti\":null}\n" + kEnd;
    EXPECT_THAT(text_of(report_of(log)), HasSubstr("no CUPTI"));
}

TEST_F(RenderTest, UnknownFunctionsOfTheDriverAreOneLine) {
    std::string log = kHeader;
    for (int i = 1; i <= 9; ++i) {
        log += R"({"r":"unknown-function","name":"cuNew)" + std::to_string(i) + R"(","called":)" +
               (i == 9 ? "true" : "false") + "}\n";
    }
    const Report report = report_of(log + kEnd);
    ASSERT_EQ(report.processes.at(0).remarks.size(), 1U);
    EXPECT_THAT(report.processes[0].remarks[0],
                HasSubstr("not seen: cuNew9 (called), cuNew1 (looked up), cuNew2 (looked up)"));
    EXPECT_THAT(report.processes[0].remarks[0], HasSubstr("cuNew7 (looked up), 1 other"));
    EXPECT_FALSE(report.summary.anything_wrong());
}

TEST_F(RenderTest, AKindOfALaterToolIsShownAndCounts) {
    const Report report = report_of(
        std::string(kHeader) +
        R"({"r":"finding","id":1,"kind":"uninitialized-read","verdict":"proven","accesses":[]})"
        "\n" +
        kEnd);
    EXPECT_TRUE(report.summary.anything_wrong());
    EXPECT_THAT(text_of(report), HasSubstr("1 other finding"));
}

TEST_F(RenderTest, ALongKernelNameDoesNotDrownTheSentence) {
    const std::string parameters(1000, 'i');
    const Report report = report_of(
        std::string(kHeader) + R"({"r":"kernel","id":1,"name":"_Z1fIiEv)" + parameters + "\"}\n" +
        R"({"r":"finding","id":1,"kind":"race","verdict":"proven","hazard":"RAW","accesses":[{"op":"kernel","kernel":1},{"op":"kernel","kernel":1}]})"
        "\n" +
        kEnd);
    EXPECT_LT(report.findings[0].message.size(), 400U);
    EXPECT_GT(report.findings[0].accesses[0].kernel.size(), 4000U);
}

TEST(Text, Sizes) {
    EXPECT_EQ(bytes_text(1), "1 byte");
    EXPECT_EQ(bytes_text(4096), "4096 bytes");
    EXPECT_EQ(bytes_text(1 << 20), "1048576 bytes (1.0 MiB)");
    EXPECT_EQ(bytes_text(~0ULL), "18446744073709551615 bytes (16.0 EiB)");
}

TEST(Text, DemanglesNamesAndLeavesOthersAlone) {
    EXPECT_EQ(demangle("_Z5scalePfi"), "scale(float*, int)");
    EXPECT_EQ(demangle("scale"), "scale");
    EXPECT_EQ(demangle("_Zgarbage"), "_Zgarbage");
    const std::string enormous = "_Z" + std::string(1 << 20, 'P') + "i";
    EXPECT_EQ(demangle(enormous), enormous);
}

TEST(Text, RepairsUtf8) {
    EXPECT_EQ(to_utf8("a\xc3\xa9\xf0\x9f\x98\x80z"), "a\xc3\xa9\xf0\x9f\x98\x80z");
    EXPECT_EQ(to_utf8("\xc0\x80\xed\xa0\x80\xf5\xe2\x82"), "????????");
}

}  // namespace
}  // namespace cuward::report
