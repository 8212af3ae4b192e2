// Logs written line by line for one test, and the forms of their report.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/report/build_report.hpp"
#include "core/report/log_reader.hpp"
#include "core/report/render.hpp"

namespace cuward::report {

constexpr const char* kHeader =
    R"({"r":"header","schema":1,"tool":"0.1.0","program":"/nowhere/app","args":["app"],"cwd":"/","pid":7,"ppid":1,"host":"box","rank":null,"time":"2026-01-01T00:00:00Z","mode":"check"})"
    "\n";
constexpr const char* kEnd = "{\"r\":\"end\",\"t\":9}\n";

/// A folder that goes away with the test.
class ReportTest : public ::testing::Test {
  protected:
    ReportTest() {
        std::string name = ::testing::TempDir() + "cuward-report-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~ReportTest() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path write(const std::string& content,
                                const std::string& name = "cuward.box.7.jsonl") {
        const std::filesystem::path file = folder_ / name;
        std::ofstream(file, std::ios::binary) << content;
        return file;
    }

    LogModel read(const std::string& content) {
        auto log = read_log(write(content));
        EXPECT_TRUE(log.has_value()) << log.error();
        return std::move(*log);
    }

    Report report_of(const std::string& content, const ReportOptions& options = {}) {
        std::vector<LogModel> logs;
        logs.push_back(read(content));
        return build_report(logs, options);
    }

    static std::string text_of(const Report& report) {
        std::ostringstream out;
        render_text(report, false, out);
        return out.str();
    }

    static nlohmann::json json_of(const Report& report) {
        std::ostringstream out;
        render_json(report, out);
        return nlohmann::json::parse(out.str());
    }

    std::filesystem::path folder_;
};

/// A file of tests/unit/data/report.
inline std::string data_file(const std::string& name) {
    std::ifstream input(std::string(CUWARD_TEST_DATA "/report/") + name, std::ios::binary);
    EXPECT_TRUE(input) << name;
    return {std::istreambuf_iterator<char>(input), {}};
}

}  // namespace cuward::report
