// Every driver call fails once, whatever the stack: nothing is lost, nothing freed twice, and the
// accounts stay exact.
#include <functional>

#include "tests/unit/resource_suite.hpp"

namespace cuward::testing {
namespace {

template <typename Stack>
class ResourceSuiteFailures : public ResourceSuite<Stack> {
  protected:
    /// Blocks of both kinds, used by several streams, and freed in each way; what fails is done
    /// again.
    void live_through() {
        for (const StreamId stream : {kNoStream, kA}) {
            for (int way = 0; way < 3; ++way) {
                if (const auto block = allocated(stream)) {
                    use(*block);
                    free_in(way, *block);
                }
            }
        }
        this->resource().reap_pending();
    }

  private:
    static constexpr std::size_t kBytes = 700;

    std::optional<DeviceBlock> allocated(StreamId stream) {
        const std::size_t before = this->resource().bytes_outstanding();
        const auto block = this->resource().allocate(kBytes, stream, AllocTag{});
        if (block) {
            return *block;
        }
        EXPECT_EQ(block.error().error, ResourceError::Driver);
        EXPECT_EQ(this->resource().bytes_outstanding(), before);
        const auto again = this->resource().allocate(kBytes, stream, AllocTag{});
        EXPECT_TRUE(again);
        return again ? std::optional(*again) : std::nullopt;
    }

    void use(const DeviceBlock& block) {
        for (const auto& [stream, access] :
             {std::pair(kA, Access::Write), std::pair(kB, Access::Read),
              std::pair(kC, Access::ReadWrite), std::pair(kPerThreadStream, Access::Read)}) {
            if (!this->resource().prepare_block_use(BlockId(block), stream, access)) {
                EXPECT_TRUE(this->is_live(block));
                EXPECT_TRUE(this->resource().prepare_block_use(BlockId(block), stream, access));
            }
            EXPECT_TRUE(this->resource().finish_block_use(BlockId(block), stream, access));
        }
    }

    void free_in(int way, const DeviceBlock& block) {
        const auto free = [&] {
            return way == 0   ? this->resource().deallocate(block)
                   : way == 1 ? this->resource().deallocate_on(block, StreamId{40})
                              : this->resource().deallocate_synchronously(block);
        };
        if (!free()) {
            EXPECT_TRUE(this->is_live(block));
            EXPECT_GE(this->resource().bytes_outstanding(), kBytes);
            EXPECT_TRUE(free());
        }
        EXPECT_FALSE(this->resource().find(block.ptr));
    }
};
TYPED_TEST_SUITE(ResourceSuiteFailures, Stacks, StackName);

TYPED_TEST(ResourceSuiteFailures, OfEachCallInTurnLoseNothing) {
    this->driver().set_stream_context(kC, kOtherContext);
    for (int nth = 1;; ++nth) {
        SCOPED_TRACE(nth);
        this->driver().fail_call(nth, CUDA_ERROR_LAUNCH_FAILED);
        this->live_through();
        const bool is_through = this->driver().cancel_failure();
        this->start_anew();
        if (is_through || this->HasFailure()) {
            EXPECT_GT(nth, 30);
            break;
        }
    }
}

TYPED_TEST(ResourceSuiteFailures, OfAnAllocationCarryTheDriversResult) {
    for (const StreamId stream : {kNoStream, kA}) {
        for (int nth = 1; nth < 50; ++nth) {
            this->driver().fail_call(nth, CUDA_ERROR_OUT_OF_MEMORY);
            const auto block = this->resource().allocate(100, stream, AllocTag{});
            if (this->driver().cancel_failure()) {
                this->free_all({*block});
                break;
            }
            if (block) {
                this->free_all({*block});
            } else {
                expect_failure(block, ResourceError::Driver, CUDA_ERROR_OUT_OF_MEMORY);
            }
        }
    }
}

TYPED_TEST(ResourceSuiteFailures, OfAFreeLeaveTheUsesOutstanding) {
    const DeviceBlock block = this->allocate(kA);
    this->touch(block, kB, Access::Write);
    this->touch(block, kC, Access::Read);
    this->driver().fail_next("cuMemFreeAsync", CUDA_ERROR_UNKNOWN);
    this->driver().take_calls();
    if (!this->resource().deallocate(block)) {
        const auto first = this->waits_in(this->driver().take_calls());
        ASSERT_TRUE(this->resource().deallocate(block));
        EXPECT_EQ(this->waits_in(this->driver().take_calls()), first);
        EXPECT_GE(first.size(), 2U);
    }
    this->driver().cancel_failure();
}

}  // namespace
}  // namespace cuward::testing
