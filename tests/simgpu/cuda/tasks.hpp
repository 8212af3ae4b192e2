#pragma once

#include <atomic>
#include <memory>
#include <variant>
#include <vector>

#include "copy.hpp"
#include "event.hpp"
#include "memory.hpp"
#include "module.hpp"

// What a stream operation or a graph node does, as a value: an API call makes one, and either it is
// issued to a stream or, while the stream is captured, becomes a node.
namespace simgpu {

struct Graph;

struct KernelTask {
    CodeHandle* code = nullptr;
    Dim grid{};
    Dim block{};
    unsigned shared_bytes = 0;
    std::vector<std::byte> parameters;  // packed as the kernel's layout says
    std::vector<void*> addresses;       // into parameters, for whoever asks for kernelParams
    uint64_t extra_ns = 0;

    KernelTask() = default;
    KernelTask(const KernelTask& other);
    KernelTask& operator=(const KernelTask& other);
    KernelTask(KernelTask&&) = default;
    KernelTask& operator=(KernelTask&&) = default;

    // Copies the arguments out of a launch; INVALID_VALUE where the launch lacks them.
    CUresult take_parameters(void* const* kernel_params, void* const* extra);
    void point_at_parameters();
};

struct MemsetTask {
    CUDA_MEMSET_NODE_PARAMS shape{};
};

struct HostTask {
    CUhostFn function = nullptr;
    CUstreamCallback callback = nullptr;  // the older form, which is told the stream
    CUstream stream = nullptr;
    void* userdata = nullptr;
};

struct EventRecordTask {
    Event* event = nullptr;
};

struct EventWaitTask {
    Event* event = nullptr;
};

struct ChildTask {
    std::shared_ptr<Graph> graph;
};

struct ValueTask {
    uintptr_t address = 0;
    uint64_t value = 0;
    unsigned flags = 0;
    bool wide = false;
    bool wait = false;
};

// Of a batch, one after the other.
struct BatchTask {
    std::vector<ValueTask> values;

    CUresult take(const CUstreamBatchMemOpParams* operations, unsigned count);
};

// What device code may set; a launch sets it to its default if it has one.
struct Condition : std::enable_shared_from_this<Condition> {
    std::atomic<unsigned> value{0};
    unsigned default_value = 0;
    bool has_default = false;

    static Condition* from(CUgraphConditionalHandle handle) {
        return reinterpret_cast<Condition*>(handle);
    }
};

struct ConditionalTask {
    std::shared_ptr<Condition> condition;
    CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
    std::vector<std::shared_ptr<Graph>> bodies;
    std::shared_ptr<std::vector<CUgraph>> handles;  // the bodies, where the program looks for them
};

struct AllocTask {
    std::shared_ptr<GraphMemory> memory;
};

struct FreeTask {
    uintptr_t address = 0;
};

struct EmptyTask {};

using Task = std::variant<EmptyTask, KernelTask, CopyTask, MemsetTask, HostTask, EventRecordTask,
                          EventWaitTask, ChildTask, ValueTask, BatchTask, ConditionalTask,
                          AllocTask, FreeTask>;

// Time that passes on the device before the effect.
uint64_t duration_of(const Task& task);
// The effect, on the calling thread. Event and child nodes are the graph launch's business.
void execute(const Task& task);
bool has_effect(const Task& task);

// Issues to the stream, or adds a node when the stream is being captured. The point is empty in the
// latter case.
CUresult submit(Stream& stream, Task task, uint64_t extra_ns, Point* point = nullptr);

// Memory traffic of the simulated engines. Not the C library's functions: a race that a program
// has on the device is what is being simulated, and no business of a sanitizer.
void move_bytes(void* to, const void* from, size_t bytes);
void fill_bytes(const MemsetTask& task);

}  // namespace simgpu
