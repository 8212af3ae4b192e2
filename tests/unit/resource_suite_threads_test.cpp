// Many threads at once, whatever the stack: accounting stays exact, and each block is freed once.
#include <atomic>
#include <random>

#include "tests/unit/resource_suite.hpp"

namespace cuward::testing {
namespace {

constexpr int kThreads = 8;
constexpr int kOperations = 2000;
constexpr int kStreams = 5;

/// One thread's share of allocations, uses and frees.
class Worker {
  public:
    Worker(DeviceMemoryResource& resource, int seed)
        : resource_(resource), random_(static_cast<unsigned>(seed)) {}

    /// Gives the blocks that it has not freed.
    std::vector<DeviceBlock> run() {
        for (int i = 0; i < kOperations; ++i) {
            step();
        }
        return std::move(blocks_);
    }

  private:
    void step() {
        if (blocks_.empty() || pick(3) == 0) {
            allocate();
        } else if (pick(3) == 0) {
            free(take());
        } else {
            use(blocks_[pick(blocks_.size())]);
        }
    }
    void allocate() {
        const StreamId stream = pick(2) == 0 ? kNoStream : any_stream();
        const auto block = resource_.allocate(1 + pick(5000), stream, AllocTag{});
        ASSERT_TRUE(block);
        blocks_.push_back(*block);
    }
    void free(const DeviceBlock& block) {
        const bool ordered = block.alloc_stream != kNoStream;
        switch (pick(3)) {
            case 0:
                EXPECT_TRUE(resource_.deallocate_synchronously(block));
                break;
            case 1:
                EXPECT_TRUE(ordered ? resource_.deallocate_on(block, any_stream())
                                    : resource_.deallocate(block));
                break;
            default:
                EXPECT_TRUE(resource_.deallocate(block));
        }
        EXPECT_FALSE(resource_.deallocate(block));
    }
    void use(const DeviceBlock& block) {
        const Access access = pick(2) == 0 ? Access::Read : Access::ReadWrite;
        const StreamId stream = any_stream();
        EXPECT_TRUE(resource_.prepare_block_use(BlockId(block), stream, access));
        EXPECT_TRUE(resource_.finish_block_use(BlockId(block), stream, access));
        EXPECT_TRUE(resource_.record_block_use(BlockId(block), any_stream()));
    }
    DeviceBlock take() {
        std::swap(blocks_[pick(blocks_.size())], blocks_.back());
        const DeviceBlock block = blocks_.back();
        blocks_.pop_back();
        return block;
    }
    std::size_t pick(std::size_t bound) { return random_() % bound; }
    StreamId any_stream() { return StreamId{100 + pick(kStreams)}; }

    DeviceMemoryResource& resource_;
    std::mt19937 random_;
    std::vector<DeviceBlock> blocks_;
};

template <typename Stack>
class ResourceSuiteThreads : public ResourceSuite<Stack> {
  protected:
    ResourceSuiteThreads() { this->driver().stop_recording(); }
};
TYPED_TEST_SUITE(ResourceSuiteThreads, Stacks, StackName);

TYPED_TEST(ResourceSuiteThreads, AccountingStaysExact) {
    std::mutex mutex;
    std::vector<DeviceBlock> kept;
    this->in_threads(kThreads, [&](int seed) {
        const std::vector<DeviceBlock> mine = Worker(this->resource(), seed).run();
        const std::lock_guard lock(mutex);
        kept.insert(kept.end(), mine.begin(), mine.end());
    });
    this->settle();
    std::size_t bytes = 0;
    for (const DeviceBlock& block : kept) {
        bytes += block.bytes;
        EXPECT_TRUE(this->is_live(block));
    }
    EXPECT_EQ(this->resource().bytes_outstanding(), bytes);
    this->free_all(kept);
}

TYPED_TEST(ResourceSuiteThreads, OneOfManyFreesOfABlockSucceeds) {
    for (int round = 0; round < 100; ++round) {
        const DeviceBlock block = this->allocate(round % 2 == 0 ? kA : kNoStream);
        std::atomic<int> freed{0};
        this->in_threads(kThreads,
                         [&](int) { freed += this->resource().deallocate(block) ? 1 : 0; });
        EXPECT_EQ(freed, 1);
    }
}

TYPED_TEST(ResourceSuiteThreads, UsesOfOneBlockAreShared) {
    const DeviceBlock block = this->allocate(kNoStream);
    this->in_threads(kThreads, [&](int number) {
        const auto stream = StreamId{100 + static_cast<std::uint64_t>(number)};
        for (int i = 0; i < kOperations; ++i) {
            this->touch(block, stream, Access::Read);
        }
    });
    EXPECT_TRUE(this->resource().prepare_block_use(BlockId(block), kA, Access::Write));
    this->free_all({block});
}

}  // namespace
}  // namespace cuward::testing
