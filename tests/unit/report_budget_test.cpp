// What the budget refused, and what held the memory then.
#include <gmock/gmock.h>

#include "tests/unit/report_fixture.hpp"

namespace cuward::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class BudgetTest : public ReportTest {
  protected:
    static std::string alloc(int block, int bytes, int stack, int device = 0,
                             const std::string& kind = "device") {
        return fill(
            R"({"r":"alloc","block":B,"ptr":"0x1000","bytes":N,"kind":"K","device":D,"api":"cuMemAlloc","stream":0,"stack":S,"thread":1,"t":1})",
            {{"B", block}, {"N", bytes}, {"S", stack}, {"D", device}}, kind);
    }
    static std::string refusal(int stack, int device = 0, const std::string& scope = "device") {
        return fill(
            R"({"r":"budget","device":D,"scope":"K","requested":300,"current":900,"remaining":100,"limit":1000,"api":"cuMemAlloc","stack":S,"thread":1,"t":2})",
            {{"S", stack}, {"D", device}}, scope);
    }
    static std::string freed(int block) {
        return fill(
            R"({"r":"free","block":B,"api":"cuMemFree","stream":0,"stack":1,"thread":1,"t":1})",
            {{"B", block}}, "");
    }

    static BudgetRefusal first_refusal(const Report& report) {
        for (const Finding& finding : report.findings) {
            if (finding.refusal) {
                return *finding.refusal;
            }
        }
        ADD_FAILURE() << "no refusal";
        return {};
    }

  private:
    /// A line with numbers and one word in the place of capital letters that stand alone.
    static std::string fill(std::string line, const std::map<std::string, int>& numbers,
                            const std::string& word) {
        const auto put = [&](const std::string& before, const std::string& name,
                             const std::string& value) {
            const std::size_t at = line.find(before + name);
            if (at != std::string::npos) {
                line.replace(at + before.size(), name.size(), value);
            }
        };
        for (const auto& [name, value] : numbers) {
            put(":", name, std::to_string(value));
        }
        put("\"", "K\"", word + "\"");
        return line + "\n";
    }
};

TEST_F(BudgetTest, ARefusalIsListedAndIsNoFault) {
    const Report report = report_of(kHeader + alloc(1, 900, 4) + refusal(5) + freed(1) + kEnd);
    EXPECT_FALSE(report.summary.anything_wrong());
    EXPECT_EQ(report.summary.budget_refusals, 1U);
    const std::string text = text_of(report);
    EXPECT_THAT(text, HasSubstr("cuward: out-of-budget\n"));
    EXPECT_THAT(text, HasSubstr("asked for 300 bytes, but of the budget of 1000 bytes for device 0 "
                                "only 100 bytes were left"));
    EXPECT_THAT(text, HasSubstr("held by then: 1 block of device memory, 900 bytes"));
    EXPECT_THAT(text, HasSubstr("set the budget to 1200 bytes"));
    EXPECT_THAT(text, HasSubstr("nothing found; 1 allocation had no room in the budget"));
}

TEST_F(BudgetTest, ManyRefusalsOfOnePlaceAreOne) {
    const Report report = report_of(kHeader + refusal(5) + refusal(5) + refusal(5) + kEnd);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings[0].count, 3U);
    EXPECT_EQ(report.summary.budget_refusals, 3U);
    EXPECT_THAT(text_of(report), HasSubstr("out-of-budget, seen 3 times"));
}

TEST_F(BudgetTest, OfTwoPlacesOrDevicesAreTwo) {
    const Report report = report_of(kHeader + refusal(5) + refusal(6) + refusal(5, 1) + kEnd);
    EXPECT_EQ(report.findings.size(), 3U);
}

TEST_F(BudgetTest, HoldersAreWhatWasLiveThenLargestFirst) {
    const BudgetRefusal refused = first_refusal(
        report_of(kHeader + alloc(1, 100, 4) + alloc(2, 300, 5) + alloc(3, 350, 5) +
                  alloc(4, 500, 6) + freed(4) + refusal(7) + alloc(5, 999, 8) + kEnd));
    ASSERT_EQ(refused.holders.size(), 2U);
    EXPECT_EQ(refused.holders[0].bytes, 650U);
    EXPECT_EQ(refused.holders[0].blocks, 2U);
    EXPECT_EQ(refused.holders[1].bytes, 100U);
}

TEST_F(BudgetTest, HoldersAreOfTheDeviceOrOfAllAndNeverOnTheHost) {
    const std::string blocks =
        kHeader + alloc(1, 100, 4) + alloc(2, 200, 5, 1) + alloc(3, 300, 6, 0, "host");
    EXPECT_EQ(first_refusal(report_of(blocks + refusal(7))).holders.size(), 1U);
    EXPECT_EQ(first_refusal(report_of(blocks + refusal(7, 0, "process"))).holders.size(), 2U);
}

TEST_F(BudgetTest, OnlyTheLargestHoldersAreListed) {
    std::string log = kHeader;
    for (int place = 1; place <= 7; ++place) {
        log += alloc(place, 10 * place, place);
    }
    const Report report = report_of(log + refusal(9) + kEnd);
    const BudgetRefusal refused = first_refusal(report);
    EXPECT_EQ(refused.holders.size(), 5U);
    EXPECT_EQ(refused.further_places, 2U);
    EXPECT_EQ(refused.further_bytes, 30U);
    EXPECT_THAT(text_of(report), HasSubstr("and 30 bytes allocated at 2 other places"));
}

TEST_F(BudgetTest, TheLogOfMemoryIsRead) {
    const LogModel log = read(
        std::string(kHeader) +
        R"({"r":"memory","op":"alloc","device":0,"ptr":"0x1","generation":1,"bytes":1,"result":"ok"})"
        "\n" +
        kEnd);
    EXPECT_EQ(log.health.skipped_lines, 0U);
}

}  // namespace
}  // namespace cuward::report
