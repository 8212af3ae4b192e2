#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "../handle.hpp"
#include "config.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

constexpr size_t granule = 512;          // as cuMemAlloc aligns
constexpr size_t big = size_t{2} << 20;  // freed memory of this size goes back to the system
constexpr size_t page = 4096;

size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

// One device's address range. First fit from below: a freed address is handed out again soon, which
// is what tools that tell generations of an address apart need to see.
class Arena {
  public:
    bool take(size_t bytes, size_t alignment, uintptr_t& address) {
        if (base_ == 0 && !reserve()) {
            return false;
        }
        for (auto it = holes_.begin(); it != holes_.end(); ++it) {
            const uintptr_t start = round_up(it->first, alignment);
            const size_t lost = start - it->first;
            if (it->second < bytes + lost) {
                continue;
            }
            const uintptr_t hole = it->first;
            const size_t left = it->second - bytes - lost;
            holes_.erase(it);
            if (lost != 0) {
                holes_[hole] = lost;
            }
            if (left != 0) {
                holes_[start + bytes] = left;
            }
            used_ += bytes;
            address = start;
            return true;
        }
        return false;
    }

    void give(uintptr_t address, size_t bytes) {
        used_ -= bytes;
        if (bytes >= big) {
            const uintptr_t first = round_up(address, page);
            const uintptr_t last = (address + bytes) / page * page;
            madvise(reinterpret_cast<void*>(first), last - first, MADV_REMOVE);
        }
        auto next = holes_.lower_bound(address);
        if (next != holes_.begin()) {
            auto previous = std::prev(next);
            if (previous->first + previous->second == address) {
                address = previous->first;
                bytes += previous->second;
                holes_.erase(previous);
            }
        }
        if (next != holes_.end() && address + bytes == next->first) {
            bytes += next->second;
            holes_.erase(next);
        }
        holes_[address] = bytes;
    }

    size_t used() const { return used_; }
    int file() const { return file_; }
    uint64_t offset_of(uintptr_t address) const { return address - range_; }

  private:
    // A file, so that other processes can be given parts of it.
    bool reserve() {
        const size_t size = config().memory_bytes;
        file_ = memfd_create("simgpu", MFD_CLOEXEC);
        if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size + big)) != 0) {
            return false;
        }
        void* range =
            mmap(nullptr, size + big, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
        if (range == MAP_FAILED) {
            return false;
        }
        range_ = reinterpret_cast<uintptr_t>(range);
        base_ = round_up(reinterpret_cast<uintptr_t>(range), big);
        holes_[base_] = size;
        return true;
    }

    int file_ = -1;
    uintptr_t range_ = 0;
    uintptr_t base_ = 0;
    size_t used_ = 0;
    std::map<uintptr_t, size_t> holes_;
};

struct Memory {
    std::recursive_mutex mutex;
    std::map<uintptr_t, Allocation> allocations;
    std::map<int, Arena> arenas;
    std::map<int, Pool*> defaults;
    std::map<int, Pool*> currents;
    std::vector<Pool*> pools;
    // Where memory of other processes is open, by process, file and offset.
    std::map<std::tuple<int, int, uint64_t>, uintptr_t> opened;
    uint64_t next_id = 1;
};

Memory& memory() {
    static Memory& instance = *new Memory;
    return instance;
}

CUresult add(Allocation allocation, uintptr_t& address) {
    allocation.id = memory().next_id++;
    address = allocation.base;
    memory().allocations[allocation.base] = allocation;
    return CUDA_SUCCESS;
}

// A pool that the program made belongs to the device.
bool outlives_context(const Allocation& allocation) {
    return allocation.pool != nullptr && !allocation.pool->is_default;
}

}  // namespace

std::recursive_mutex& memory_mutex() {
    return memory().mutex;
}

std::optional<Allocation> find_allocation(uintptr_t address) {
    const std::lock_guard lock(memory().mutex);
    auto it = memory().allocations.upper_bound(address);
    if (it == memory().allocations.begin()) {
        return std::nullopt;
    }
    --it;
    if (address >= it->second.end()) {
        return std::nullopt;
    }
    return it->second;
}

uintptr_t end_of_mapped(const Allocation& allocation) {
    uintptr_t end = allocation.end();
    if (!allocation.mapped()) {
        return end;
    }
    while (const auto next = find_allocation(end)) {
        if (!next->mapped()) {
            break;
        }
        end = next->end();
    }
    return end;
}

void add_mapping(uintptr_t address, size_t bytes, const CUmemLocation& location) {
    Allocation allocation;
    const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    allocation.base = address;
    allocation.size = bytes;
    allocation.reserved = bytes;
    allocation.kind = on_device ? MemoryKind::Mapped : MemoryKind::MappedHost;
    allocation.device = on_device ? location.id : 0;
    const std::lock_guard lock(memory().mutex);
    uintptr_t same = 0;
    add(allocation, same);
}

CUresult allocate_device(Context& context, size_t bytes, MemoryKind kind, uintptr_t& address) {
    const std::lock_guard lock(memory().mutex);
    Allocation allocation;
    allocation.size = bytes;
    allocation.reserved = round_up(bytes, granule);
    allocation.kind = kind;
    allocation.device = context.device();
    allocation.context = &context;
    if (allocation.reserved < bytes ||
        !memory().arenas[context.device()].take(allocation.reserved, granule, allocation.base)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return add(allocation, address);
}

CUresult allocate_pinned(Context& context, size_t bytes, unsigned flags, uintptr_t& address) {
    Allocation allocation;
    allocation.size = bytes;
    allocation.reserved = round_up(bytes, page);
    // Pages of its own, so that a use after the free faults as it does with the real driver.
    void* range = mmap(nullptr, allocation.reserved, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    allocation.base = reinterpret_cast<uintptr_t>(range);
    allocation.kind = MemoryKind::Pinned;
    allocation.device = context.device();
    allocation.context = &context;
    allocation.flags = flags;
    const std::lock_guard lock(memory().mutex);
    return add(allocation, address);
}

CUresult register_host(Context& context, uintptr_t address, size_t bytes, unsigned flags) {
    const std::lock_guard lock(memory().mutex);
    const auto next = memory().allocations.lower_bound(address);
    if (find_allocation(address) ||
        (next != memory().allocations.end() && next->second.base < address + bytes)) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    Allocation allocation;
    allocation.base = address;
    allocation.size = bytes;
    allocation.kind = MemoryKind::Registered;
    allocation.device = context.device();
    allocation.context = &context;
    allocation.flags = flags;
    uintptr_t same = 0;
    return add(allocation, same);
}

CUresult release(const Allocation& allocation) {
    const std::lock_guard lock(memory().mutex);
    if (memory().allocations.erase(allocation.base) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (allocation.kind == MemoryKind::Pinned) {
        munmap(reinterpret_cast<void*>(allocation.base), allocation.reserved);
    } else if (allocation.kind == MemoryKind::Opened) {
        munmap(reinterpret_cast<void*>(allocation.base / page * page), allocation.reserved);
    } else if (allocation.owned()) {
        memory().arenas[allocation.device].give(allocation.base, allocation.reserved);
    }
    return CUDA_SUCCESS;
}

SharedPlace shared_place(const Allocation& allocation) {
    const std::lock_guard lock(memory().mutex);
    const Arena& arena = memory().arenas[allocation.device];
    return {getpid(), arena.file(), arena.offset_of(allocation.base), allocation.size};
}

CUresult open_shared(Context& context, const SharedPlace& place, uintptr_t& address) {
    const std::lock_guard lock(memory().mutex);
    uintptr_t& known = memory().opened[{place.process, place.file, place.offset}];
    const auto open_already = known != 0 ? find_allocation(known) : std::nullopt;
    if (open_already && open_already->kind == MemoryKind::Opened) {
        ++memory().allocations[known].opened;
        address = known;
        return CUDA_SUCCESS;
    }
    const std::string path =
        "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const uint64_t lead = place.offset % page;
    Allocation allocation;
    allocation.size = place.bytes;
    allocation.reserved = round_up(lead + place.bytes, page);
    void* const range = mmap(nullptr, allocation.reserved, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                             static_cast<off_t>(place.offset - lead));
    close(file);
    if (range == MAP_FAILED) {
        return CUDA_ERROR_MAP_FAILED;
    }
    allocation.base = reinterpret_cast<uintptr_t>(range) + lead;
    allocation.kind = MemoryKind::Opened;
    allocation.device = context.device();
    allocation.context = &context;
    allocation.opened = 1;
    known = allocation.base;
    return add(allocation, address);
}

CUresult close_shared(const Allocation& allocation) {
    const std::lock_guard lock(memory().mutex);
    if (--memory().allocations[allocation.base].opened != 0) {
        return CUDA_SUCCESS;
    }
    return release(allocation);
}

CUresult set_sync_memops(uintptr_t address, bool on) {
    const std::lock_guard lock(memory().mutex);
    const auto found = find_allocation(address);
    if (!found || found->freed) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memory().allocations[found->base].sync_memops = on;
    return CUDA_SUCCESS;
}

void mark_freed(const Allocation& allocation) {
    const std::lock_guard lock(memory().mutex);
    memory().allocations[allocation.base].freed = true;
}

CUresult GraphMemory::create(Context& context, size_t bytes,
                             std::shared_ptr<GraphMemory>& created) {
    const std::lock_guard lock(memory().mutex);
    uintptr_t address = 0;
    const CUresult result = allocate_device(context, bytes, MemoryKind::Device, address);
    if (result == CUDA_SUCCESS) {
        memory().allocations[address].of_graph = true;
        created.reset(new GraphMemory(address));
        created->set_allocated(false);
    }
    return result;
}

// What is still allocated then is ordinary memory from now on.
GraphMemory::~GraphMemory() {
    const std::lock_guard lock(memory().mutex);
    const auto found = find_allocation(address_);
    if (!found || !found->of_graph) {
        return;  // ended with its context
    }
    if (found->freed) {
        release(*found);
    } else {
        memory().allocations[address_].of_graph = false;
    }
}

bool GraphMemory::is_allocated() const {
    const auto found = find_allocation(address_);
    return found && !found->freed;
}

void GraphMemory::set_allocated(bool allocated) {
    const std::lock_guard lock(memory().mutex);
    if (find_allocation(address_)) {
        memory().allocations[address_].freed = !allocated;
    }
}

void free_graph_memory(uintptr_t address) {
    if (const auto found = find_allocation(address)) {
        mark_freed(*found);
    }
}

void free_memory_of(Context& context) {
    const std::lock_guard lock(memory().mutex);
    std::vector<Allocation> mine;
    for (auto& [base, allocation] : memory().allocations) {
        if (allocation.context != &context) {
            continue;
        }
        if (outlives_context(allocation)) {
            allocation.outlived = true;
        } else {
            mine.push_back(allocation);
        }
    }
    for (Pool* pool : memory().pools) {
        std::erase_if(pool->cache, [&](const Pool::Cached& cached) {
            return cached.block.context == &context && !outlives_context(cached.block);
        });
    }
    for (const Allocation& allocation : mine) {
        if (allocation.pool != nullptr) {
            allocation.pool->reserved -= allocation.reserved;
            if (!allocation.freed) {
                allocation.pool->used -= allocation.reserved;
            }
        }
        release(allocation);
    }
}

DeviceMemory device_memory(int device) {
    const std::lock_guard lock(memory().mutex);
    const size_t total = config().memory_bytes;
    return {total - memory().arenas[device].used(), total};
}

Pool& default_pool(int device) {
    const std::lock_guard lock(memory().mutex);
    Pool*& pool = memory().defaults[device];
    if (pool == nullptr) {
        pool = new_handle<Pool>();
        pool->device = device;
        pool->is_default = true;
        memory().pools.push_back(pool);
    }
    return *pool;
}

Pool& current_pool(int device) {
    const std::lock_guard lock(memory().mutex);
    Pool* pool = memory().currents[device];
    return pool != nullptr ? *pool : default_pool(device);
}

void set_current_pool(int device, Pool* pool) {
    const std::lock_guard lock(memory().mutex);
    memory().currents[device] = pool;
}

CUresult pool_allocate(Pool& pool, Context& context, size_t bytes, Stream* stream,
                       uintptr_t& address) {
    const std::lock_guard lock(memory().mutex);
    if (std::find(memory().pools.begin(), memory().pools.end(), &pool) == memory().pools.end()) {
        memory().pools.push_back(&pool);
    }
    const size_t reserved = round_up(bytes, granule);
    const auto fits = [&](const Pool::Cached& cached, bool same_stream) {
        return cached.block.reserved == reserved &&
               (same_stream ? cached.freed.stream == stream
                            : pool.reuse[1] != 0 && cached.freed.reached());
    };
    for (const bool same_stream : {true, false}) {
        const auto it =
            std::find_if(pool.cache.rbegin(), pool.cache.rend(),
                         [&](const Pool::Cached& cached) { return fits(cached, same_stream); });
        if (it != pool.cache.rend()) {
            Allocation block = it->block;
            pool.cache.erase(std::next(it).base());
            block.freed = false;
            block.outlived = false;
            block.sync_memops = false;
            block.size = bytes;
            block.context = &context;
            pool.used += block.reserved;
            pool.used_high = std::max(pool.used_high, pool.used);
            return add(block, address);
        }
    }
    const CUresult result = allocate_device(context, bytes, MemoryKind::Device, address);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    Allocation& block = memory().allocations[address];
    block.pool = &pool;
    pool.used += block.reserved;
    pool.reserved += block.reserved;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
    return CUDA_SUCCESS;
}

void pool_free(const Allocation& allocation, Point freed) {
    const std::lock_guard lock(memory().mutex);
    const auto it = memory().allocations.find(allocation.base);
    if (it == memory().allocations.end() || it->second.freed) {
        return;
    }
    it->second.freed = true;
    Pool& pool = *allocation.pool;
    pool.used -= allocation.reserved;
    pool.cache.push_back({it->second, freed});
}

void pool_trim(Pool& pool, uint64_t keep) {
    const std::lock_guard lock(memory().mutex);
    for (size_t index = pool.cache.size(); index-- > 0 && pool.reserved > keep;) {
        const Pool::Cached cached = pool.cache[index];
        if (!cached.freed.reached()) {
            continue;
        }
        pool.cache.erase(pool.cache.begin() + static_cast<ptrdiff_t>(index));
        pool.reserved -= cached.block.reserved;
        release(cached.block);
    }
}

void pool_destroy(Pool& pool) {
    const std::lock_guard lock(memory().mutex);
    pool.destroyed = true;
    pool_trim(pool, 0);
    for (auto& [device, current] : memory().currents) {
        if (current == &pool) {
            current = nullptr;
        }
    }
}

void trim_pools_at_sync(int device) {
    const std::lock_guard lock(memory().mutex);
    for (Pool* pool : memory().pools) {
        if (pool->device == device && !pool->cache.empty()) {
            pool_trim(*pool, pool->release_threshold);
        }
    }
}

}  // namespace simgpu
