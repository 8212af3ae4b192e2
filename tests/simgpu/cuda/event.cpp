#include "event.hpp"

#include "../handle.hpp"
#include "config.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

struct Retired {
    std::mutex mutex;
    std::vector<Event*> events;
};

Retired& retired() {
    static Retired& instance = *new Retired;
    return instance;
}

}  // namespace

Event* Event::create(Context& context, unsigned flags) {
    Event* event = nullptr;
    {
        const std::lock_guard lock(retired().mutex);
        if (!retired().events.empty()) {
            event = retired().events.back();
            retired().events.pop_back();
        }
    }
    if (event == nullptr) {
        event = new_handle<Event>();
    }
    event->context_ = &context;
    event->flags_ = flags;
    event->alive_ = true;
    event->capture_id = 0;
    event->capture_nodes.clear();
    event->set({}, nullptr);
    return event;
}

void Event::destroy() {
    alive_ = false;
    const std::lock_guard lock(retired().mutex);
    retired().events.push_back(this);
}

void Event::record(Stream& stream, uint64_t extra_ns) {
    Operation operation;
    operation.duration_ns = delay_of("event") + extra_ns;
    std::shared_ptr<Stamp> written;
    if (timed()) {
        written = std::make_shared<Stamp>();
        operation.stamp = written;
    }
    const Point point = stream.issue(std::move(operation));
    capture_id = 0;
    set(point, std::move(written));
}

void Event::set(Point point, std::shared_ptr<Stamp> stamp) {
    const std::lock_guard lock(mutex_);
    point_ = point;
    stamp_ = std::move(stamp);
}

Point Event::point() const {
    const std::lock_guard lock(mutex_);
    return point_;
}

std::shared_ptr<Stamp> Event::stamp() const {
    const std::lock_guard lock(mutex_);
    return stamp_;
}

}  // namespace simgpu
