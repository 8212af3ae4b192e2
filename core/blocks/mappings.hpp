// Addresses that lead to memory which has another address of its own: physical memory mapped into
// the address space, pinned memory whose device address differs. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/types.hpp"

namespace cuward {

/// The bytes [lo, hi) are those at `memory` and behind it.
struct Mapping {
    Address lo = 0;
    Address hi = 0;
    Address memory = 0;
    /// A pointer into it may reach into what is mapped behind it, as parts of one array are.
    bool is_physical = false;

    Address translated(Address address) const { return memory + (address - lo); }
    Address memory_end() const { return translated(hi); }
};

class Mappings {
  public:
    bool empty() const { return mappings_.empty(); }
    /// Replaces what was mapped there.
    void add(const Mapping& mapping);
    std::optional<Mapping> find(Address address) const;
    /// Whether some of the memory in [lo, hi) is mapped. O(mappings).
    bool leads_to(Address lo, Address hi) const;
    /// Takes off all that lie in [lo, hi); a mapping is unmapped as a whole (cuMemUnmap).
    std::vector<Mapping> remove(Address lo, Address hi);
    /// The same for those of the memory in [lo, hi).
    std::vector<Mapping> remove_memory(Address lo, Address hi);

  private:
    std::map<Address, Mapping> mappings_;
};

}  // namespace cuward
