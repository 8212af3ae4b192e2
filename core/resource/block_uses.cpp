#include "core/resource/block_uses.hpp"

namespace cuward {
namespace {

void add_foreign(const UseList& uses, const UsePoint& later, Dependencies& found) {
    for (const UsePoint& use : uses) {
        if (use.lane != later.lane) {
            found.add(use);
        }
    }
}

}  // namespace

void UseList::put(const UsePoint& use) {
    UsePoint* const last = uses_.get() + size_;
    UsePoint* const same =
        std::find_if(uses_.get(), last, [&](const UsePoint& old) { return old.lane == use.lane; });
    if (same != last) {
        *same = use;
        return;
    }
    if (size_ == capacity_) {
        grow();
    }
    uses_[size_++] = use;
}

void UseList::grow() {
    const std::uint32_t capacity = std::max(1U, 2 * capacity_);
    auto uses = std::make_unique<UsePoint[]>(capacity);
    std::copy(begin(), end(), uses.get());
    uses_ = std::move(uses);
    capacity_ = capacity;
}

void BlockUses::dependencies(Access access, const UsePoint& later, Dependencies& found) const {
    if (last_write_.stream != kNoStream && last_write_.lane != later.lane) {
        found.add(last_write_);
    }
    add_foreign(recorded_, later, found);
    if (writes(access)) {
        add_foreign(reads_, later, found);
    }
}

void BlockUses::finish(Access access, const UsePoint& use) {
    if (!writes(access)) {
        reads_.put(use);
        return;
    }
    last_write_ = use;
    reads_.clear();
    recorded_.clear();
}

}  // namespace cuward
