#include "core/log/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/log/json_text.hpp"

namespace cuward {
namespace {

using nlohmann::json;

class LogTest : public ::testing::Test {
  protected:
    ~LogTest() override { std::filesystem::remove_all(folder); }

    std::vector<json> lines() {
        std::ifstream file(path);
        std::vector<json> found;
        for (std::string line; std::getline(file, line);) {
            found.push_back(json::parse(line));
        }
        return found;
    }

    std::string folder = [] {
        std::string name = (std::filesystem::temp_directory_path() / "cuwardXXXXXX").string();
        return std::string(mkdtemp(name.data()));
    }();
    std::string path = folder + "/log.jsonl";
};

TEST_F(LogTest, EveryRecordIsOnDiskAtOnce) {
    Log log(path);
    log.header("check");
    EXPECT_EQ(lines().at(0)["schema"], 1);
    EXPECT_EQ(lines().at(0)["pid"], getpid());
    log.driver(13000, nullptr);
    log.device(0, "Some \"GPU\"", 1024);
    EXPECT_EQ(lines().at(1)["cupti"], nullptr);
    EXPECT_EQ(lines().at(2)["name"], "Some \"GPU\"");
    log.end();
    EXPECT_EQ(lines().back()["r"], "end");
}

TEST_F(LogTest, AnUnknownFunctionIsWrittenOnce) {
    Log log(path);
    log.unknown_function("cuNew", false);
    log.unknown_function("cuNew", false);
    log.unknown_function("cuNew", true);
    ASSERT_EQ(lines().size(), 2U);
    EXPECT_EQ(lines()[0]["name"], "cuNew");
    EXPECT_EQ(lines()[0]["called"], false);
    EXPECT_EQ(lines()[1]["called"], true);
}

TEST_F(LogTest, AKernelIsWrittenOnce) {
    Log log(path);
    const KernelId first = log.kernel("_Z1aPf");
    EXPECT_EQ(log.kernel("_Z1aPf"), first);
    EXPECT_NE(log.kernel("_Z1bPf"), first);
    EXPECT_EQ(lines().size(), 2U);
    EXPECT_EQ(log.kernel_name(first), "_Z1aPf");
    EXPECT_EQ(log.kernel_name(KernelId{99}), "");
}

TEST_F(LogTest, SaysWhatResourcesWereAskedFor) {
    Log log(path);
    const DeviceBlock block{.ptr = 0x7f00,
                            .device_ordinal = 1,
                            .bytes = 64,
                            .tag = AllocTag{3},
                            .generation = Generation{9}};
    log.memory({.kind = MemoryOperationKind::Allocate, .block = block, .outstanding = 128});
    log.memory({.kind = MemoryOperationKind::Free,
                .block = block,
                .stream = StreamId{0x55},
                .outstanding = 64,
                .result = tl::unexpected(ResourceFailure{ResourceError::Driver, 700})});
    const json allocated = lines().at(0);
    EXPECT_EQ(allocated["r"], "memory");
    EXPECT_EQ(allocated["op"], "alloc");
    EXPECT_EQ(allocated["device"], 1);
    EXPECT_EQ(allocated["ptr"], "0x7f00");
    EXPECT_EQ(allocated["generation"], 9);
    EXPECT_EQ(allocated["tag"], 3);
    EXPECT_EQ(allocated["stream"], nullptr);
    EXPECT_EQ(allocated["bytes"], 64);
    EXPECT_EQ(allocated["outstanding"], 128);
    EXPECT_EQ(allocated["result"], "ok");
    const json failed = lines().at(1);
    EXPECT_EQ(failed["op"], "free");
    EXPECT_EQ(failed["stream"], "0x55");
    EXPECT_EQ(failed["result"], "driver");
    EXPECT_EQ(failed["code"], 700);
}

TEST_F(LogTest, SaysWhatTheBudgetRefused) {
    Log log(path);
    log.budget({.requested = 300, .current = 900, .remaining = 100, .limit = 1000}, 1, true,
               {.api = "cuMemAlloc", .stack = StackId{4}, .thread = 5});
    const json refused = lines().at(0);
    EXPECT_EQ(refused["r"], "budget");
    EXPECT_EQ(refused["device"], 1);
    EXPECT_EQ(refused["scope"], "process");
    EXPECT_EQ(refused["requested"], 300);
    EXPECT_EQ(refused["current"], 900);
    EXPECT_EQ(refused["remaining"], 100);
    EXPECT_EQ(refused["limit"], 1000);
    EXPECT_EQ(refused["api"], "cuMemAlloc");
    EXPECT_EQ(refused["stack"], 4);
}

TEST_F(LogTest, BelongsToItsOwnerOnly) {
    Log log(path);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(LogTest, IsNeverWrittenThroughALink) {
    const std::string target = folder + "/target";
    std::filesystem::create_symlink(target, path);
    testing::internal::CaptureStderr();
    Log log(path);
    EXPECT_FALSE(log.is_open());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("CUWARD_LOG_DIR"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(LogTest, AFolderThatCannotBeWrittenIsOneLine) {
    testing::internal::CaptureStderr();
    Log log(folder + "/missing/log.jsonl");
    log.header("check");
    log.note("lost");
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(LogTest, AFullDiskIsOneLine) {
    Log log("/dev/full");
    EXPECT_FALSE(log.is_open()) << "not a new file";
}

TEST_F(LogTest, ALimitOnFileSizesIsOneLineAndNoSignal) {
    EXPECT_EXIT(
        {
            rlimit limit{};
            limit.rlim_cur = limit.rlim_max = 100;
            setrlimit(RLIMIT_FSIZE, &limit);
            Log log(path);
            for (int i = 0; i < 100; ++i) {
                log.note("a line of some length");
            }
            std::exit(log.is_open() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "the log ends here");
}

TEST_F(LogTest, MessagesGoToNoFileOfThePrograms) {
    EXPECT_EXIT(
        {
            remember_standard_error();
            const int file = open((folder + "/mine").c_str(), O_WRONLY | O_CREAT, 0600);
            dup2(file, STDERR_FILENO);
            say("not in this file");
            std::exit(std::filesystem::file_size(folder + "/mine") == 0 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST_F(LogTest, AnAbandonedLogStaysAsItIs) {
    Log log(path);
    log.note("before");
    log.abandon();
    log.note("after");
    EXPECT_EQ(lines().size(), 1U);
}

TEST(JsonString, KeepsTextAndEscapesTheRest) {
    EXPECT_EQ(json_string("plain"), "\"plain\"");
    EXPECT_EQ(json::parse(json_string("a\"b\\c\n\x1b[31m\x7f")), "a\"b\\c\n\x1b[31m\x7f");
    EXPECT_EQ(json_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(JsonString, ReplacesWhatIsNoUtf8) {
    EXPECT_EQ(json_string("a\xff\xc3"), "\"a\\ufffd\\ufffd\"");
    EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
    EXPECT_EQ(json_string("\xc0\x80"), "\"\\ufffd\\ufffd\"");
}

}  // namespace
}  // namespace cuward
