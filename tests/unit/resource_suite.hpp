// What every resource and every stack of them has to do: the stacks, and what their tests share.
// The tests are in resource_suite_*_test.cpp.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/resource/async_cuda_resource.hpp"
#include "core/resource/debug_guard_resource.hpp"
#include "core/resource/direct_cuda_resource.hpp"
#include "core/resource/global_device_budget.hpp"
#include "core/resource/logging_resource.hpp"
#include "core/resource/resource_stack.hpp"
#include "tests/unit/resource_fixture.hpp"
#include "tests/unit/scripted_driver.hpp"

namespace cuward::testing {

/// A log that counts what has succeeded.
class CountingLog final : public ResourceLog {
  public:
    void memory(const MemoryOperation& operation) override {
        const std::lock_guard lock(mutex_);
        counts_[operation.kind] += operation.result ? 1 : 0;
    }
    int count(MemoryOperationKind kind) const {
        const std::lock_guard lock(mutex_);
        const auto found = counts_.find(kind);
        return found == counts_.end() ? 0 : found->second;
    }

  private:
    mutable std::mutex mutex_;
    std::map<MemoryOperationKind, int> counts_;
};

/// A guard that finds nothing has nothing to tell.
class NoReports final : public GuardReports {
  public:
    bool is_capturing() override { return false; }
    void written_out_of_bounds(const BlockId& /*block*/, Address /*first_bad*/) override {
        ADD_FAILURE() << "out of bounds";
    }
    void written_after_free(const BlockId& /*block*/, Address /*first_bad*/) override {
        ADD_FAILURE() << "use after free";
    }
    void note(std::string_view /*line*/) override {}
};

/// What a stack stands on.
struct Ground {
    ScriptedDriver driver;
    CountingLog log;
    NoReports reports;
    BudgetAccount account{std::uint64_t{1} << 40};
};

using Resource = std::unique_ptr<DeviceMemoryResource>;

struct Direct {
    static std::string name() { return "direct"; }
    static Resource make(Ground& ground) {
        return std::make_unique<DirectCudaResource>(CudaDevice(ground.driver.api), kDevice);
    }
};

struct Async {
    static std::string name() { return "async"; }
    static Resource make(Ground& ground) {
        return std::make_unique<AsyncCudaResource>(CudaDevice(ground.driver.api), kDevice);
    }
};

template <typename Inner>
struct Guarded {
    static std::string name() { return "guarded_" + Inner::name(); }
    static Resource make(Ground& ground) {
        // So little that blocks are released and held back in turn.
        const GuardOptions options{.quarantine_bytes = 50'000};
        return std::make_unique<DebugGuardResource>(
            Inner::make(ground), CudaDevice(ground.driver.api), options, ground.reports);
    }
};

template <typename Inner>
struct Logged {
    static std::string name() { return "logged_" + Inner::name(); }
    static Resource make(Ground& ground) {
        return std::make_unique<LoggingResource>(Inner::make(ground), ground.log);
    }
};

template <typename Inner>
struct Budgeted {
    static std::string name() { return "budgeted_" + Inner::name(); }
    static Resource make(Ground& ground) {
        return std::make_unique<GlobalDeviceBudget>(Inner::make(ground), ground.account);
    }
};

/// As the settings have it made.
struct Everything {
    static std::string name() { return "everything"; }
    static Resource make(Ground& ground) {
        Settings settings;
        settings.backend = Backend::Async;
        settings.guard = true;
        settings.quarantine_bytes = 50'000;
        settings.log_memory = true;
        return make_resource_stack(CudaDevice(ground.driver.api), kDevice, settings,
                                   &ground.account, ground.log, ground.reports);
    }
};

using Stacks = ::testing::Types<Direct, Async, Guarded<Direct>, Guarded<Async>, Logged<Direct>,
                                Budgeted<Direct>, Logged<Budgeted<Direct>>, Logged<Budgeted<Async>>,
                                Everything>;

struct StackName {
    template <typename Stack>
    static std::string GetName(int /*index*/) {
        return Stack::name();
    }
};

/// Not a template, so that there is one of it. Checks at the end of every test that nothing is
/// lost, nothing has been freed twice, and all accounts are even.
class ResourceSuiteTest : public ::testing::Test {
  protected:
    using Make = Resource (*)(Ground&);
    explicit ResourceSuiteTest(Make make) : make_(make), resource_(make(ground_)) {}

    void TearDown() override { expect_nothing_left(); }

    DeviceMemoryResource& resource() { return *resource_; }
    ScriptedDriver& driver() { return ground_.driver; }
    Ground& ground() { return ground_; }

    DeviceBlock allocate(StreamId stream, std::size_t bytes = 1000) {
        const auto block = resource_->allocate(bytes, stream, AllocTag{});
        EXPECT_TRUE(block.has_value());
        return block.value_or(DeviceBlock{});
    }

    /// One access that has been queued.
    void touch(const DeviceBlock& block, StreamId stream, Access access) {
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, access));
        EXPECT_TRUE(resource_->finish_block_use(BlockId(block), stream, access));
    }

    /// The waits that an access queues, like "s10 before s20".
    std::vector<std::string> waits_of(const DeviceBlock& block, StreamId stream, Access access) {
        driver().take_calls();
        EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, access));
        return waits_in(driver().take_calls());
    }
    static std::vector<std::string> waits_in(const Calls& calls);

    bool is_live(const DeviceBlock& block) const {
        const auto found = resource_->find(block.ptr);
        return found && BlockId(*found) == BlockId(block);
    }

    /// The device is done with everything: what was freed is free.
    void settle() {
        driver().complete_everything();
        resource_->reap_pending();
    }

    /// The resource ends, and another takes its place.
    void start_anew() {
        expect_nothing_left();
        resource_ = make_(ground_);
    }

    /// In the middle of a test: a block in it need not be freed.
    void free_all(const std::vector<DeviceBlock>& blocks) {
        for (const DeviceBlock& block : blocks) {
            EXPECT_TRUE(resource_->deallocate(block));
        }
    }

    template <typename Body>
    static void in_threads(int count, Body body) {
        std::vector<std::thread> threads;
        threads.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            threads.emplace_back(body, i);
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

  private:
    void expect_nothing_left() {
        settle();
        EXPECT_EQ(resource_->bytes_outstanding(), 0U);
        EXPECT_EQ(ground_.account.current(), 0U);
        using Kind = MemoryOperationKind;
        const CountingLog& log = ground_.log;
        EXPECT_EQ(log.count(Kind::Allocate), log.count(Kind::Free) + log.count(Kind::Forget));
        resource_.reset();
        EXPECT_EQ(ground_.account.current(), 0U);
        EXPECT_EQ(driver().live_allocations(), 0U);
        EXPECT_EQ(driver().live_events(), 0U);
        EXPECT_EQ(driver().live_streams(), 0U);
        EXPECT_EQ(driver().live_pools(), 0U);
        EXPECT_EQ(driver().live_modules(), 0U);
        EXPECT_EQ(driver().live_host_memory(), 0U);
        EXPECT_EQ(driver().violations(), 0);
    }

    Ground ground_;
    Make make_;
    Resource resource_;
};

inline std::vector<std::string> ResourceSuiteTest::waits_in(const Calls& calls) {
    std::map<std::string, std::string> recorded;
    std::vector<std::string> waits;
    for (const std::string& call : calls) {
        const std::size_t open = call.find('(');
        const std::size_t comma = call.find(", ");
        const std::string function = call.substr(0, open);
        if (comma == std::string::npos) {
            continue;
        }
        const std::string first = call.substr(open + 1, comma - open - 1);
        const std::string second = call.substr(comma + 2, call.size() - comma - 3);
        if (function == "cuEventRecord") {
            recorded[first] = second;
        } else if (function == "cuStreamWaitEvent") {
            waits.push_back(recorded[second] + " before " + first);
        }
    }
    return waits;
}

template <typename Stack>
class ResourceSuite : public ResourceSuiteTest {
  protected:
    ResourceSuite() : ResourceSuiteTest(&Stack::make) {}
};

}  // namespace cuward::testing
