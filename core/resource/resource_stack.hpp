// The resources of one device, one over the other.
#pragma once

#include <memory>

#include "core/resource/budget_account.hpp"
#include "core/resource/cuda_device.hpp"
#include "core/resource/device_memory_resource.hpp"
#include "core/resource/guard/guard_reports.hpp"
#include "core/resource/resource_log.hpp"
#include "core/settings.hpp"

namespace cuward {

/// Outermost first: logging, budget, guard, and at the bottom the direct or the pooled resource;
/// those that are not asked for are left out. The caller keeps `budget` (null: no limit), `log` and
/// `reports` alive.
std::unique_ptr<DeviceMemoryResource> make_resource_stack(CudaDevice device, int device_ordinal,
                                                          const Settings& settings,
                                                          BudgetAccount* budget, ResourceLog& log,
                                                          GuardReports& reports);

}  // namespace cuward
