// The last words on standard error.
#include "interpose/summary.hpp"

#include <gmock/gmock.h>

namespace cuward {
namespace {

using ::testing::ElementsAre;

TEST(Summary, SaysNothingWasFoundInOneLine) {
    EXPECT_THAT(
        summary_lines({}, {}, "logs/cuward.host.1.jsonl"),
        ElementsAre("0 races, 0 possible races, 0 lifetime errors; 0 blocks (0 bytes) still "
                    "allocated at exit",
                    "whole report: cuward report logs/cuward.host.1.jsonl"));
}

TEST(Summary, ListsFindingsAndCountsTheRest) {
    Totals totals;
    totals.races = 2;
    totals.lifetime_errors = 1;
    totals.live_blocks = 1;
    totals.live_bytes = std::uint64_t{3} << 20;
    EXPECT_THAT(
        summary_lines(totals, {"first", "second"}, "log"),
        ElementsAre("2 races, 0 possible races, 1 lifetime error; 1 block (3.0 MiB) still "
                    "allocated at exit",
                    "  first", "  second", "  and 1 more", "whole report: cuward report log"));
}

TEST(Summary, SaysHowManyFindingsHaveBeenRepaired) {
    Totals totals;
    totals.races = 3;
    totals.repaired = 2;
    EXPECT_THAT(summary_lines(totals, {}, ""),
                ElementsAre("3 races, 0 possible races, 0 lifetime errors, 2 repaired; 0 blocks (0 "
                            "bytes) still allocated at exit"));
}

TEST(Summary, OffersNoReportWithoutALog) {
    EXPECT_EQ(summary_lines({}, {}, "").size(), 1u);
}

}  // namespace
}  // namespace cuward
