#include "tasks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "capture.hpp"
#include "config.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

// Values are polled for: whoever writes them (host, twin, stream) tells nobody.
constexpr auto value_poll = std::chrono::microseconds(50);

template <class... Lambdas>
struct Overloaded : Lambdas... {
    using Lambdas::operator()...;
};
template <class... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

void run_kernel(const KernelTask& task) {
    if (task.code->twin == nullptr) {
        return;
    }
    Launch launch{};
    launch.grid = task.grid;
    launch.block = task.block;
    launch.shared_bytes = task.shared_bytes + task.code->info->static_shared_bytes;
    launch.parameters = task.addresses.data();
    launch.parameter_count = task.addresses.size();
    task.code->twin(&launch);
}

uint64_t value_at(const ValueTask& task) {
    if (task.wide) {
        return __atomic_load_n(reinterpret_cast<const uint64_t*>(task.address), __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(task.address), __ATOMIC_ACQUIRE);
}

// The manual's conditions; the cyclic comparison is the one that survives a counter's wrap.
bool satisfied(const ValueTask& task) {
    const uint64_t found = value_at(task);
    switch (task.flags & 3U) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return task.wide ? static_cast<int64_t>(found - task.value) >= 0
                             : static_cast<int32_t>(static_cast<uint32_t>(found) -
                                                    static_cast<uint32_t>(task.value)) >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return found == task.value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (found & task.value) != 0;
        default:
            return task.wide ? (~(found | task.value)) != 0
                             : (~static_cast<uint32_t>(found | task.value)) != 0;
    }
}

void run_value(const ValueTask& task) {
    if (task.wait) {
        while (!satisfied(task) && !stopping()) {
            std::this_thread::sleep_for(value_poll);
        }
    } else if (task.wide) {
        __atomic_store_n(reinterpret_cast<uint64_t*>(task.address), task.value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(reinterpret_cast<uint32_t*>(task.address),
                         static_cast<uint32_t>(task.value), __ATOMIC_RELEASE);
    }
}

void run_host(const HostTask& task) {
    if (task.callback != nullptr) {
        task.callback(task.stream, CUDA_SUCCESS, task.userdata);
    } else {
        task.function(task.userdata);
    }
}

struct TaskWork final : Work {
    explicit TaskWork(Task task_) : task(std::move(task_)) {}
    void run() override { execute(task); }
    Task task;
};

}  // namespace

KernelTask::KernelTask(const KernelTask& other)
    : code(other.code),
      grid(other.grid),
      block(other.block),
      shared_bytes(other.shared_bytes),
      parameters(other.parameters),
      extra_ns(other.extra_ns) {
    point_at_parameters();
}

KernelTask& KernelTask::operator=(const KernelTask& other) {
    if (this != &other) {
        *this = KernelTask(other);
    }
    return *this;
}

void KernelTask::point_at_parameters() {
    addresses.clear();
    for (const KernelParameter& parameter : code->info->parameters) {
        addresses.push_back(parameters.data() + parameter.offset);
    }
}

CUresult KernelTask::take_parameters(void* const* kernel_params, void* const* extra) {
    const KernelInfo& info = *code->info;
    parameters.resize(info.parameter_bytes);
    if (kernel_params != nullptr) {
        for (size_t index = 0; index < info.parameters.size(); ++index) {
            const KernelParameter& parameter = info.parameters[index];
            std::memcpy(parameters.data() + parameter.offset, kernel_params[index], parameter.size);
        }
    } else if (extra != nullptr) {
        const void* buffer = nullptr;
        size_t size = 0;
        for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
            if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
                buffer = extra[1];
            } else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
                size = *static_cast<const size_t*>(extra[1]);
            }
        }
        if (buffer == nullptr || size < info.parameter_bytes) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        std::memcpy(parameters.data(), buffer, info.parameter_bytes);
    } else if (!info.parameters.empty()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    point_at_parameters();
    return CUDA_SUCCESS;
}

CUresult BatchTask::take(const CUstreamBatchMemOpParams* operations, unsigned count) {
    if (operations == nullptr || count == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned index = 0; index < count; ++index) {
        const CUstreamBatchMemOpParams& one = operations[index];
        switch (one.operation) {
            case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
                const bool wide = one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
                values.push_back({one.waitValue.address,
                                  wide ? one.waitValue.value64 : one.waitValue.value,
                                  one.waitValue.flags, wide, true});
                break;
            }
            case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
                const bool wide = one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
                values.push_back({one.writeValue.address,
                                  wide ? one.writeValue.value64 : one.writeValue.value,
                                  one.writeValue.flags, wide, false});
                break;
            }
            case CU_STREAM_MEM_OP_BARRIER:
            case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
                break;  // memory is coherent here
            default:
                return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    return CUDA_SUCCESS;
}

void move_bytes(void* to, const void* from, size_t bytes) {
    if (to <= from || static_cast<const std::byte*>(from) + bytes <= to) {
        asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        return;
    }
    auto* last_to = static_cast<std::byte*>(to) + bytes - 1;
    const auto* last_from = static_cast<const std::byte*>(from) + bytes - 1;
    asm volatile("std\n\trep movsb\n\tcld"
                 : "+D"(last_to), "+S"(last_from), "+c"(bytes)
                 :
                 : "memory");
}

void fill_bytes(const MemsetTask& task) {
    const CUDA_MEMSET_NODE_PARAMS& shape = task.shape;
    for (size_t row = 0; row < shape.height; ++row) {
        void* to = reinterpret_cast<void*>(shape.dst + row * shape.pitch);
        size_t count = shape.width;
        if (shape.elementSize == 1) {
            asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(shape.value) : "memory");
        } else if (shape.elementSize == 2) {
            asm volatile("rep stosw" : "+D"(to), "+c"(count) : "a"(shape.value) : "memory");
        } else {
            asm volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(shape.value) : "memory");
        }
    }
}

uint64_t duration_of(const Task& task) {
    return std::visit(
        Overloaded{
            [](const KernelTask& kernel) { return kernel.code->duration_ns() + kernel.extra_ns; },
            [](const CopyTask& copy) {
                const uint64_t by_direction = delay_of(direction_name(copy));
                return by_direction != 0 ? by_direction : delay_of("copy");
            },
            [](const MemsetTask&) { return delay_of("memset"); },
            [](const HostTask&) { return delay_of("host"); },
            [](const EventRecordTask&) { return delay_of("event"); },
            [](const auto&) { return uint64_t{0}; },
        },
        task);
}

void execute(const Task& task) {
    std::visit(Overloaded{
                   [](const KernelTask& kernel) { run_kernel(kernel); },
                   [](const CopyTask& copy) { run_copy(copy); },
                   [](const MemsetTask& memset) { fill_bytes(memset); },
                   [](const HostTask& host) { run_host(host); },
                   [](const ValueTask& value) { run_value(value); },
                   [](const BatchTask& batch) {
                       for (const ValueTask& value : batch.values) {
                           run_value(value);
                       }
                   },
                   [](const auto&) {},
               },
               task);
}

bool has_effect(const Task& task) {
    if (const auto* kernel = std::get_if<KernelTask>(&task)) {
        return kernel->code->twin != nullptr;
    }
    return !std::holds_alternative<EmptyTask>(task);
}

CUresult submit(Stream& stream, Task task, uint64_t extra_ns, Point* point) {
    if (stream.capture != nullptr) {
        return add_captured_node(stream, std::move(task));
    }
    const CUresult result = check_legacy_capture(stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    Operation operation;
    operation.duration_ns = duration_of(task) + extra_ns;
    if (has_effect(task)) {
        operation.work = std::make_unique<TaskWork>(std::move(task));
    }
    const Point issued = stream.issue(std::move(operation));
    if (point != nullptr) {
        *point = issued;
    }
    return CUDA_SUCCESS;
}

}  // namespace simgpu
