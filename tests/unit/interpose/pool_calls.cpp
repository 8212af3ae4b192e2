// Asks everything by which a program could tell memory of a pool from memory of cuMemAlloc, and
// prints the answers. With `ipc` also what cannot be the same.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

void show(const char* what, CUresult result) {
    std::printf("%s: %d\n", what, result);
}

void show(const char* what, bool answer) {
    std::printf("%s: %s\n", what, answer ? "yes" : "no");
}

CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr block = 0;
    const CUresult result = cuMemAlloc(&block, bytes);
    if (result != CUDA_SUCCESS) {
        show("alloc", result);
    }
    return block;
}

std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    cuMemGetInfo(&free, &total);
    return free;
}

void memory_that_is_left() {
    const std::size_t before = free_memory();
    const CUdeviceptr block = allocate(64 * kMegabyte);
    show("less is free", before - free_memory() == 64 * kMegabyte);
    show("free", cuMemFree(block));
    show("all is free again", free_memory() == before);
}

void attributes(CUcontext context) {
    const CUdeviceptr block = allocate(1000);
    CUcontext owner = nullptr;
    CUmemoryPool pool = nullptr;
    show("context", cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, block + 10));
    show("is ours", owner == context);
    show("pool", cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
    show("is none", pool == nullptr);
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    unsigned type = 0;
    owner = nullptr;
    void* answers[] = {&owner, &type};
    show("attributes", cuPointerGetAttributes(2, asked, answers, block));
    show("is ours", owner == context && type == CU_MEMORYTYPE_DEVICE);
    unsigned on = 1;
    show("set", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    show("range", cuMemGetAddressRange(&base, &bytes, block + 10));
    show("is exact", base == block && bytes == 1000);
    show("free", cuMemFree(block));
}

/// Half of the memory is freed and must be there for every other kind of allocation.
template <typename Allocate, typename Free>
void other_memory(const char* what, Allocate allocate_other, Free free_other) {
    const std::size_t half = free_memory() / 2;
    show("free", cuMemFree(allocate(half)));
    show(what, allocate_other(half + half / 2));
    show("free", free_other());
}

void pressure() {
    CUdeviceptr block = 0;
    const auto free_block = [&] { return cuMemFree(block); };
    other_memory(
        "bigger", [&](std::size_t bytes) { return cuMemAlloc(&block, bytes); }, free_block);
    other_memory(
        "managed",
        [&](std::size_t bytes) { return cuMemAllocManaged(&block, bytes, CU_MEM_ATTACH_GLOBAL); },
        free_block);
    std::size_t pitch = 0;
    other_memory(
        "pitched",
        [&](std::size_t bytes) { return cuMemAllocPitch(&block, &pitch, 512, bytes / 512, 4); },
        free_block);
    other_memory(
        "stream-ordered",
        [&](std::size_t bytes) { return cuMemAllocAsync(&block, bytes, nullptr); },
        [&] { return cuMemFreeAsync(block, nullptr); });
    cuCtxSynchronize();
    show("too much", cuMemAlloc(&block, std::size_t{1} << 50));
}

void ends_of_contexts() {
    const std::size_t before = free_memory();
    CUcontext other = nullptr;
    show("create", cuCtxCreate(&other, nullptr, 0, 0));
    const CUdeviceptr block = allocate(64 * kMegabyte);
    show("destroy", cuCtxDestroy(other));
    show("free of what is gone", cuMemFree(block));
    show("all is free again", free_memory() == before);
}

void captures(CUstream stream) {
    const CUdeviceptr earlier = allocate(1000);
    CUgraph graph = nullptr;
    CUdeviceptr block = 0;
    show("begin", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    show("alloc", cuMemAlloc(&block, 1000));
    show("end", cuStreamEndCapture(stream, &graph));
    show("free", cuMemFree(earlier));
    show("free again", cuMemFree(earlier));
}

void many_blocks() {
    std::vector<CUdeviceptr> blocks;
    for (std::size_t i = 0; i < 10'000; ++i) {
        blocks.push_back(allocate(1 + i * 7919 % 100'000));
        if (i % 3 != 0) {
            std::swap(blocks[i * 31 % blocks.size()], blocks.back());
            if (cuMemFree(blocks.back()) != CUDA_SUCCESS) {
                std::printf("cannot free block %zu\n", i);
            }
            blocks.pop_back();
        }
    }
    for (const CUdeviceptr block : blocks) {
        cuMemFree(block);
    }
}

void sharing() {
    CUipcMemHandle handle{};
    show("share", cuIpcGetMemHandle(&handle, allocate(1000)));
    const CUdeviceptr later = allocate(1000);
    show("share later memory", cuIpcGetMemHandle(&handle, later));
}

}  // namespace

int main(int, char** arguments) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (arguments[1] != nullptr) {
        sharing();
        return 0;
    }
    memory_that_is_left();
    attributes(context);
    pressure();
    ends_of_contexts();
    captures(stream);
    many_blocks();
    std::printf("done\n");
}
