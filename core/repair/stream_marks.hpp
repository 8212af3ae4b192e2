// Events recorded behind work of the program's streams.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/resource/stream_wait.hpp"

namespace cuward {

/// An event, and the last work of its lane that it is behind.
struct StreamMark {
    StreamEvent event;
    std::uint64_t position = 0;
};

/// Of each lane the events recorded last. An event stays with its lane, so that whoever has just
/// been given one that is recorded anew waits for more than needed, never for less. Thread-safe; no
/// lock is held while the driver is called.
class StreamMarks {
  public:
    explicit StreamMarks(StreamEvents& events) : events_(events) {}
    ~StreamMarks();
    StreamMarks(const StreamMarks&) = delete;
    StreamMarks& operator=(const StreamMarks&) = delete;

    /// Records an event on the stream of `work`, which is what has been queued there last. None if
    /// the driver refuses.
    std::optional<StreamMark> mark(const UsePoint& work);
    /// The first mark behind `work`.
    std::optional<StreamMark> behind(const UsePoint& work) const;

    /// The driver has destroyed the context, and its events with it.
    void forget_context(ContextId context);

  private:
    /// More only while several threads mark one lane at once.
    static constexpr std::size_t kMostPerLane = 32;

    struct Lane {
        ContextId context = 0;
        std::deque<StreamMark> marks;  ///< oldest first
    };

    StreamEvent take_oldest(const UsePoint& work);
    void add(const UsePoint& work, const StreamMark& mark);
    void destroy(const Lane& lane);

    StreamEvents& events_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, Lane> lanes_;
};

}  // namespace cuward
