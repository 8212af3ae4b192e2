// How much memory the program is told there is.
#include <algorithm>

#include "interpose/driver_library.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

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
        guarded([&] { fit_into_budget(*tool, free, total); });
    }
    return result;
}
