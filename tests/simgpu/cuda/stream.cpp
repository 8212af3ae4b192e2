#include "stream.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "callbacks.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

// Sleeping for less than this costs more than it simulates. Time owed is carried on the stream's
// own clock instead and slept off when enough of it has come together.
constexpr uint64_t sleep_granularity_ns = 50'000;

std::atomic<bool> stop_flag{false};
std::atomic<int> running_work{0};
std::atomic<uint64_t> next_stream_id{1};

struct Registry {
    std::mutex mutex;
    std::vector<Stream*> all;
    std::vector<Stream*> retired;
};

Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

// The notification is sent under the lock: a waiter between its check and its sleep would miss it.
void notify(std::mutex& mutex, std::condition_variable& condition) {
    const std::lock_guard lock(mutex);
    condition.notify_all();
}

}  // namespace

uint64_t host_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool stopping() {
    return stop_flag.load(std::memory_order_acquire);
}

bool wait(const Point& point) {
    return point.stream == nullptr || point.stream->wait_for(point.number);
}

Stream* Stream::create(Context& context, StreamKind kind, int priority) {
    Stream* stream = nullptr;
    {
        Registry& streams = registry();
        const std::lock_guard lock(streams.mutex);
        for (size_t index = streams.retired.size(); index-- > 0;) {
            if (streams.retired[index]->idle()) {
                stream = streams.retired[index];
                streams.retired.erase(streams.retired.begin() + static_cast<ptrdiff_t>(index));
                break;
            }
        }
        if (stream == nullptr) {
            stream = new Stream;
            streams.all.push_back(stream);
        }
    }
    if (stream->context_ != nullptr) {
        stream->context_->forget_stream(stream);
    }
    stream->context_ = &context;
    stream->kind_ = kind;
    stream->priority_ = priority;
    stream->id_.store(next_stream_id.fetch_add(1), std::memory_order_release);
    stream->capture = nullptr;
    stream->alive_.store(true, std::memory_order_release);
    context.add_stream(stream);
    return stream;
}

void Stream::destroy() {
    // Work already issued goes on; the object is reused only once it is over.
    alive_.store(false, std::memory_order_release);
    Registry& streams = registry();
    const std::lock_guard lock(streams.mutex);
    streams.retired.push_back(this);
}

void Stream::add_default_stream_rules(std::vector<Point>& after) {
    if (kind_ == StreamKind::Legacy) {
        for (Stream* other : context_->blocking_streams()) {
            if (!other->idle()) {
                after.push_back(other->last());
            }
        }
    } else if (kind_ == StreamKind::Blocking) {
        Stream* legacy = context_->legacy_stream();
        if (!legacy->idle()) {
            after.push_back(legacy->last());
        }
    }
}

void Stream::wait_for_room() {
    const uint64_t next = issued() + 1;
    if (next > depth) {
        wait_for(next - depth);
    }
}

bool Stream::complete_at_once(const Operation& operation) {
    if (operation.work || !operation.after.empty()) {
        return false;
    }
    const uint64_t number = issued();
    if (completed() != number) {
        return false;
    }
    uint64_t end = device_now_.load(std::memory_order_relaxed);
    if (operation.duration_ns != 0 || operation.stamp) {
        const uint64_t now = host_ns();
        end = std::max(end, now) + operation.duration_ns;
        if (end - now >= sleep_granularity_ns) {
            return false;
        }
        device_now_.store(end, std::memory_order_relaxed);
    }
    if (operation.stamp) {
        operation.stamp->ns.store(end, std::memory_order_release);
    }
    // Completion is stored first, so that the worker never finds an operation to run.
    completed_.store(number + 1, std::memory_order_seq_cst);
    issued_.store(number + 1, std::memory_order_seq_cst);
    return true;
}

Point Stream::issue(Operation operation) {
    for (;;) {
        wait_for_room();
        const std::lock_guard lock(context_->issue_mutex());
        if (issued() - completed() >= depth && !stopping()) {
            continue;
        }
        add_default_stream_rules(operation.after);
        std::erase_if(operation.after, [](const Point& point) { return point.reached(); });
        if (!complete_at_once(operation)) {
            enqueue(std::move(operation));
        }
        return last();
    }
}

void Stream::enqueue(Operation&& operation) {
    if (!ring_) {
        ring_ = std::make_unique<Operation[]>(depth);
    }
    if (!worker_started_) {
        start_worker();
    }
    const uint64_t number = issued_.load(std::memory_order_relaxed) + 1;
    if (stopping()) {
        return;
    }
    ring_[number % depth] = std::move(operation);
    issued_.store(number, std::memory_order_seq_cst);
    if (parked_.load(std::memory_order_seq_cst)) {
        const std::lock_guard lock(mutex_);
        wake_worker_.notify_one();
    }
}

void Stream::start_worker() {
    worker_started_ = true;
    // Detached, because the process may exit while work is running and nobody joins then.
    std::thread([this] { work_loop(); }).detach();
}

void Stream::work_loop() {
    prctl(PR_SET_NAME, "simgpu-stream");
    prctl(PR_SET_TIMERSLACK, 1000);
    for (;;) {
        const auto pending = [this] {
            // Issued is read first: see complete_at_once.
            const uint64_t last_issued = issued_.load(std::memory_order_seq_cst);
            return last_issued > completed_.load(std::memory_order_seq_cst);
        };
        if (!pending()) {
            std::unique_lock lock(mutex_);
            parked_.store(true, std::memory_order_seq_cst);
            wake_worker_.wait(lock, [&] { return pending() || stopping(); });
            parked_.store(false, std::memory_order_seq_cst);
        }
        if (stopping()) {
            return;
        }
        const uint64_t number = completed_.load(std::memory_order_seq_cst) + 1;
        Operation operation = std::move(ring_[number % depth]);
        run(operation);
        if (stopping()) {
            return;
        }
        operation.work.reset();
        publish(number);
    }
}

bool Stream::pass_time(uint64_t duration_ns, uint64_t& end) {
    const uint64_t now = host_ns();
    end = std::max(device_now_.load(std::memory_order_relaxed), now) + duration_ns;
    if (end - now >= sleep_granularity_ns) {
        std::unique_lock lock(mutex_);
        wake_worker_.wait_until(lock,
                                std::chrono::steady_clock::time_point(
                                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                        std::chrono::nanoseconds(end))),
                                [] { return stopping(); });
    }
    return !stopping();
}

void Stream::run(Operation& operation) {
    for (const Point& point : operation.after) {
        if (!wait(point)) {
            return;
        }
    }
    uint64_t end = 0;
    if (!pass_time(operation.duration_ns, end)) {
        return;
    }
    if (operation.work) {
        running_work.fetch_add(1, std::memory_order_seq_cst);
        if (!stopping()) {
            operation.work->run();
        }
        running_work.fetch_sub(1, std::memory_order_seq_cst);
        end = std::max(end, host_ns());
    }
    if (operation.stamp) {
        operation.stamp->ns.store(end, std::memory_order_release);
    }
    device_now_.store(end, std::memory_order_relaxed);
}

void Stream::publish(uint64_t number) {
    completed_.store(number, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) > 0) {
        notify(mutex_, progress_);
    }
}

bool Stream::wait_for(uint64_t number) {
    if (completed() >= number) {
        return true;
    }
    std::unique_lock lock(mutex_);
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    progress_.wait(lock, [&] { return completed() >= number || stopping(); });
    waiters_.fetch_sub(1, std::memory_order_seq_cst);
    return completed() >= number;
}

bool Stream::wait_earlier_work() {
    std::vector<Point> points;
    {
        const std::lock_guard lock(context_->issue_mutex());
        add_default_stream_rules(points);
        points.push_back(last());
    }
    return std::all_of(points.begin(), points.end(),
                       [](const Point& point) { return wait(point); });
}

bool Stream::ready() {
    std::vector<Point> points;
    const std::lock_guard lock(context_->issue_mutex());
    if (kind_ == StreamKind::Legacy) {
        add_default_stream_rules(points);
    }
    return points.empty() && idle();
}

bool pause_device(uint64_t ns) {
    const uint64_t until = host_ns() + ns;
    while (!stopping()) {
        const uint64_t now = host_ns();
        if (now >= until || until - now < sleep_granularity_ns) {
            break;
        }
        // In slices, so that an exit need not wait for a long kernel of a graph.
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(std::min<uint64_t>(until - now, 20'000'000)));
    }
    return !stopping();
}

void stop_all_streams() {
    stop_flag.store(true, std::memory_order_seq_cst);
    {
        Registry& streams = registry();
        const std::lock_guard lock(streams.mutex);
        for (Stream* stream : streams.all) {
            const std::lock_guard sleeping(stream->mutex_);
            stream->wake_worker_.notify_all();
            stream->progress_.notify_all();
        }
    }
    // Work that is running uses the program's code and memory, which go away next. Give it a
    // moment, but never hang the exit on an endless kernel.
    const uint64_t give_up = host_ns() + 1'000'000'000;
    while (running_work.load(std::memory_order_seq_cst) > 0 && host_ns() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace simgpu
