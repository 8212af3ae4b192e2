// How much memory the program is told there is.
#include <algorithm>

#include "interpose/driver_library.hpp"
#include "interpose/pool_memory.hpp"

namespace cuward {
namespace {

/// What a pool holds unused is free to the program.
void count_pool_as_free(Tool& tool, std::size_t* free, const std::size_t* total) {
    const auto here = tool.driver.current();
    AsyncCudaResource* const pool = here ? pool_of(tool, here->device) : nullptr;
    if (pool != nullptr && free != nullptr && total != nullptr) {
        *free = std::min(*free + pool->unused_bytes(), *total);
    }
}

/// A program that sizes its caches by what the device has (frameworks do) keeps within the budget
/// only if it is told of the budget.
void fit_into_budget(Tool& tool, std::size_t* free, std::size_t* total) {
    const auto here = tool.driver.current();
    BudgetAccount* const budget = here ? tool.session.budget(here->device) : nullptr;
    if (budget != nullptr && free != nullptr && total != nullptr) {
        budget->reclaim();
        *free = std::min<std::size_t>(*free, budget->remaining());
        *total = std::min<std::size_t>(*total, budget->limit());
    }
}

}  // namespace
}  // namespace cuward

CUresult hook_cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemGetInfo_v2_>()(free, total);
    Tool* const tool = watching();
    if (tool != nullptr && result == CUDA_SUCCESS) {
        guarded([&] {
            count_pool_as_free(*tool, free, total);
            fit_into_budget(*tool, free, total);
        });
    }
    return result;
}
