#include <cstring>
#include <string_view>

#include "body.hpp"

namespace simgpu {
namespace {

struct ErrorText {
    CUresult error;
    const char* name;
    const char* text;
};

constexpr const char* unnamed = "an error of the driver";

constexpr ErrorText error_texts[] = {
#include "simgpu_errors.inc"
};

struct Wording {
    CUresult error;
    const char* text;
};

constexpr Wording wordings[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered region"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE,
     "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
     "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capture"},
    {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

const ErrorText* find_error(CUresult error) {
    for (const ErrorText& text : error_texts) {
        if (text.error == error) {
            return &text;
        }
    }
    return nullptr;
}

bool uses_default_stream(const ApiEntry& entry) {
    return entry.per_thread;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

SIM_API(cuInit, , 2000, unsigned int, Flags) {
    return Flags == 0 ? initialise() : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuDriverGetVersion, , 2020, int*, driverVersion) {
    SIM_REQUIRE(driverVersion != nullptr);
    *driverVersion = config().driver_version;
    return CUDA_SUCCESS;
}

SIM_API(cuGetErrorName, , 6000, CUresult, error, const char**, pStr) {
    SIM_REQUIRE(pStr != nullptr);
    const ErrorText* found = find_error(error);
    *pStr = found != nullptr ? found->name : nullptr;
    return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetErrorString, , 6000, CUresult, error, const char**, pStr) {
    SIM_REQUIRE(pStr != nullptr);
    *pStr = nullptr;
    const ErrorText* found = find_error(error);
    SIM_REQUIRE(found != nullptr);
    *pStr = found->text;
    for (const Wording& wording : wordings) {
        if (wording.error == error) {
            *pStr = wording.text;
        }
    }
    return CUDA_SUCCESS;
}

namespace {

CUresult find_function(const char* symbol, void** pfn, int version, cuuint64_t flags,
                       CUdriverProcAddressQueryResult* status) {
    SIM_REQUIRE(symbol != nullptr && pfn != nullptr && version <= config().driver_version);
    SIM_REQUIRE((flags & ~cuuint64_t{CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                                     CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM}) == 0);
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    const ApiEntry* best = nullptr;
    bool known = false;
    for (const ApiEntry* entry = ApiEntry::first(); entry != nullptr; entry = entry->next) {
        if (std::strcmp(entry->base, symbol) != 0) {
            continue;
        }
        known = true;
        if (entry->version > version || (uses_default_stream(*entry) && !per_thread)) {
            continue;
        }
        // The newest form; of one form, the per-thread one where it was asked for and exists.
        if (best == nullptr || entry->version > best->version ||
            (entry->version == best->version && entry->per_thread)) {
            best = entry;
        }
    }
    *pfn = best != nullptr ? best->address : nullptr;
    if (status != nullptr) {
        *status = best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return CUDA_SUCCESS;
}

}  // namespace

SIM_API(cuGetProcAddress, _v2, 12000, const char*, symbol, void**, pfn, int, cudaVersion,
        cuuint64_t, flags, CUdriverProcAddressQueryResult*, symbolStatus) {
    return find_function(symbol, pfn, cudaVersion, flags, symbolStatus);
}

SIM_API(cuGetProcAddress, , 11030, const char*, symbol, void**, pfn, int, cudaVersion, cuuint64_t,
        flags) {
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    SIM_TRY(find_function(symbol, pfn, cudaVersion, flags, &status));
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
