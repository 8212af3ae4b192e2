// Memory from outside the process: opened by an IPC handle, imported into a pool, or made by
// another API. What others do with it cannot be seen.
#include "interpose/driver_library.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// How far the memory at an address reaches, as no such call tells it.
std::uint64_t bytes_from(CUdeviceptr ptr) {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    const bool is_known =
        real<Hook::cuMemGetAddressRange_v2_>()(&base, &bytes, ptr) == CUDA_SUCCESS;
    return is_known ? base + bytes - ptr : 0;
}

void watch_import(CUresult result, const char* api, BlockKind kind, const CUdeviceptr* ptr) {
    watch_allocation(result, api, [&] {
        return NewBlock{.kind = kind, .ptr = *ptr, .bytes = bytes_from(*ptr), .is_imported = true};
    });
}

}  // namespace
}  // namespace cuward

CUresult hook_cuIpcOpenMemHandle(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuIpcOpenMemHandle_>()(ptr, handle, flags);
    watch_import(result, "cuIpcOpenMemHandle", BlockKind::Ipc, ptr);
    return result;
}

CUresult hook_cuIpcOpenMemHandle_v2(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned int flags) {
    using namespace cuward;
    const CUresult result = real<Hook::cuIpcOpenMemHandle_v2_>()(ptr, handle, flags);
    watch_import(result, "cuIpcOpenMemHandle", BlockKind::Ipc, ptr);
    return result;
}

CUresult hook_cuIpcCloseMemHandle(CUdeviceptr ptr) {
    using namespace cuward;
    return watch_free(
        {.kind = FreeKind::Ipc, .ptr = ptr}, "cuIpcCloseMemHandle",
        [ptr](Tool*, const BlockId&) { return real<Hook::cuIpcCloseMemHandle_>()(ptr); });
}

CUresult hook_cuMemPoolImportPointer(CUdeviceptr* ptr, CUmemoryPool pool,
                                     CUmemPoolPtrExportData* exported) {
    using namespace cuward;
    const CUresult result = real<Hook::cuMemPoolImportPointer_>()(ptr, pool, exported);
    watch_import(result, "cuMemPoolImportPointer", BlockKind::Imported, ptr);
    return result;
}

CUresult hook_cuExternalMemoryGetMappedBuffer(CUdeviceptr* ptr, CUexternalMemory memory,
                                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* buffer) {
    using namespace cuward;
    const CUresult result = real<Hook::cuExternalMemoryGetMappedBuffer_>()(ptr, memory, buffer);
    watch_allocation(result, "cuExternalMemoryGetMappedBuffer", [&] {
        return NewBlock{
            .kind = BlockKind::Imported, .ptr = *ptr, .bytes = buffer->size, .is_imported = true};
    });
    return result;
}
