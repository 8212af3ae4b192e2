// Calls between their entry and their return.
#include "cupti/call_pool.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/per_thread.hpp"

namespace cuward::cupti {
namespace {

TEST(CallPool, ReusesItsObjects) {
    CallPool pool;
    Call* const first = &pool.enter();
    EXPECT_EQ(pool.leave(first), first);
    EXPECT_EQ(&pool.enter(), first);
}

TEST(CallPool, CallsNest) {
    CallPool pool;
    Call* const outer = &pool.enter();
    Call* const inner = &pool.enter();
    EXPECT_NE(outer, inner);
    EXPECT_EQ(pool.leave(inner), inner);
    EXPECT_EQ(pool.leave(outer), outer);
}

TEST(CallPool, AReturnWithoutAnEntryIsNoCall) {
    CallPool pool;
    EXPECT_EQ(pool.leave(nullptr), nullptr);
    int elsewhere = 0;
    Call* const call = &pool.enter();
    EXPECT_EQ(pool.leave(&elsewhere), nullptr);
    EXPECT_EQ(pool.leave(call), call);
    EXPECT_EQ(pool.leave(call), nullptr) << "it has returned already";
}

TEST(CallPool, CallsWhoseReturnNobodyTellsAreDropped) {
    CallPool pool;
    Call* const outer = &pool.enter();
    pool.enter();
    pool.enter();
    EXPECT_EQ(pool.leave(outer), outer);
    EXPECT_EQ(&pool.enter(), outer);
}

struct AtThreadEnd {
    bool armed = false;
    ~AtThreadEnd() {
        if (armed) {
            CallPool& pool = PerThread<CallPool>::get();
            Call* const call = &pool.enter();
            EXPECT_EQ(pool.leave(call), call);
        }
    }
};

TEST(CallPool, DestructorsOfThreadLocalObjectsMakeCallsToo) {
    std::thread([] {
        static thread_local AtThreadEnd at_end;
        at_end.armed = true;
        PerThread<CallPool>::get().enter();
    }).join();
}

}  // namespace
}  // namespace cuward::cupti
