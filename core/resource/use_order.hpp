// What a resource asks about the order that the program's own calls already provide.
#pragma once

#include <cstdint>
#include <functional>

#include "core/types.hpp"

namespace cuward {

/// The work queued on a stream up to some moment, as a resource remembers it.
struct UsePoint {
    StreamId stream = kNoStream;  ///< handle to queue on; kNoStream stands for the host
    ContextId context = 0;        ///< of the handle; 0: ask the driver
    std::uint64_t lane = 0;       ///< which stream the handle meant; equal lanes are one stream
    std::uint64_t position = 0;   ///< which work of that stream; means something to the order only
};

/// Knows what the program ordered. Thread-safe, and called without any lock of the resource held.
class UseOrder {
  public:
    virtual ~UseOrder() = default;

    /// The work queued last on `stream`. Lanes are the order's to number; it can thus tell apart
    /// what one handle means in several contexts and threads, and a reused handle from the stream
    /// before.
    virtual UsePoint point(StreamId stream) = 0;

    /// Whether what `later` does next comes after `earlier` anyway, or is not the resource's to
    /// order.
    virtual bool provided(const UsePoint& earlier, const UsePoint& later) = 0;

    /// The resource has queued the wait that was not provided.
    virtual void queued(const UsePoint& /*earlier*/, const UsePoint& /*later*/) {}

    /// A CUevent that has been recorded behind this work, or 0. Must be waited for instead of one
    /// recorded now, as the stream may have ended or be captured.
    virtual std::uint64_t event_behind(const UsePoint& /*use*/) { return 0; }

    /// Visits, for every stream, the work queued last that the host is not known to have seen
    /// complete; by this the whole device can be waited for without blocking anybody.
    virtual void for_each_unfinished(const std::function<void(const UsePoint&)>& /*visit*/) {}

    /// Whether all work of the program is known, so that for_each_unfinished leaves none out.
    virtual bool sees_all_work() const { return true; }

    /// Whether some stream of the process is being captured: an event recorded now may become part
    /// of the capture, and the driver refuses calls that are unsafe meanwhile.
    virtual bool is_capturing() const { return false; }

    /// Whether nothing at all may be queued on the program's streams, events to watch them
    /// included.
    virtual bool observes_only() const { return false; }

    /// Whether it matters which uses a block has had. If not, resources need not remember them, and
    /// answer for a use without looking whether the block is live.
    virtual bool needs_uses() const { return true; }
};

/// The order of check mode: everything counts as provided, so a resource makes exactly the driver
/// calls the program asked for. What is really missing, the checks report.
UseOrder& observed_order();

}  // namespace cuward
