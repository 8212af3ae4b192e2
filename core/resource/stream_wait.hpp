// Events behind the work of streams, and the waits for them: the only place that orders streams.
#pragma once

#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include <mutex>

#include "core/resource/driver_api.hpp"
#include "core/resource/use_order.hpp"

namespace cuward {

/// An event that this file created, with the context it belongs to.
struct StreamEvent {
    CUevent event = nullptr;
    ContextId context = 0;
};

/// Hands out events without timing and keeps a few for reuse. Thread-safe; no lock is held while
/// the driver is called. Every event taken is given back by exactly one of recycle and destroy.
class StreamEvents {
  public:
    explicit StreamEvents(const DriverApi& driver) : driver_(driver) {}
    ~StreamEvents();
    StreamEvents(const StreamEvents&) = delete;
    StreamEvents& operator=(const StreamEvents&) = delete;

    /// Takes an event and records it behind what has been queued on the stream of `point` by now.
    tl::expected<StreamEvent, CUresult> record(const UsePoint& point);

    /// Records an event taken before anew; on failure it is given up.
    tl::expected<StreamEvent, CUresult> record_again(const StreamEvent& event,
                                                     const UsePoint& point);

    /// Makes what is queued on `later` next wait for what has been queued on `earlier` by now.
    CUresult queue_wait(const UsePoint& earlier, StreamId later);
    /// The same behind an event that somebody else has recorded.
    CUresult queue_wait(std::uint64_t event, StreamId later);

    void recycle(const StreamEvent& event);
    void destroy(const StreamEvent& event);

    /// The driver has destroyed the context, and its events with it.
    void forget_context(ContextId context);

  private:
    tl::expected<StreamEvent, CUresult> take(ContextId current);
    tl::expected<StreamEvent, CUresult> record_in_context(const StreamEvent& event,
                                                          const UsePoint& point);

    const DriverApi& driver_;
    std::mutex mutex_;
    std::unordered_map<ContextId, std::vector<StreamEvent>> idle_;
};

}  // namespace cuward
