// Reading logs: what is there is read, whatever else is there.
#include <gmock/gmock.h>

#include "core/report/line_reader.hpp"
#include "tests/unit/report_fixture.hpp"

namespace cuward::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using LogTest = ReportTest;

std::string alloc(int block, const std::string& more = "") {
    return R"({"r":"alloc","block":)" + std::to_string(block) +
           R"(,"ptr":"0x7f00","bytes":64,"kind":"device","device":0,"api":"cuMemAlloc_v2","stream":0,"stack":0,"thread":1,"t":1)" +
           more + "}\n";
}

std::string free_of(int block) {
    return R"({"r":"free","block":)" + std::to_string(block) +
           R"(,"api":"cuMemFree_v2","stream":0,"stack":0,"thread":1,"t":2})" + "\n";
}

TEST_F(LogTest, KeepsOnlyLiveBlocks) {
    std::string log = kHeader;
    for (int block = 1; block <= 1000; ++block) {
        log += alloc(block) + free_of(block);
    }
    EXPECT_TRUE(read(log + alloc(1001) + kEnd).blocks.size() == 1);
}

TEST_F(LogTest, KeepsAFreedBlockThatAFindingNamesLater) {
    const LogModel log = read(
        kHeader + alloc(3) + free_of(3) +
        R"({"r":"finding","id":1,"kind":"use-after-free","verdict":"proven","block":3,"ptr":"0x7f00","accesses":[],"t":1})" +
        "\n" + kEnd);
    ASSERT_TRUE(log.blocks.contains(3));
    EXPECT_TRUE(log.blocks.at(3).freed.has_value());
}

class CutLogTest : public ReportTest {
  protected:
    // A report of the first `length` bytes says whether it is whole, and knows no less than a
    // shorter one.
    void expect_usable(const std::string& whole, std::size_t length) {
        SCOPED_TRACE(length);
        const Report report = report_of(whole.substr(0, length));
        // Without its last newline the last record is still whole.
        const bool complete = length + 1 >= whole.size();
        ASSERT_EQ(report.processes[0].ended, complete);
        ASSERT_EQ(text_of(report).find("has no end") == std::string::npos, complete);
        ASSERT_FALSE(json_of(report).empty());
        const std::size_t errors = report.summary.races + report.summary.lifetime_errors;
        ASSERT_GE(errors, errors_);
        errors_ = errors;
    }

    std::size_t errors_ = 0;
};

TEST_F(CutLogTest, EveryByteOfASmallLog) {
    const std::string whole =
        std::string(kHeader) +
        R"({"r":"module","id":1,"path":"/nowhere/app","base":"0x0","build_id":""})"
        "\n"
        R"({"r":"stack","id":1,"frames":[[1,16],[1,32]]})"
        "\n"
        R"({"r":"kernel","id":1,"name":"_Z4k\u00e9f"})"
        "\n"
        R"({"r":"stream","id":1,"handle":"0x5","context":"0x1","kind":"blocking","stack":1,"thread":1})"
        "\n" +
        alloc(1) +
        R"({"r":"finding","id":1,"kind":"race","verdict":"likely","hazard":"RAW","block":1,"ptr":"0x7f00","accesses":[{"op":"kernel","kernel":1,"stream":1,"access":"write","range":[0,4],"stack":1}],"t":1})"
        "\n" +
        free_of(1) + kEnd;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        expect_usable(whole, length);
    }
    EXPECT_EQ(errors_, 1U);
}

TEST_F(CutLogTest, ALogOfEveryKind) {
    const std::string whole = data_file("every_kind.jsonl");
    for (std::size_t length = 0; length < whole.size(); length += 53) {
        expect_usable(whole, length);
    }
    expect_usable(whole, whole.size());
    EXPECT_EQ(errors_, 14U);
}

TEST_F(LogTest, SaysWhenTheLastLineIsCutInTheMiddle) {
    const Report report = report_of(kHeader + alloc(1) + alloc(2).substr(0, 20));
    EXPECT_EQ(report.summary.leaked_blocks, 1U);
    EXPECT_THAT(text_of(report), HasSubstr("in the middle of a line"));
    EXPECT_THAT(text_of(report), HasSubstr("live when the log ended"));
}

TEST_F(LogTest, SkipsAndCountsLinesThatAreNoRecords) {
    const std::string garbage =
        "garbage\n\n[]\n{}\n{\"r\":5}\n42\n{\"r\":\"alloc\"}\n" + std::string("\0\0\0\n", 4) +
        "\xff\xfe{\n" + std::string(100000, '[') + "\n" + std::string(300000, '[') +
        std::string(300000, ']') + "\n{\"r\":\"stack\",\"id\":1,\"frames\":[[1]]}\n";
    const Report report = report_of(kHeader + alloc(1) + garbage + alloc(2) + kEnd);
    EXPECT_EQ(report.summary.leaked_blocks, 2U);
    EXPECT_THAT(text_of(report), HasSubstr("12 lines of the log could not be understood"));
    EXPECT_THAT(text_of(report), Not(HasSubstr("has no end")));
}

TEST_F(LogTest, IgnoresRecordsAndFieldsOfLaterTools) {
    const LogModel log = read(std::string(kHeader) + "{\"r\":\"weather\",\"rain\":true}\n" +
                              alloc(1, ",\"colour\":\"red\"") + kEnd);
    EXPECT_EQ(log.health.skipped_lines, 0U);
    EXPECT_EQ(log.blocks.size(), 1U);
}

TEST_F(LogTest, RefusesANewerSchema) {
    const auto log = read_log(write("{\"r\":\"header\",\"schema\":2}\n"));
    ASSERT_FALSE(log.has_value());
    EXPECT_THAT(log.error(), HasSubstr("log schema 2"));
    EXPECT_THAT(log.error(), Not(HasSubstr("\n")));
}

TEST_F(LogTest, SurvivesWrongTypesAndHugeNumbers) {
    const std::string huge = "18446744073709551615";
    std::string log = std::string(kHeader);
    for (const std::string value :
         {"-1", "1e300", "null", "\"x\"", "[]", "{}", "true", huge.c_str(),
          "99999999999999999999999", "\"0xfffffffffffffffffff\""}) {
        for (const char* record :
             {"header", "driver", "device", "module", "stack", "kernel", "stream", "alloc", "free",
              "finding", "count", "note", "unknown-function", "x"}) {
            log += std::string("{\"r\":\"") + record + "\"";
            for (const char* key :
                 {"id",      "block",  "ptr",     "bytes", "kind",     "device",  "api",
                  "stream",  "stack",  "thread",  "t",     "frames",   "path",    "build_id",
                  "name",    "handle", "finding", "count", "accesses", "verdict", "text",
                  "version", "cupti",  "args",    "pid",   "rank"}) {
                log += std::string(",\"") + key + "\":" + value;
            }
            log += "}\n";
        }
    }
    log += alloc(1, ",\"bytes\":" + huge) + alloc(2, ",\"bytes\":" + huge);
    const Report report = report_of(log, {.show_possible = true, .pedantic = true});
    EXPECT_EQ(report.summary.leaked_bytes, ~std::uint64_t{0});
    EXPECT_FALSE(text_of(report).empty());
    EXPECT_EQ(json_of(report)["schema"], 1);
}

TEST_F(LogTest, SurvivesIdentifiersThatReferToNothingOrToThemselves) {
    const Report report = report_of(
        std::string(kHeader) +
        R"({"r":"stack","id":1,"frames":[[1,1],[77,18446744073709551615],[0,0]]})"
        "\n"
        R"({"r":"stream","id":1,"handle":"0x5","kind":"blocking","stack":1,"thread":1})"
        "\n"
        R"({"r":"finding","id":1,"kind":"race","verdict":"proven","hazard":"RAW","block":1,"ptr":"0x1","accesses":[{"stream":1,"stack":1,"kernel":1},{"stream":9,"stack":9,"kernel":9}],"t":1})"
        "\n"
        R"({"r":"count","finding":1,"count":18446744073709551615})"
        "\n");
    EXPECT_EQ(report.findings.at(0).count, ~std::uint64_t{0});
    EXPECT_FALSE(text_of(report).empty());
}

TEST_F(LogTest, TheLastRecordOfAFindingCounts) {
    const auto finding = [](const std::string& verdict) {
        return R"({"r":"finding","id":1,"kind":"race","verdict":")" + verdict +
               R"(","hazard":"WAW","block":0,"ptr":"0x1","accesses":[],"t":1})" + "\n";
    };
    const Report report =
        report_of(kHeader + finding("possible") + "{\"r\":\"count\",\"finding\":1,\"count\":2}\n" +
                  finding("likely") + kEnd);
    EXPECT_EQ(report.summary.races, 1U);
    EXPECT_EQ(report.summary.possible_races, 0U);
    EXPECT_THAT(text_of(report), HasSubstr("2 times"));
}

TEST_F(LogTest, ReadsManyFindings) {
    std::string log = kHeader;
    constexpr int kMany = 20000;
    for (int id = 1; id <= kMany; ++id) {
        log +=
            R"({"r":"finding","id":)" + std::to_string(id) +
            R"(,"kind":"race","verdict":"likely","hazard":"WAW","block":0,"ptr":"0x1","accesses":[],"t":1})" +
            "\n";
    }
    EXPECT_EQ(report_of(log + kEnd).summary.races, static_cast<std::uint64_t>(kMany));
}

TEST_F(LogTest, ReadsNamesThatAreNotUtf8) {
    const LogModel log =
        read(std::string("{\"r\":\"header\",\"schema\":1,\"program\":\"/b\xff/app\"}\n") + kEnd);
    EXPECT_EQ(log.process.program, "/b?/app");
}

TEST_F(LogTest, FindsTheLogsOfAFolder) {
    write(kHeader, "cuward.b.1.jsonl");
    write(kHeader, "cuward.a.2.jsonl");
    write(kHeader, "other.jsonl");
    const auto logs = find_logs({folder_.string()});
    ASSERT_TRUE(logs.has_value());
    ASSERT_EQ(logs->size(), 2U);
    EXPECT_EQ(logs->front().filename(), "cuward.a.2.jsonl");
}

TEST_F(LogTest, RefusesAFolderWithoutLogsAMissingFileAndAPipe) {
    EXPECT_THAT(find_logs({folder_.string()}).error(), HasSubstr("no log"));
    EXPECT_THAT(read_log(folder_ / "missing").error(), HasSubstr("cannot read"));
    EXPECT_THAT(read_log("/dev/null").error(), HasSubstr("not a regular file"));
}

TEST(LineReader, DropsALineThatIsTooLongAndGoesOn) {
    std::istringstream input("a\n" + std::string(kLongestLine + 1, 'x') + "\nb");
    LineReader lines(input);
    EXPECT_EQ(lines.next()->text, "a");
    EXPECT_TRUE(lines.next()->too_long);
    const auto last = lines.next();
    EXPECT_EQ(last->text, "b");
    EXPECT_FALSE(last->terminated);
    EXPECT_FALSE(lines.next().has_value());
}

TEST(LineReader, StopsAtItsLimit) {
    std::istringstream input("abc\ndef\n");
    LineReader lines(input, 6);
    EXPECT_EQ(lines.next()->text, "abc");
    EXPECT_EQ(lines.next()->text, "de");
    EXPECT_FALSE(lines.next().has_value());
}

}  // namespace
}  // namespace cuward::report
