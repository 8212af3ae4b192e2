#include "core/repair/program_order.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cuward {
namespace {

/// How long the host waits for work at most.
constexpr std::chrono::seconds kPatience{5};

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
constinit thread_local UsePoint ProgramOrder::behind_{};

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
    if (is_host(later) || !is_known(later)) {
        return tracker_.comes_after(earlier, {.stream = kNoStream});
    }
    // What cannot be waited for is not the resource's to order either.
    return !is_wanted(earlier, later) || tracker_.comes_after(earlier, later, current_) ||
           event_behind(earlier) == 0;
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

std::uint64_t ProgramOrder::event_behind(const UsePoint& use) {
    if (!is_known(use)) {
        return 0;
    }
    std::optional<StreamMark> mark = marks_.behind(use);
    if (!mark) {
        const Tracker::Recording recording(tracker_, use);
        mark = recording.work() ? marks_.mark(*recording.work()) : std::nullopt;
    }
    if (!mark) {
        return 0;
    }
    behind_ = {.lane = use.lane, .position = mark->position};
    return reinterpret_cast<std::uint64_t>(mark->event.event);
}

void ProgramOrder::queued(const UsePoint& earlier, const UsePoint& later) {
    if (!is_known(earlier) || !is_known(later) || is_host(later)) {
        return;
    }
    ++waits_;
    UsePoint covered = earlier;
    if (behind_.lane == earlier.lane) {
        covered.position = std::max(covered.position, behind_.position);
    }
    tracker_.waits(later, covered, current_);
}

void ProgramOrder::for_each_unfinished(const std::function<void(const UsePoint&)>& visit) {
    for (const UsePoint& work : tracker_.unfinished()) {
        visit(work);
    }
}

void ProgramOrder::repair(PendingOperation& operation) {
    if (operation.missing.empty()) {
        return;
    }
    const UsePoint later = point_of(operation);
    for (const UsePoint& earlier : operation.missing) {
        queue(earlier, later);
    }
    tracker_.repaired(operation);
}

bool ProgramOrder::repair(const PendingFree& free) {
    const auto later = tracker_.point(free.stream);
    const bool waits =
        later && std::all_of(free.missing.begin(), free.missing.end(),
                             [&](const UsePoint& use) { return queue(use, *later); });
    if (waits) {
        tracker_.repaired(free);
    }
    return waits;
}

bool ProgramOrder::host_waits(const std::vector<UsePoint>& missing) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    return std::all_of(missing.begin(), missing.end(), [&](const UsePoint& use) {
        const auto event = reinterpret_cast<CUevent>(event_behind(use));
        if (event == nullptr) {
            return false;
        }
        ++waits_;
        CUresult result = driver_.event_query(event);
        while (result == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::microseconds{50});
            result = driver_.event_query(event);
        }
        return result == CUDA_SUCCESS;
    });
}

/// Gives whether `later` waits now.
bool ProgramOrder::queue(const UsePoint& earlier, const UsePoint& later) {
    if (tracker_.comes_after(earlier, later, current_)) {
        return true;
    }
    const std::uint64_t event = event_behind(earlier);
    if (event == 0 || events_.queue_wait(event, later.stream) != CUDA_SUCCESS) {
        return false;
    }
    queued(earlier, later);
    return true;
}

void ProgramOrder::operation_queued(const PendingOperation& operation) {
    if (settings_.enforce_exact && settings_.mode == Mode::Enforce && !operation.touched.empty() &&
        tracker_.is_queued_last(operation)) {
        marks_.mark(point_of(operation));
    }
}

bool ProgramOrder::queues_nothing() const {
    return settings_.mode == Mode::Check && settings_.backend == Backend::Direct &&
           !settings_.guard;
}

void ProgramOrder::before_loss(StreamRef stream) {
    if (!queues_nothing()) {
        mark_work(stream);
        tracker_.seal(stream);
    }
}

void ProgramOrder::before_wait(StreamRef stream) {
    if (!queues_nothing()) {
        mark_work(stream);
    }
}

void ProgramOrder::mark_work(StreamRef stream) {
    const auto work = tracker_.point(stream);
    if (work && !tracker_.comes_after(*work, {.stream = kNoStream})) {
        event_behind(*work);
    }
}

void ProgramOrder::after_loss(StreamRef stream) {
    if (!queues_nothing()) {
        tracker_.unseal(stream);
    }
}

void ProgramOrder::forget_context(ContextId context) {
    marks_.forget_context(context);
    events_.forget_context(context);
}

}  // namespace cuward
