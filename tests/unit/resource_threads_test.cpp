// Many threads at once: accounting stays exact, and each block is freed once.
#include <malloc.h>

#include <random>
#include <thread>

#include "tests/unit/resource_fixture.hpp"

namespace cuward::testing {
namespace {

constexpr int kThreads = 8;
constexpr int kOperations = 4000;
constexpr int kStreams = 5;

class ResourceThreads : public ResourceTest {
  protected:
    ResourceThreads() { driver_.stop_recording(); }

    template <typename Body>
    static void in_threads(Body body) {
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back(body, i);
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
};

/// One thread's share of allocations, uses and frees.
class Worker {
  public:
    Worker(DirectCudaResource& resource, int seed)
        : resource_(resource), random_(static_cast<unsigned>(seed)) {}

    void run(std::vector<DeviceBlock>& kept) {
        for (int i = 0; i < kOperations; ++i) {
            step();
        }
        kept.insert(kept.end(), blocks_.begin(), blocks_.end());
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
        const bool pooled = block.alloc_stream != kNoStream;
        switch (pick(3)) {
            case 0:
                EXPECT_TRUE(resource_.deallocate_synchronously(block));
                break;
            case 1:
                EXPECT_TRUE(pooled ? resource_.deallocate_on(block, any_stream())
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

    DirectCudaResource& resource_;
    std::mt19937 random_;
    std::vector<DeviceBlock> blocks_;
};

TEST_F(ResourceThreads, AccountingStaysExact) {
    std::mutex mutex;
    std::vector<DeviceBlock> kept;
    in_threads([&](int seed) {
        std::vector<DeviceBlock> mine;
        Worker(*resource_, seed).run(mine);
        const std::lock_guard lock(mutex);
        kept.insert(kept.end(), mine.begin(), mine.end());
    });
    driver_.complete_everything();
    resource_->reap_pending();
    std::size_t bytes = 0;
    for (const DeviceBlock& block : kept) {
        bytes += block.bytes;
        EXPECT_TRUE(resource_->find(block.ptr));
    }
    EXPECT_EQ(resource_->bytes_outstanding(), bytes);
    EXPECT_EQ(driver_.live_allocations(), kept.size());
}

TEST_F(ResourceThreads, OneOfManyFreesOfABlockSucceeds) {
    for (int round = 0; round < 200; ++round) {
        const DeviceBlock block = allocate(round % 2 == 0 ? kA : kNoStream);
        std::atomic<int> freed{0};
        in_threads([&](int) { freed += resource_->deallocate(block) ? 1 : 0; });
        EXPECT_EQ(freed, 1);
    }
    EXPECT_EQ(driver_.live_allocations(), 0U);
}

TEST_F(ResourceThreads, UsesOfOneBlockAreShared) {
    const DeviceBlock block = allocate(kNoStream);
    in_threads([&](int number) {
        const auto stream = StreamId{100 + static_cast<std::uint64_t>(number)};
        for (int i = 0; i < kOperations; ++i) {
            EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), stream, Access::Read));
            EXPECT_TRUE(resource_->finish_block_use(BlockId(block), stream, Access::Read));
        }
    });
    const std::size_t before = driver_.live_events();
    EXPECT_TRUE(resource_->prepare_block_use(BlockId(block), kA, Access::Write));
    EXPECT_EQ(before, 0U);
    EXPECT_EQ(driver_.live_events(), 1U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ResourceMemory, OfALiveBlockIsSmall) {
    constexpr int kBlocks = 1'000'000;
    DriverApi driver;
    driver.mem_alloc = [](CUdeviceptr* address, std::size_t bytes) {
        static CUdeviceptr next = 0x7f0000000000;
        *address = next;
        next += bytes;
        return CUDA_SUCCESS;
    };
    const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    DirectCudaResource resource(CudaDevice(driver, &observed_order()), kDevice);
    for (int i = 0; i < kBlocks; ++i) {
        ASSERT_TRUE(resource.allocate(512, kNoStream, AllocTag{}));
    }
    const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    EXPECT_LE((after - before) / kBlocks, 150U);
    RecordProperty("bytes_per_block", static_cast<int>((after - before) / kBlocks));
}
#endif

}  // namespace
}  // namespace cuward::testing
