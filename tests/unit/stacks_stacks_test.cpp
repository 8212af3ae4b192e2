// The same place gives the same stack, another place another, however the frames came to be there.
#include "core/stacks/stacks.hpp"
#include "core/stacks/unwind.hpp"

#include <alloca.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/log/log.hpp"

namespace cuward {
namespace {

#define NOINLINE __attribute__((noinline))

/// Keeps the compiler from turning a call into a jump.
NOINLINE void touch() {
    asm volatile("" ::: "memory");
}

NOINLINE StackId capture_in(Stacks& stacks) {
    const StackId id = stacks.capture();
    touch();
    return id;
}
NOINLINE StackId caller_a(Stacks& stacks) {
    const StackId id = capture_in(stacks);
    touch();
    return id;
}
NOINLINE StackId caller_b(Stacks& stacks) {
    const StackId id = capture_in(stacks);
    touch();
    return id;
}
NOINLINE StackId recursive(Stacks& stacks, int depth) {
    const StackId id = depth == 0 ? capture_in(stacks) : recursive(stacks, depth - 1);
    touch();
    return id;
}

class StacksTest : public testing::Test {
  protected:
    StacksTest() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cuward-stacks-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        log_ = std::make_unique<Log>(folder_ + "/log.jsonl");
        stacks = std::make_unique<Stacks>(*log_);
    }
    ~StacksTest() override { std::filesystem::remove_all(folder_); }

    std::vector<std::string> lines(const std::string& record) const {
        std::ifstream file(folder_ + "/log.jsonl");
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) {
            if (line.find("\"r\":\"" + record + "\"") != std::string::npos) {
                found.push_back(line);
            }
        }
        return found;
    }
    std::size_t frames_of(StackId id) const {
        const std::string start = "\"id\":" + std::to_string(static_cast<std::uint32_t>(id)) + ",";
        for (const std::string& line : lines("stack")) {
            if (line.find(start) != std::string::npos) {
                return static_cast<std::size_t>(std::count(line.begin(), line.end(), '[')) - 1;
            }
        }
        return 0;
    }

    std::unique_ptr<Stacks> stacks;

  private:
    std::string folder_;
    std::unique_ptr<Log> log_;
};

TEST_F(StacksTest, SamePlaceSameId) {
    std::set<StackId> ids;
    for (int i = 0; i < 100; ++i) {
        ids.insert(caller_a(*stacks));
    }
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(ids.count(StackId{}), 0U);
    EXPECT_EQ(lines("stack").size(), 1U);
}

TEST_F(StacksTest, AnotherCallerAnotherId) {
    for (int i = 0; i < 3; ++i) {
        const StackId a = caller_a(*stacks);
        const StackId b = caller_b(*stacks);
        const StackId a_again = caller_a(*stacks);
        EXPECT_NE(a, b);
        EXPECT_NE(a, a_again) << "two lines are two places";
    }
    EXPECT_EQ(lines("stack").size(), 3U);
}

TEST_F(StacksTest, RecursionDepthIsTold) {
    std::set<StackId> ids;
    for (int round = 0; round < 3; ++round) {
        for (int depth = 0; depth < 10; ++depth) {
            ids.insert(recursive(*stacks, depth));
        }
    }
    EXPECT_EQ(ids.size(), 10U);
}

TEST_F(StacksTest, DeepStacksAreCut) {
    StackId id{};
    for (int i = 0; i < 2; ++i) {
        id = recursive(*stacks, 500);
    }
    EXPECT_EQ(frames_of(id), kMaxFrames);
}

NOINLINE StackId with_alloca(Stacks& stacks, std::size_t bytes) {
    void* memory = alloca(bytes);
    std::memset(memory, 1, bytes);
    asm volatile("" ::"r"(memory) : "memory");
    const StackId id = capture_in(stacks);
    touch();
    return id;
}

TEST_F(StacksTest, FramesOfVariableSizeAreOnePlace) {
    std::set<StackId> ids;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t bytes = 16; bytes < 4000; bytes += 48) {
            ids.insert(with_alloca(*stacks, bytes));
        }
    }
    EXPECT_EQ(ids.size(), 1U);
}

/// Fills nothing, so that what earlier calls left in the memory stays.
NOINLINE StackId with_stale_alloca(Stacks& stacks, std::size_t bytes) {
    void* memory = alloca(bytes);
    asm volatile("" ::"r"(memory) : "memory");
    const StackId id = capture_in(stacks);
    touch();
    return id;
}
NOINLINE StackId between(Stacks& stacks, std::size_t bytes) {
    std::array<char, 64> pad;
    asm volatile("" ::"r"(pad.data()) : "memory");
    const StackId id = with_stale_alloca(stacks, bytes);
    touch();
    return id;
}

/// The one place that both ways are called from.
NOINLINE StackId call_with(StackId (*function)(Stacks&, std::size_t), Stacks& stacks,
                           std::size_t bytes) {
    const StackId id = function(stacks, bytes);
    touch();
    return id;
}

TEST_F(StacksTest, StaleReturnAddressesDoNotPassForLiveOnes) {
    // The capture happens at one depth, once with a frame between and once with more memory in its
    // place, where the frame's return address still lies.
    // Nothing but the captures may run in between: it would overwrite what lies there.
    std::array<std::array<StackId, 2>, 32> ids{};
    for (std::size_t i = 0; i < 2 * ids.size(); ++i) {
        const bool direct = i % 2 != 0;
        ids[i / 2][i % 2] =
            call_with(direct ? with_stale_alloca : between, *stacks, direct ? 64 + i / 2 * 16 : 64);
    }
    for (const auto& [between_id, direct_id] : ids) {
        EXPECT_EQ(between_id, ids[0][0]);
        EXPECT_EQ(direct_id, ids[0][1]);
        EXPECT_NE(between_id, direct_id);
    }
}

NOINLINE StackId through_pointer(StackId (*function)(Stacks&), Stacks& stacks) {
    const StackId id = function(stacks);
    touch();
    return id;
}

TEST_F(StacksTest, FunctionPointersAreFollowed) {
    std::set<StackId> ids;
    for (int i = 0; i < 10; ++i) {
        ids.insert(through_pointer(i % 2 == 0 ? caller_a : caller_b, *stacks));
    }
    EXPECT_EQ(ids.size(), 2U);
}

TEST_F(StacksTest, AllThreadsShareIds) {
    std::vector<std::set<StackId>> ids(8);
    std::vector<std::thread> threads;
    threads.reserve(ids.size());
    for (auto& mine : ids) {
        threads.emplace_back([this, &mine] {
            for (int i = 0; i < 1000; ++i) {
                mine.insert(recursive(*stacks, i % 7));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const auto& mine : ids) {
        EXPECT_EQ(mine, ids[0]);
        EXPECT_EQ(mine.size(), 7U);
    }
    EXPECT_EQ(lines("stack").size(), 7U);
}

TEST_F(StacksTest, AnotherStacksObjectHasItsOwnIds) {
    Log log("");
    for (int i = 0; i < 2; ++i) {
        Stacks others(log);
        EXPECT_EQ(caller_a(others), StackId{1});
        EXPECT_EQ(caller_b(others), StackId{2});
    }
}

TEST_F(StacksTest, MoreStacksThanAreKept) {
    std::array<std::set<StackId>, 2> ids;
    for (auto& seen : ids) {
        for (unsigned path = 0; path < 2048; ++path) {
            // Eleven binary choices, each a frame.
            struct Step {
                static NOINLINE StackId go(Stacks& s, unsigned bits, int left) {
                    StackId id{};
                    if (left == 0) {
                        id = capture_in(s);
                    } else if ((bits & 1) != 0) {
                        id = go(s, bits >> 1, left - 1);
                        touch();
                    } else {
                        id = go(s, bits >> 1, left - 1);
                        asm volatile("nop");
                    }
                    touch();
                    return id;
                }
            };
            seen.insert(Step::go(*stacks, path, 11));
        }
    }
    EXPECT_EQ(ids[0], ids[1]);
    EXPECT_GT(ids[0].size(), 1000U);
}

Stacks* fiber_stacks = nullptr;
std::vector<StackId>* fiber_ids = nullptr;
void fiber_main() {
    fiber_ids->push_back(caller_a(*fiber_stacks));
    fiber_ids->push_back(caller_a(*fiber_stacks));
}

NOINLINE void run_fiber() {
    std::vector<char> memory(64 << 10);
    ucontext_t here;
    ucontext_t fiber;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = memory.data();
    fiber.uc_stack.ss_size = memory.size();
    fiber.uc_link = &here;
    makecontext(&fiber, fiber_main, 0);
    swapcontext(&here, &fiber);
}

TEST_F(StacksTest, FibersWhoseStacksGoAway) {
    std::vector<StackId> ids;
    fiber_stacks = stacks.get();
    fiber_ids = &ids;
    for (int i = 0; i < 3; ++i) {
        run_fiber();
    }
    fiber_stacks = nullptr;
    fiber_ids = nullptr;
    ASSERT_EQ(ids.size(), 6U);
    EXPECT_EQ(ids[0], ids[2]);
    EXPECT_EQ(ids[1], ids[5]);
    EXPECT_NE(ids[0], ids[1]);
}

using CallThrough = unsigned (*)(unsigned (*)(void*), void*);

unsigned capture_as_number(void* stacks) {
    return static_cast<unsigned>(capture_in(*static_cast<Stacks*>(stacks)));
}

/// The address its function had is told, so that the test can see that the modules took turns.
std::pair<StackId, void*> capture_through(const char* library, Stacks& stacks) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        return {StackId{}, nullptr};
    }
    const auto call_through = reinterpret_cast<CallThrough>(dlsym(handle, "call_through"));
    StackId id{};
    for (int i = 0; i < 10000; ++i) {
        id = StackId{call_through(capture_as_number, &stacks)};
    }
    dlclose(handle);
    return {id, reinterpret_cast<void*>(call_through)};
}

TEST_F(StacksTest, AModuleInThePlaceOfAnotherIsAnother) {
    std::vector<StackId> ids;
    std::set<void*> places;
    for (const char* library :
         {CUWARD_STACKS_MODULE_A, CUWARD_STACKS_MODULE_B, CUWARD_STACKS_MODULE_A}) {
        const auto [id, place] = capture_through(library, *stacks);
        ASSERT_NE(id, StackId{});
        ids.push_back(id);
        places.insert(place);
    }
    if (places.size() == 1) {
        EXPECT_EQ(ids[0], ids[2]);
    }
    EXPECT_NE(ids[0], ids[1]);
    EXPECT_NE(ids[1], ids[2]);
    std::size_t modules_a = 0;
    for (const std::string& line : lines("module")) {
        modules_a += line.find("stacks_module_a") != std::string::npos ? 1U : 0U;
    }
    EXPECT_EQ(modules_a, places.size() == 1 ? 1U : modules_a);
}

TEST_F(StacksTest, ModulesAreWrittenBeforeTheStacksThatNameThem) {
    caller_a(*stacks);
    const auto modules = lines("module");
    ASSERT_GE(modules.size(), 2U) << "the program and the C library";
    EXPECT_THAT(modules[0], testing::HasSubstr("cuward_stacks_tests"));
    for (const std::string& line : modules) {
        EXPECT_THAT(line, testing::HasSubstr("build_id"));
    }
}

struct AtThreadEnd {
    Stacks* stacks = nullptr;
    ~AtThreadEnd() {
        if (stacks != nullptr) {
            EXPECT_NE(caller_a(*stacks), StackId{});
        }
    }
};

TEST_F(StacksTest, DestructorsOfThreadLocalObjects) {
    std::thread([this] {
        static thread_local AtThreadEnd at_end;
        at_end.stacks = stacks.get();
        caller_a(*stacks);
    }).join();
}

}  // namespace
}  // namespace cuward
