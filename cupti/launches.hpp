// The memory a kernel launch touches: every word of its arguments that may point to a tracked
// block.
#pragma once

#include <cuda.h>

#include "cupti/call.hpp"
#include "cupti/decode.hpp"

namespace cuward::cupti {

struct LaunchArguments {
    CUfunction function = nullptr;  ///< or a CUkernel
    const char* symbol = nullptr;
    void** params = nullptr;  ///< one pointer a parameter
    void** extra = nullptr;   ///< or the whole parameter buffer, as CU_LAUNCH_PARAM_* say
};

void add_kernel_accesses(const Decoder& decoder, const LaunchArguments& launch, Call& call);

}  // namespace cuward::cupti
