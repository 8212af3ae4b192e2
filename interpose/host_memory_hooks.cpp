// Pinned host memory: allocated by the driver, or the program's own and registered with it.
#include "interpose/driver_library.hpp"
#include "interpose/pool_memory.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

Address address(const void* ptr) {
    return reinterpret_cast<Address>(ptr);
}

void watch_host_allocation(CUresult result, const char* api, void* const* ptr, std::size_t bytes) {
    watch_allocation(result, api, [&] {
        return NewBlock{.kind = BlockKind::Host, .ptr = address(*ptr), .bytes = bytes};
    });
}

void watch_registration(CUresult result, const void* ptr, std::size_t bytes) {
    watch_allocation(result, "cuMemHostRegister", [&] {
        return NewBlock{.kind = BlockKind::Registered, .ptr = address(ptr), .bytes = bytes};
    });
}

}  // namespace
}  // namespace cuward

CUresult hook_cuMemAllocHost_v2(void** ptr, std::size_t bytes) {
    using namespace cuward;
    const CUresult result =
        with_pool_memory([&] { return real<Hook::cuMemAllocHost_v2_>()(ptr, bytes); });
    watch_host_allocation(result, "cuMemAllocHost", ptr, bytes);
    return result;
}

CUresult hook_cuMemHostAlloc(void** ptr, std::size_t bytes, unsigned int flags) {
    using namespace cuward;
    const CUresult result =
        with_pool_memory([&] { return real<Hook::cuMemHostAlloc_>()(ptr, bytes, flags); });
    watch_host_allocation(result, "cuMemHostAlloc", ptr, bytes);
    return result;
}

CUresult hook_cuMemFreeHost(void* ptr) {
    using namespace cuward;
    return watch_free({.kind = FreeKind::Host, .ptr = address(ptr)}, "cuMemFreeHost",
                      [ptr](Tool*, const BlockId&) { return real<Hook::cuMemFreeHost_>()(ptr); });
}

CUresult hook_cuMemHostRegister(void* ptr, std::size_t bytes, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemHostRegister_>()(ptr, bytes, flags);
    watch_registration(result, ptr, bytes);
    return result;
}

CUresult hook_cuMemHostRegister_v2(void* ptr, std::size_t bytes, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemHostRegister_v2_>()(ptr, bytes, flags);
    watch_registration(result, ptr, bytes);
    return result;
}

CUresult hook_cuMemHostUnregister(void* ptr) {
    using namespace cuward;
    return watch_free(
        {.kind = FreeKind::Unregister, .ptr = address(ptr)}, "cuMemHostUnregister",
        [ptr](Tool*, const BlockId&) { return real<Hook::cuMemHostUnregister_>()(ptr); });
}
