// Makes every driver call that the tool takes over, rightly and wrongly, and prints the results,
// which must be the same with and without the tool. The driver is reached as programs do: linked
// (CUWARD_LINKED), or by an argument: `dlsym`, `cuGetProcAddress` or `cuGetProcAddress_v2`.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

struct Driver {
    decltype(&::cuInit) init;
    decltype(&::cuDevicePrimaryCtxRetain) primary_retain;
    decltype(&::cuDevicePrimaryCtxRelease) primary_release;
    decltype(&::cuDevicePrimaryCtxReset) primary_reset;
    decltype(&::cuCtxSetCurrent) set_current;
    decltype(&::cuCtxDestroy) ctx_destroy;
    decltype(&::cuStreamCreate) stream_create;
    decltype(&::cuStreamSynchronize) stream_synchronize;
    decltype(&::cuStreamBeginCapture) begin_capture;
    decltype(&::cuStreamEndCapture) end_capture;
    decltype(&::cuDeviceGetDefaultMemPool) default_pool;
    decltype(&::cuMemAlloc) alloc;
    decltype(&::cuMemAllocPitch) alloc_pitch;
    decltype(&::cuMemAllocManaged) alloc_managed;
    decltype(&::cuMemFree) free;
    decltype(&::cuMemAllocHost) alloc_host;
    decltype(&::cuMemHostAlloc) host_alloc;
    decltype(&::cuMemFreeHost) free_host;
    decltype(&::cuMemHostRegister) host_register;
    decltype(&::cuMemHostUnregister) host_unregister;
    decltype(&::cuMemAllocAsync) alloc_async;
    decltype(&::cuMemAllocFromPoolAsync) alloc_from_pool;
    decltype(&::cuMemFreeAsync) free_async;
    decltype(&::cuArrayCreate) array_create;
    decltype(&::cuArray3DCreate) array_3d_create;
    decltype(&::cuArrayDestroy) array_destroy;
    decltype(&::cuMipmappedArrayCreate) mipmapped_create;
    decltype(&::cuMipmappedArrayDestroy) mipmapped_destroy;
};

#ifdef CUWARD_LINKED

#define GET(base) &::base
void choose(const char*) {}

#else

void* library = nullptr;
std::string_view way;

void choose(const char* argument) {
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    way = argument;
}

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#else
constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
#endif

void* ask_driver(const char* base) {
    void* function = nullptr;
    if (way == "cuGetProcAddress") {
        auto* const ask = reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(
            dlsym(library, "cuGetProcAddress"));
        ask(base, &function, CUDA_VERSION, kFlags);
    } else {
        auto* const ask =
            reinterpret_cast<decltype(&::cuGetProcAddress)>(dlsym(library, "cuGetProcAddress_v2"));
        CUdriverProcAddressQueryResult status{};
        ask(base, &function, CUDA_VERSION, kFlags, &status);
        if (status != CU_GET_PROC_ADDRESS_SUCCESS) {
            std::printf("%s: status %d\n", base, status);
        }
    }
    return function;
}

template <typename Function>
Function look_up(const char* symbol, const char* base) {
    return reinterpret_cast<Function>(way == "dlsym" ? dlsym(library, symbol) : ask_driver(base));
}

// <cuda.h> expands `base` to what the library exports, but not after #.
#define TEXT(symbol) #symbol
#define SYMBOL(base) TEXT(base)
#define GET(base) look_up<decltype(&::base)>(SYMBOL(base), #base)

#endif

Driver load() {
    return {GET(cuInit),
            GET(cuDevicePrimaryCtxRetain),
            GET(cuDevicePrimaryCtxRelease),
            GET(cuDevicePrimaryCtxReset),
            GET(cuCtxSetCurrent),
            GET(cuCtxDestroy),
            GET(cuStreamCreate),
            GET(cuStreamSynchronize),
            GET(cuStreamBeginCapture),
            GET(cuStreamEndCapture),
            GET(cuDeviceGetDefaultMemPool),
            GET(cuMemAlloc),
            GET(cuMemAllocPitch),
            GET(cuMemAllocManaged),
            GET(cuMemFree),
            GET(cuMemAllocHost),
            GET(cuMemHostAlloc),
            GET(cuMemFreeHost),
            GET(cuMemHostRegister),
            GET(cuMemHostUnregister),
            GET(cuMemAllocAsync),
            GET(cuMemAllocFromPoolAsync),
            GET(cuMemFreeAsync),
            GET(cuArrayCreate),
            GET(cuArray3DCreate),
            GET(cuArrayDestroy),
            GET(cuMipmappedArrayCreate),
            GET(cuMipmappedArrayDestroy)};
}

Driver driver;

void show(const char* call, CUresult result) {
    std::printf("%s: %d\n", call, result);
}

/// A failing call may well write to its result.
void failing_allocation(const char* what, std::size_t bytes) {
    CUdeviceptr ignored = 0;
    show(what, driver.alloc(&ignored, bytes));
}

void device_memory() {
    CUdeviceptr block = 0;
    CUdeviceptr leaked = 0;
    std::size_t pitch = 0;
    show("alloc", driver.alloc(&block, 1000));
    std::printf("misaligned by %d\n", static_cast<int>(block % 256));
    show("alloc to leak", driver.alloc(&leaked, 4096));
    failing_allocation("alloc of nothing", 0);
    failing_allocation("alloc of too much", std::size_t{1} << 60);
    show("alloc to nowhere", driver.alloc(nullptr, 100));
    show("free", driver.free(block));
    show("free again", driver.free(block));
    show("free of no block", driver.free(0x1234));
    show("free of null", driver.free(0));
    show("alloc pitch", driver.alloc_pitch(&block, &pitch, 100, 10, 4));
    show("free pitch", driver.free(block));
    show("alloc managed", driver.alloc_managed(&block, 1000, CU_MEM_ATTACH_GLOBAL));
    show("free managed", driver.free(block));
}

void host_memory() {
    void* block = nullptr;
    static char own[8192];
    show("alloc host", driver.alloc_host(&block, 1000));
    show("free host", driver.free_host(block));
    show("host alloc", driver.host_alloc(&block, 1000, CU_MEMHOSTALLOC_PORTABLE));
    show("free host", driver.free_host(block));
    show("free host again", driver.free_host(block));
    show("register", driver.host_register(own, sizeof own, 0));
    show("register again", driver.host_register(own, sizeof own, 0));
    show("unregister", driver.host_unregister(own));
    show("unregister again", driver.host_unregister(own));
}

void failing_async_allocation(const char* what, std::size_t bytes, CUstream stream) {
    CUdeviceptr ignored = 0;
    show(what, driver.alloc_async(&ignored, bytes, stream));
}

void stream_memory(CUstream stream) {
    CUdeviceptr block = 0;
    CUmemoryPool pool = nullptr;
    show("alloc async", driver.alloc_async(&block, 1000, stream));
    show("free async", driver.free_async(block, stream));
    show("alloc async", driver.alloc_async(&block, 1000, stream));
    show("synchronize", driver.stream_synchronize(stream));
    show("free of async", driver.free(block));
    failing_async_allocation("alloc async of nothing", 0, stream);
    failing_async_allocation("alloc async of too much", std::size_t{1} << 60, stream);
    show("pool", driver.default_pool(&pool, 0));
    show("alloc from pool", driver.alloc_from_pool(&block, 1000, pool, stream));
    show("free async", driver.free_async(block, stream));
    show("synchronize", driver.stream_synchronize(stream));
}

void captured_memory(CUstream stream) {
    CUdeviceptr block = 0;
    CUgraph graph = nullptr;
    show("begin capture", driver.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    show("captured alloc", driver.alloc_async(&block, 1000, stream));
    show("captured free", driver.free_async(block, stream));
    show("end capture", driver.end_capture(stream, &graph));
}

void arrays() {
    CUarray array = nullptr;
    CUmipmappedArray mipmapped = nullptr;
    CUDA_ARRAY_DESCRIPTOR flat{
        .Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    CUDA_ARRAY3D_DESCRIPTOR deep{.Width = 16,
                                 .Height = 8,
                                 .Depth = 4,
                                 .Format = CU_AD_FORMAT_HALF,
                                 .NumChannels = 2,
                                 .Flags = 0};
    show("array", driver.array_create(&array, &flat));
    show("destroy array", driver.array_destroy(array));
    show("3D array", driver.array_3d_create(&array, &deep));
    show("destroy array", driver.array_destroy(array));
    show("mipmapped array", driver.mipmapped_create(&mipmapped, &deep, 3));
    show("destroy mipmapped array", driver.mipmapped_destroy(mipmapped));
}

/// The child only ends: what it inherited of the tool must stay silent.
void fork_child() {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        std::exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child: %d\n", WEXITSTATUS(status));
}

}  // namespace

int main(int, char** arguments) {
    if (std::getenv("FORK_FIRST") != nullptr && fork() != 0) {
        return wait(nullptr) > 0 ? 0 : 1;
    }
    choose(arguments[1]);
    driver = load();
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    show("init", driver.init(0));
    show("alloc without context", driver.alloc(reinterpret_cast<CUdeviceptr*>(&context), 100));
    show("retain", driver.primary_retain(&context, 0));
    show("set current", driver.set_current(context));
    show("stream", driver.stream_create(&stream, CU_STREAM_NON_BLOCKING));
    device_memory();
    host_memory();
    stream_memory(stream);
    stream_memory(nullptr);
    captured_memory(stream);
    arrays();
    fork_child();
    show("release", driver.primary_release(0));
    show("reset", driver.primary_reset(0));
    show("destroy", driver.ctx_destroy(nullptr));
    if (std::getenv("THEN_EXEC") != nullptr) {
        unsetenv("THEN_EXEC");
        std::fflush(stdout);
        execv("/proc/self/exe", arguments);
    }
}
