// Makes a context current for a while.
#pragma once

#include "core/resource/driver_api.hpp"
#include "core/types.hpp"

namespace cuward {

/// Pushes a context unless it is current already, and pops it at the end. `result` must be success
/// before anything is done in the context.
class ContextScope {
  public:
    ContextScope(const DriverApi& driver, ContextId wanted) : driver_(driver) {
        if (wanted == 0) {
            result_ = CUDA_ERROR_INVALID_CONTEXT;
            return;
        }
        if (wanted == 0) {
            result_ = CUDA_ERROR_INVALID_CONTEXT;
            return;
        }
        CUcontext current = nullptr;
        result_ = driver.ctx_get_current(&current);
        if (result_ == CUDA_SUCCESS && reinterpret_cast<ContextId>(current) != wanted) {
            result_ = driver.ctx_push_current(reinterpret_cast<CUcontext>(wanted));
            pushed_ = result_ == CUDA_SUCCESS;
        }
    }
    ~ContextScope() {
        if (pushed_) {
            CUcontext popped = nullptr;
            driver_.ctx_pop_current(&popped);
        }
    }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

    CUresult result() const { return result_; }

  private:
    const DriverApi& driver_;
    CUresult result_ = CUDA_SUCCESS;
    bool pushed_ = false;
};

}  // namespace cuward
