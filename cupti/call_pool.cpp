#include "cupti/call_pool.hpp"

namespace cuward::cupti {
namespace {

thread_local CallPool* pool = nullptr;
thread_local bool thread_ends = false;

/// Frees the pool at the end of its thread.
struct Owner {
    ~Owner() {
        thread_ends = true;
        delete pool;
        pool = nullptr;
    }
};
thread_local Owner owner;

}  // namespace

CallPool& CallPool::of_this_thread() {
    if (pool == nullptr) {
        pool = new CallPool;
        if (!thread_ends) {
            // Constructed by being named. Destructors of other thread-local objects that call CUDA
            // after ours has run get a pool that nobody frees.
            static_cast<void>(&owner);
        }
    }
    return *pool;
}

}  // namespace cuward::cupti
