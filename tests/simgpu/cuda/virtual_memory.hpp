#pragma once

#include <cstdint>

#include "headers.hpp"

// Physical memory is a file in memory; mapping it maps the file, so two addresses of the same bytes
// are just that.
namespace simgpu {

struct Physical {
    int file = -1;
    size_t size = 0;
    CUmemAllocationProp properties{};
    int references = 1;
    int mappings = 0;
};

constexpr size_t mapping_granularity = size_t{2} << 20;

CUresult create_physical(size_t size, const CUmemAllocationProp& properties, Physical*& created);
CUresult import_physical(int file, Physical*& created);
CUresult release_physical(Physical& physical);
Physical* physical_at(uintptr_t address);
Physical* find_physical(uint64_t handle);

CUresult reserve_addresses(size_t size, size_t alignment, uintptr_t& address);
CUresult free_addresses(uintptr_t address, size_t size);
CUresult map(uintptr_t address, size_t size, size_t offset, Physical& physical);
CUresult unmap(uintptr_t address, size_t size);
// From the first access on copies know the addresses.
CUresult set_access(uintptr_t address, size_t size, CUmemAccess_flags flags);
CUmemAccess_flags access_of(uintptr_t address);

}  // namespace simgpu
