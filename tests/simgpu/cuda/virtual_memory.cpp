#include "virtual_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../handle.hpp"
#include "memory.hpp"

namespace simgpu {
namespace {

struct Mapped {
    size_t size = 0;
    Physical* physical = nullptr;
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct State {
    std::mutex mutex;
    std::map<uintptr_t, size_t> reserved;
    std::map<uintptr_t, Mapped> mapped;
    std::map<uint64_t, Physical*> physical;
};

State& state() {
    static State& instance = *new State;
    return instance;
}

void* pointer(uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

bool is_aligned(uintptr_t address, size_t size) {
    return size != 0 && address % mapping_granularity == 0 && size % mapping_granularity == 0;
}

bool put_nothing(uintptr_t address, size_t size) {
    return mmap(pointer(address), size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void end_if_unused(Physical& physical) {
    if (physical.references == 0) {
        state().physical.erase(reinterpret_cast<uint64_t>(&physical));
    }
    if (physical.references == 0 && physical.mappings == 0) {
        close(physical.file);
        physical.file = -1;
    }
}

Physical& add(int file, size_t size, const CUmemAllocationProp& properties) {
    auto* const physical = new_handle<Physical>();
    physical->file = file;
    physical->size = size;
    physical->properties = properties;
    state().physical[reinterpret_cast<uint64_t>(physical)] = physical;
    return *physical;
}

std::map<uintptr_t, Mapped>::iterator mapping_around(uintptr_t address) {
    auto next = state().mapped.upper_bound(address);
    if (next == state().mapped.begin()) {
        return state().mapped.end();
    }
    --next;
    return address < next->first + next->second.size ? next : state().mapped.end();
}

// The mappings that fill [address, address + size) exactly; none if something is missing.
std::vector<uintptr_t> whole_mappings(uintptr_t address, size_t size) {
    std::vector<uintptr_t> found;
    uintptr_t next = address;
    while (next < address + size) {
        const auto mapping = state().mapped.find(next);
        if (mapping == state().mapped.end()) {
            return {};
        }
        found.push_back(next);
        next += mapping->second.size;
    }
    return next == address + size ? found : std::vector<uintptr_t>{};
}

}  // namespace

CUresult create_physical(size_t size, const CUmemAllocationProp& properties, Physical*& created) {
    if (size == 0 || size % mapping_granularity != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = memfd_create("simgpu", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const std::lock_guard lock(state().mutex);
    created = &add(file, size, properties);
    return CUDA_SUCCESS;
}

CUresult import_physical(int file, Physical*& created) {
    struct stat status {};
    const int own = dup(file);
    if (own < 0 || fstat(own, &status) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    const std::lock_guard lock(state().mutex);
    created = &add(own, static_cast<size_t>(status.st_size), properties);
    return CUDA_SUCCESS;
}

CUresult release_physical(Physical& physical) {
    const std::lock_guard lock(state().mutex);
    --physical.references;
    end_if_unused(physical);
    return CUDA_SUCCESS;
}

Physical* physical_at(uintptr_t address) {
    const std::lock_guard lock(state().mutex);
    const auto mapping = mapping_around(address);
    return mapping != state().mapped.end() ? mapping->second.physical : nullptr;
}

Physical* find_physical(uint64_t handle) {
    const std::lock_guard lock(state().mutex);
    const auto found = state().physical.find(handle);
    return found != state().physical.end() ? found->second : nullptr;
}

CUresult reserve_addresses(size_t size, size_t alignment, uintptr_t& address) {
    if (size == 0 || size % mapping_granularity != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const size_t unit = alignment > mapping_granularity ? alignment : mapping_granularity;
    void* const range =
        mmap(nullptr, size + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const auto start = reinterpret_cast<uintptr_t>(range);
    address = (start + unit - 1) / unit * unit;
    if (address != start) {
        munmap(range, address - start);
    }
    munmap(pointer(address + size), start + unit - address);
    const std::lock_guard lock(state().mutex);
    state().reserved[address] = size;
    return CUDA_SUCCESS;
}

CUresult free_addresses(uintptr_t address, size_t size) {
    const std::lock_guard lock(state().mutex);
    const auto found = state().reserved.find(address);
    const auto mapping = state().mapped.lower_bound(address);
    if (found == state().reserved.end() || found->second != size ||
        (mapping != state().mapped.end() && mapping->first < address + size)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    state().reserved.erase(found);
    munmap(pointer(address), size);
    return CUDA_SUCCESS;
}

CUresult map(uintptr_t address, size_t size, size_t offset, Physical& physical) {
    const std::lock_guard lock(state().mutex);
    auto range = state().reserved.upper_bound(address);
    if (range == state().reserved.begin() || !is_aligned(address, size) ||
        offset % mapping_granularity != 0 || offset + size > physical.size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    --range;
    const auto next = state().mapped.lower_bound(address);
    const bool is_taken = mapping_around(address) != state().mapped.end() ||
                          (next != state().mapped.end() && next->first < address + size);
    if (address + size > range->first + range->second || is_taken) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (mmap(pointer(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical.file,
             static_cast<off_t>(offset)) == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    ++physical.mappings;
    state().mapped[address] = {.size = size, .physical = &physical};
    return CUDA_SUCCESS;
}

CUresult unmap(uintptr_t address, size_t size) {
    const std::lock_guard lock(state().mutex);
    const std::vector<uintptr_t> mappings = whole_mappings(address, size);
    if (mappings.empty() || !put_nothing(address, size)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (const uintptr_t start : mappings) {
        const auto mapping = state().mapped.find(start);
        if (const auto known = find_allocation(start)) {
            release(*known);
        }
        --mapping->second.physical->mappings;
        end_if_unused(*mapping->second.physical);
        state().mapped.erase(mapping);
    }
    return CUDA_SUCCESS;
}

CUresult set_access(uintptr_t address, size_t size, CUmemAccess_flags flags) {
    const std::lock_guard lock(state().mutex);
    const std::vector<uintptr_t> mappings = whole_mappings(address, size);
    if (mappings.empty()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const bool is_none = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    mprotect(pointer(address), size, is_none ? PROT_NONE : PROT_READ | PROT_WRITE);
    for (const uintptr_t start : mappings) {
        Mapped& mapping = state().mapped[start];
        mapping.access = flags;
        const auto known = find_allocation(start);
        if (is_none && known) {
            release(*known);
        } else if (!is_none && !known) {
            add_mapping(start, mapping.size, mapping.physical->properties.location);
        }
    }
    return CUDA_SUCCESS;
}

CUmemAccess_flags access_of(uintptr_t address) {
    const std::lock_guard lock(state().mutex);
    const auto mapping = mapping_around(address);
    return mapping != state().mapped.end() ? mapping->second.access : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

}  // namespace simgpu
