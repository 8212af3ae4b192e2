#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "headers.hpp"
#include "stream.hpp"

// Every address CUDA knows: device memory from a reserved range that any thread can touch, pinned
// and registered host memory. What is not in here is pageable.
namespace simgpu {

class Context;
struct Pool;

enum class MemoryKind { Device, Managed, Pinned, Registered, Mapped, MappedHost, Opened };

struct Allocation {
    uintptr_t base = 0;
    size_t size = 0;      // as asked for
    size_t reserved = 0;  // as taken from the arena
    MemoryKind kind = MemoryKind::Device;
    int device = 0;
    Context* context = nullptr;
    unsigned flags = 0;
    Pool* pool = nullptr;
    bool freed = false;  // back in its pool or its graph, whose memory stays mapped
    bool of_graph = false;
    // Measured: memory of a pool outlives its context, and can still be freed, but is found no
    // more.
    bool outlived = false;
    bool sync_memops = false;
    uint64_t id = 0;
    unsigned opened = 0;  // by how many calls, if it is another process's

    bool owned() const { return kind == MemoryKind::Device || kind == MemoryKind::Managed; }
    bool host() const {
        return kind == MemoryKind::Pinned || kind == MemoryKind::Registered ||
               kind == MemoryKind::MappedHost;
    }
    bool mapped() const { return kind == MemoryKind::Mapped || kind == MemoryKind::MappedHost; }
    uintptr_t end() const { return base + size; }
};

// Which allocation an address lies in.
std::optional<Allocation> find_allocation(uintptr_t address);

// Where it ends, or what is mapped right behind it.
uintptr_t end_of_mapped(const Allocation& allocation);

CUresult allocate_device(Context& context, size_t bytes, MemoryKind kind, uintptr_t& address);
CUresult allocate_pinned(Context& context, size_t bytes, unsigned flags, uintptr_t& address);
CUresult register_host(Context& context, uintptr_t address, size_t bytes, unsigned flags);
// What virtual memory management maps, once a device may use it.
void add_mapping(uintptr_t address, size_t bytes, const CUmemLocation& location);
CUresult release(const Allocation& allocation);

// Where another process finds memory: in a file that one of them has open.
struct SharedPlace {
    int process = 0;
    int file = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
};
SharedPlace shared_place(const Allocation& allocation);
CUresult open_shared(Context& context, const SharedPlace& place, uintptr_t& address);
CUresult close_shared(const Allocation& allocation);

CUresult set_sync_memops(uintptr_t address, bool on);
// Freed by a call whose effect is still to come: no longer the program's, still mapped.
void mark_freed(const Allocation& allocation);
void free_memory_of(Context& context);

struct DeviceMemory {
    size_t free = 0;
    size_t total = 0;
};
DeviceMemory device_memory(int device);

// Memory of a graph's node: it has its address as long as the graph or something made of it exists,
// and is allocated from a launch to a free.
class GraphMemory {
  public:
    static CUresult create(Context& context, size_t bytes, std::shared_ptr<GraphMemory>& created);
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    uintptr_t address() const { return address_; }
    bool is_allocated() const;
    void set_allocated(bool allocated);

  private:
    explicit GraphMemory(uintptr_t address) : address_(address) {}
    uintptr_t address_;
};
// A launch, or a call on a stream, frees memory of a graph.
void free_graph_memory(uintptr_t address);

// Stream-ordered memory. A freed block is reused at once by the stream that freed it, and by others
// when the free has been reached; so an address comes back as quickly as it does on a real device.
struct Pool {
    struct Cached {
        Allocation block;
        Point freed;
    };

    int device = 0;
    bool is_default = false;
    uint64_t release_threshold = 0;
    uint64_t used = 0;
    uint64_t used_high = 0;
    uint64_t reserved = 0;
    uint64_t reserved_high = 0;
    int reuse[3] = {1, 1, 1};  // by event dependencies, opportunistic, by internal dependencies
    std::set<int> peers;       // other devices that may access its memory
    std::vector<Cached> cache;
    bool destroyed = false;
};

Pool& default_pool(int device);
Pool& current_pool(int device);
void set_current_pool(int device, Pool* pool);

CUresult pool_allocate(Pool& pool, Context& context, size_t bytes, Stream* stream,
                       uintptr_t& address);
// With no point the block is reusable at once (cuMemFree of pool memory).
void pool_free(const Allocation& allocation, Point freed);
void pool_trim(Pool& pool, uint64_t keep);
void pool_destroy(Pool& pool);
// At synchronisation a pool gives back what it holds above its threshold.
void trim_pools_at_sync(int device);

std::recursive_mutex& memory_mutex();

}  // namespace simgpu
