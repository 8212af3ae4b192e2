#include "core/resource/pending_frees.hpp"

#include <algorithm>

namespace cuward {
namespace {

/// Beyond this many, a free shares the event of an earlier one of its lane, so there are never more
/// than this and one for each lane.
constexpr std::size_t kSeparateFrees = 256;

}  // namespace

PendingFrees::~PendingFrees() {
    for (const Entry& entry : entries_) {
        events_.destroy(entry.event);
    }
}

std::size_t PendingFrees::add(const UsePoint& point, std::size_t bytes) {
    const auto event = events_.record(point);
    if (!event) {
        return bytes;
    }
    const std::optional<StreamEvent> spare = insert({*event, point.lane, bytes});
    if (spare) {
        events_.recycle(*spare);
    }
    return 0;
}

std::optional<StreamEvent> PendingFrees::insert(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kSeparateFrees) {
        const auto same = std::find_if(entries_.begin(), entries_.end(),
                                       [&](const Entry& old) { return old.lane == entry.lane; });
        if (same != entries_.end()) {
            // The new event is behind all that was queued on the lane before.
            same->bytes += entry.bytes;
            return std::exchange(same->event, entry.event);
        }
    }
    entries_.push_back(entry);
    return std::nullopt;
}

std::size_t PendingFrees::reap(std::size_t limit) {
    std::size_t freed = 0;
    // Frees that are not done go back to the end: none is asked about twice.
    for (limit = std::min(limit, size()); limit > 0; --limit) {
        const std::optional<Entry> entry = take_oldest();
        if (!entry) {
            break;
        }
        freed += settle(*entry);
    }
    return freed;
}

std::optional<PendingFrees::Entry> PendingFrees::take_oldest() {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) {
        return std::nullopt;
    }
    const Entry entry = entries_.front();
    entries_.pop_front();
    return entry;
}

std::size_t PendingFrees::settle(const Entry& entry) {
    const CUresult result = driver_.event_query(entry.event.event);
    if (result == CUDA_ERROR_NOT_READY) {
        const std::lock_guard lock(mutex_);
        entries_.push_back(entry);
        return 0;
    }
    if (result == CUDA_SUCCESS) {
        events_.recycle(entry.event);
    } else {
        // The context is broken for good: the memory will not be seen again either way.
        events_.destroy(entry.event);
    }
    return entry.bytes;
}

std::size_t PendingFrees::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    std::size_t freed = 0;
    const auto gone = [&](const Entry& entry) {
        const bool matches = entry.event.context == context;
        freed += matches ? entry.bytes : 0;
        return matches;
    };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), gone), entries_.end());
    return freed;
}

std::size_t PendingFrees::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace cuward
