// Events recorded behind work of the program's streams ahead of the need to wait for them.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "core/resource/stream_wait.hpp"

namespace cuward {

/// Of each lane the events recorded last. An event stays with its lane, so that whoever has just
/// been given one that is recorded anew waits for more than needed, never for less. Thread-safe; no
/// lock is held while the driver is called.
class StreamMarks {
  public:
    explicit StreamMarks(StreamEvents& events) : events_(events) {}
    ~StreamMarks();
    StreamMarks(const StreamMarks&) = delete;
    StreamMarks& operator=(const StreamMarks&) = delete;

    /// Records an event on the stream of `work`, which must be what was queued there last.
    void mark(const UsePoint& work);
    /// The first event behind `work`, or 0.
    std::uint64_t behind(const UsePoint& work) const;

    /// The driver has destroyed the context, and its events with it.
    void forget_context(ContextId context);

  private:
    static constexpr std::size_t kMostPerLane = 32;

    struct Mark {
        StreamEvent event;
        std::uint64_t position = 0;
    };
    struct Lane {
        ContextId context = 0;
        std::array<Mark, kMostPerLane> marks{};
        std::size_t count = 0;
        std::size_t oldest = 0;
    };

    StreamEvent take_oldest(const UsePoint& work);
    void add(const UsePoint& work, const StreamEvent& event);

    StreamEvents& events_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, Lane> lanes_;
};

}  // namespace cuward
