// A batch of two copies of kBytes each.
#pragma once

#include <array>

#include "driver_app.hpp"

#if CUDA_VERSION >= 13000
namespace batch {

inline std::array<std::size_t, 2> sizes{kBytes, kBytes};
inline CUmemcpyAttributes attributes{CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, {}, {}, 0};
inline std::size_t first_of_attributes = 0;

}  // namespace batch
#define COPY_BOTH(to, from, stream)                                                          \
    cuMemcpyBatchAsync((to).data(), (from).data(), batch::sizes.data(), batch::sizes.size(), \
                       &batch::attributes, &batch::first_of_attributes, 1, stream)
#else  // older toolkits have it in another form, or not at all
#define COPY_BOTH(to, from, stream) cuMemcpyDtoDAsync((to)[1], (from)[1], kBytes, stream)
#endif
