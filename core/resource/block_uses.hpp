// Which streams use a block, and what a new use of it depends on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "core/resource/use_order.hpp"
#include "core/types.hpp"

namespace cuward {

/// At most one use per lane. 16 bytes while empty, as there may be millions of them; keeps its
/// storage when cleared, so that a block in steady use allocates nothing.
class UseList {
  public:
    /// Adds the use, in place of the earlier one of the same lane.
    void put(const UsePoint& use);
    void clear() { size_ = 0; }

    const UsePoint* begin() const { return uses_.get(); }
    const UsePoint* end() const { return uses_.get() + size_; }

  private:
    void grow();

    std::unique_ptr<UsePoint[]> uses_;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

/// Uses that another one may have to wait for. Holds the usual few without allocating.
class Dependencies {
  public:
    Dependencies() = default;
    Dependencies(const Dependencies&) = delete;
    Dependencies& operator=(const Dependencies&) = delete;

    void add(const UsePoint& use) { uses_.push_back(use); }
    bool empty() const { return uses_.empty(); }
    auto begin() const { return uses_.begin(); }
    auto end() const { return uses_.end(); }
    bool has_lane(std::uint64_t lane) const {
        return std::any_of(begin(), end(), [&](const UsePoint& use) { return use.lane == lane; });
    }

  private:
    static constexpr std::size_t kUsual = 8;
    alignas(UsePoint) std::array<std::byte, 2 * kUsual * sizeof(UsePoint)> storage_;
    std::pmr::monotonic_buffer_resource arena_{storage_.data(), storage_.size()};
    std::pmr::vector<UsePoint> uses_{&arena_};
};

/// The uses of one block. Work of one lane needs no wait, so a use never depends on its own lane.
class BlockUses {
  public:
    /// `first` is the stream-ordered allocation, on which every other use depends like on a write;
    /// a default UsePoint for memory that was usable at once.
    explicit BlockUses(const UsePoint& first) : last_write_(first) {}

    /// Read: the last write and uses of unknown kind. Otherwise: all outstanding reads as well.
    void dependencies(Access access, const UsePoint& later, Dependencies& found) const;

    /// A read joins the outstanding ones; a write, which has waited for all others, replaces them.
    void finish(Access access, const UsePoint& use);

    /// A use of unknown kind that has not waited for the others: all of them stay outstanding.
    void record(const UsePoint& use) { recorded_.put(use); }

  private:
    UsePoint last_write_;
    UseList reads_;
    UseList recorded_;
};

}  // namespace cuward
