// Stream-ordered frees that have been queued and not yet been seen to be done.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "core/resource/stream_wait.hpp"

namespace cuward {

/// Watches each free by an event behind it. Thread-safe; no lock is held while the driver is
/// called.
class PendingFrees {
  public:
    PendingFrees(const DriverApi& driver, StreamEvents& events)
        : driver_(driver), events_(events) {}
    ~PendingFrees();
    PendingFrees(const PendingFrees&) = delete;
    PendingFrees& operator=(const PendingFrees&) = delete;

    /// A free of `bytes` has just been queued at `point`. Gives the bytes that need no more
    /// watching: none, or those of a free whose event could not be recorded, which counts as done
    /// since the driver has taken the memory.
    std::size_t add(const UsePoint& point, std::size_t bytes);

    /// Asks about the oldest `limit` frees and gives the bytes of those that are done.
    std::size_t reap(std::size_t limit);

    /// Gives the bytes pending in a context that the driver has destroyed, without asking the
    /// driver.
    std::size_t forget_context(ContextId context);

    std::size_t size() const;

  private:
    struct Entry {
        StreamEvent event;
        std::uint64_t lane;
        std::size_t bytes;
    };
    /// Gives an event that is no longer needed.
    std::optional<StreamEvent> insert(const Entry& entry);
    std::optional<Entry> take_oldest();
    std::size_t settle(const Entry& entry);

    const DriverApi& driver_;
    StreamEvents& events_;
    mutable std::mutex mutex_;
    std::deque<Entry> entries_;
};

}  // namespace cuward
