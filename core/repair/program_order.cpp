#include "core/repair/program_order.hpp"

#include <algorithm>

namespace cuward {
namespace {

/// Lanes of streams that the tracker does not know, such as the resources' own.
constexpr std::uint64_t kUnknownLane = std::uint64_t{1} << 63;

bool is_known(const UsePoint& point) {
    return (point.lane & kUnknownLane) == 0;
}

bool is_host(const UsePoint& point) {
    return point.stream == kNoStream;
}

}  // namespace

constinit thread_local PendingOperation* ProgramOrder::current_ = nullptr;

ProgramOrder::ProgramOrder(const DriverApi& driver, Tracker& tracker, const Settings& settings)
    : driver_(driver), tracker_(tracker), settings_(settings), events_(driver), marks_(events_) {}

RepairPolicy ProgramOrder::policy_of(const Settings& settings) {
    if (settings.mode == Mode::Check) {
        return {};
    }
    return {.from = settings.enforce_all ? Verdict::Possible : Verdict::Likely,
            .watches_calls = true};
}

UsePoint ProgramOrder::point_of(const PendingOperation& operation) const {
    return {.stream = operation.stream.stream,
            .context = operation.stream.context,
            .lane = operation.slot,
            .position = operation.epoch};
}

UsePoint ProgramOrder::point(StreamId stream) {
    if (current_ != nullptr && current_->stream.stream == stream) {
        return point_of(*current_);
    }
    CUcontext context = nullptr;
    driver_.ctx_get_current(&context);
    const StreamRef ref{.context = reinterpret_cast<ContextId>(context), .stream = stream};
    return tracker_.point(ref).value_or(
        UsePoint{.stream = stream, .lane = static_cast<std::uint64_t>(stream) | kUnknownLane});
}

bool ProgramOrder::provided(const UsePoint& earlier, const UsePoint& later) {
    if (!is_known(earlier)) {
        return false;
    }
    if (is_host(later)) {
        return tracker_.comes_after(earlier, later);
    }
    if (!is_known(later)) {
        return tracker_.comes_after(earlier, {.stream = kNoStream});
    }
    return !is_wanted(earlier, later) || tracker_.comes_after(earlier, later) ||
           !can_wait_for(earlier);
}

/// Whether a missing wait on a stream of the program is to be queued.
bool ProgramOrder::is_wanted(const UsePoint& earlier, const UsePoint& later) const {
    if (settings_.mode == Mode::Check) {
        return false;
    }
    if (settings_.enforce_all || current_ == nullptr || current_->slot != later.lane) {
        return true;
    }
    return std::any_of(current_->missing.begin(), current_->missing.end(),
                       [&](const UsePoint& missing) { return missing.lane == earlier.lane; });
}

bool ProgramOrder::can_wait_for(const UsePoint& earlier) {
    return marks_.behind(earlier) != 0 || tracker_.can_record_behind(earlier);
}

void ProgramOrder::queued(const UsePoint& earlier, const UsePoint& later) {
    if (!is_known(earlier) || !is_known(later) || is_host(later)) {
        return;
    }
    ++waits_;
    tracker_.waits(later, earlier, marks_.behind(earlier) == 0);
    if (current_ != nullptr && current_->slot == later.lane) {
        tracker_.repaired(*current_, earlier);
    }
}

void ProgramOrder::for_each_unfinished(const std::function<void(const UsePoint&)>& visit) {
    for (const UsePoint& work : tracker_.unfinished()) {
        visit(work);
    }
}

void ProgramOrder::repair(const PendingOperation& operation) {
    const UsePoint later = point_of(operation);
    for (const UsePoint& earlier : operation.missing) {
        queue(earlier, later);
    }
}

void ProgramOrder::repair(const std::vector<UsePoint>& missing, StreamRef later) {
    if (const auto point = tracker_.point(later)) {
        for (const UsePoint& earlier : missing) {
            queue(earlier, *point);
        }
    }
}

void ProgramOrder::queue(const UsePoint& earlier, const UsePoint& later) {
    if (provided(earlier, later)) {
        return;
    }
    const std::uint64_t event = event_behind(earlier);
    const CUresult result = event != 0 ? events_.queue_wait(event, later.stream)
                                       : events_.queue_wait(earlier, later.stream);
    if (result == CUDA_SUCCESS) {
        queued(earlier, later);
    }
}

void ProgramOrder::operation_queued(const PendingOperation& operation) {
    if (settings_.enforce_exact && settings_.mode == Mode::Enforce && !operation.touched.empty()) {
        marks_.mark(point_of(operation));
    }
}

void ProgramOrder::before_loss(StreamRef stream) {
    if (settings_.mode == Mode::Check && settings_.backend == Backend::Direct && !settings_.guard) {
        return;
    }
    const auto work = tracker_.point(stream);
    if (work && !tracker_.comes_after(*work, {.stream = kNoStream}) && marks_.behind(*work) == 0 &&
        tracker_.can_record_behind(*work)) {
        marks_.mark(*work);
    }
}

void ProgramOrder::forget_context(ContextId context) {
    marks_.forget_context(context);
    events_.forget_context(context);
}

}  // namespace cuward
