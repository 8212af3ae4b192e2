// Limits in bytes: what is refused, with which numbers, and when memory is there again.
#include <atomic>
#include <thread>

#include "core/resource/async_cuda_resource.hpp"
#include "core/resource/budget_charges.hpp"
#include "core/resource/global_device_budget.hpp"
#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

TEST(BudgetAccount, RefusesWhatHasNoRoomWithTheNumbers) {
    BudgetAccount account(1000);
    ASSERT_TRUE(account.reserve(700));
    const auto refused = account.reserve(301);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().requested, 301U);
    EXPECT_EQ(refused.error().current, 700U);
    EXPECT_EQ(refused.error().remaining, 300U);
    EXPECT_EQ(refused.error().limit, 1000U);
    EXPECT_EQ(account.current(), 700U);
    EXPECT_TRUE(account.reserve(300));
    account.release(1000);
    EXPECT_EQ(account.remaining(), 1000U);
}

TEST(BudgetAccount, ARequestThatWouldOverflowIsRefused) {
    BudgetAccount account(~std::uint64_t{0});
    ASSERT_TRUE(account.reserve(10));
    EXPECT_FALSE(account.reserve(~std::uint64_t{0}));
    EXPECT_EQ(account.current(), 10U);
}

TEST(BudgetAccounts, AreOneForEachDeviceOrOneForAllOrNone) {
    BudgetAccounts none(std::nullopt, 4);
    EXPECT_EQ(none.of(0), nullptr);
    BudgetAccounts each(BudgetLimit{.bytes = 8}, 4);
    ASSERT_NE(each.of(0), nullptr);
    EXPECT_NE(each.of(0), each.of(3));
    EXPECT_EQ(each.of(4), nullptr);
    EXPECT_EQ(each.of(-1), nullptr);
    BudgetAccounts shared(BudgetLimit{.bytes = 8, .for_process = true}, 4);
    ASSERT_NE(shared.of(0), nullptr);
    EXPECT_EQ(shared.of(0), shared.of(3));
    EXPECT_EQ(shared.of(4), nullptr);
}

constexpr std::size_t kLimit = 3000;

class ResourceBudget : public ::testing::Test {
  protected:
    std::unique_ptr<GlobalDeviceBudget> make(int device) {
        return std::make_unique<GlobalDeviceBudget>(
            std::make_unique<DirectCudaResource>(CudaDevice(driver_.api), device), account_);
    }
    DeviceBlock allocate(std::size_t bytes, StreamId stream = kNoStream) {
        const auto block = resource_->allocate(bytes, stream, AllocTag{});
        EXPECT_TRUE(block);
        return block.value_or(DeviceBlock{});
    }
    void expect_refused(DeviceMemoryResource& resource, std::size_t bytes) {
        driver_.take_calls();
        const auto block = resource.allocate(bytes, kNoStream, AllocTag{});
        expect_failure(block, ResourceError::OutOfBudget, CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_EQ(block.error().refusal.requested, bytes);
        EXPECT_EQ(block.error().refusal.limit, kLimit);
        EXPECT_EQ(block.error().refusal.current + block.error().refusal.remaining, kLimit);
        EXPECT_THAT(driver_.take_calls(), Not(Contains(StartsWith("cuMemAlloc"))));
    }
    ScriptedDriver driver_;
    BudgetAccount account_{kLimit};
    std::unique_ptr<GlobalDeviceBudget> resource_ = make(kDevice);
};

TEST_F(ResourceBudget, WhatIsFreedIsThereAgain) {
    const DeviceBlock block = allocate(2000);
    expect_refused(*resource_, 1001);
    const DeviceBlock rest = allocate(1000);
    ASSERT_TRUE(resource_->deallocate(block));
    EXPECT_EQ(account_.current(), 1000U);
    allocate(2000);
    ASSERT_TRUE(resource_->forget(BlockId(rest)));
    EXPECT_EQ(account_.current(), 2000U);
}

TEST_F(ResourceBudget, MemoryCountsUntilItsFreeIsDone) {
    const DeviceBlock block = allocate(2000, kA);
    ASSERT_TRUE(resource_->deallocate(block));
    EXPECT_EQ(account_.current(), 2000U);
    expect_refused(*resource_, 2000);
    driver_.complete_everything();
    allocate(2000);  // asks about the free before it would refuse
    EXPECT_EQ(account_.current(), 2000U);
}

TEST_F(ResourceBudget, FreesOfOtherDevicesCountToo) {
    const std::unique_ptr<GlobalDeviceBudget> other = make(1);
    const DeviceBlock block = allocate(2000, kA);
    expect_refused(*other, 2000);
    ASSERT_TRUE(resource_->deallocate(block));
    driver_.complete_everything();
    EXPECT_TRUE(other->allocate(2000, kNoStream, AllocTag{}));
}

TEST_F(ResourceBudget, WaitsForFreesThatCudaWouldHaveWaitedFor) {
    GlobalDeviceBudget pooled(std::make_unique<AsyncCudaResource>(CudaDevice(driver_.api), kDevice),
                              account_);
    const auto block = pooled.allocate(2000, kNoStream, AllocTag{});
    ASSERT_TRUE(block);
    EXPECT_TRUE(pooled.prepare_block_use(BlockId(*block), kA, Access::Write));
    EXPECT_TRUE(pooled.finish_block_use(BlockId(*block), kA, Access::Write));
    ASSERT_TRUE(pooled.deallocate_synchronously(*block));
    EXPECT_EQ(account_.current(), 2000U);
    const auto next = pooled.allocate(2000, kNoStream, AllocTag{});
    ASSERT_TRUE(next);
    ASSERT_TRUE(pooled.deallocate_synchronously(*next));
}

TEST_F(ResourceBudget, AnAllocationThatFailsTakesNothing) {
    driver_.fail_next("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
    expect_failure(resource_->allocate(2000, kNoStream, AllocTag{}), ResourceError::Driver,
                   CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(account_.current(), 0U);
    EXPECT_FALSE(resource_->allocate(0, kNoStream, AllocTag{}));
    EXPECT_EQ(account_.current(), 0U);
}

TEST_F(ResourceBudget, AResourceThatEndsGivesEverythingBack) {
    allocate(2000);
    resource_.reset();
    EXPECT_EQ(account_.current(), 0U);
}

/// A device that notices when more memory is out than was allowed.
class Watchman final : public ForwardingResource {
  public:
    using ForwardingResource::ForwardingResource;

    ResourceResult<DeviceBlock> allocate(std::size_t bytes, StreamId stream,
                                         AllocTag tag) override {
        auto block = inner().allocate(bytes, stream, tag);
        const std::size_t now = bytes_outstanding();
        std::size_t most = most_;
        while (now > most && !most_.compare_exchange_weak(most, now)) {
        }
        return block;
    }
    std::size_t most() const { return most_; }

  private:
    std::atomic<std::size_t> most_{0};
};

TEST_F(ResourceBudget, ManyThreadsNeverExceedIt) {
    driver_.stop_recording();
    driver_.complete_everything();
    auto watchman = std::make_unique<Watchman>(
        std::make_unique<DirectCudaResource>(CudaDevice(driver_.api), kDevice));
    const Watchman& seen = *watchman;
    GlobalDeviceBudget budget(std::move(watchman), account_);
    std::atomic<int> refused{0};
    constexpr unsigned kThreads = 8;
    std::atomic<unsigned> started{0};
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < kThreads; ++seed) {
        threads.emplace_back([&, seed] {
            std::vector<DeviceBlock> mine;
            mine.push_back(*budget.allocate(300, kNoStream, {}));
            for (++started; started < kThreads;) {
                std::this_thread::yield();
            }
            for (unsigned i = 0; i < 3000; ++i) {
                const StreamId stream = (i + seed) % 2 == 0 ? kNoStream : kA;
                const auto block = budget.allocate(100 + (i * 7 + seed) % 900, stream, {});
                if (block) {
                    mine.push_back(*block);
                } else {
                    ++refused;
                }
                if (!block || mine.size() == 5) {
                    for (const DeviceBlock& one : mine) {
                        EXPECT_TRUE(budget.deallocate(one));
                    }
                    mine.clear();
                }
            }
            for (const DeviceBlock& one : mine) {
                EXPECT_TRUE(budget.deallocate(one));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    budget.reap_pending();
    EXPECT_LE(seen.most(), kLimit);
    EXPECT_GT(seen.most(), kLimit / 2);
    EXPECT_GT(refused, 0);
    EXPECT_EQ(account_.current(), 0U);
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

class BudgetChargesTest : public ::testing::Test {
  protected:
    void charge(Address address, std::uint64_t bytes, ContextId context = kContext) {
        ASSERT_TRUE(account_.reserve(bytes));
        charges_.add(address, {.account = &account_, .bytes = bytes, .context = context});
    }

    BudgetAccount account_{1000};
    BudgetCharges charges_;
};

TEST_F(BudgetChargesTest, EndWithAFreeThatSucceeds) {
    charge(0x1000, 300);
    const auto failed = charges_.take(0x1000);
    ASSERT_TRUE(failed);
    EXPECT_FALSE(charges_.take(0x1000));
    charges_.end(0x1000, failed, false);
    EXPECT_EQ(account_.current(), 300U);
    charges_.end(0x1000, charges_.take(0x1000), true);
    EXPECT_EQ(account_.current(), 0U);
    charges_.end(0x1000, charges_.take(0x1000), true);
    EXPECT_EQ(account_.current(), 0U);
}

TEST_F(BudgetChargesTest, EndWithTheirContext) {
    charge(0x1000, 300);
    charge(0x2000, 400, kOtherContext);
    charges_.forget_context(kContext);
    EXPECT_EQ(account_.current(), 400U);
}

TEST_F(BudgetChargesTest, OfAnAddressGivenAgainReplaceTheOld) {
    charge(0x1000, 300);
    charge(0x1000, 200);
    EXPECT_EQ(account_.current(), 200U);
}

}  // namespace
}  // namespace cuward::testing
