#include "core/resource/stream_wait.hpp"

namespace cuward {
namespace {

constexpr std::size_t kIdleEventsPerContext = 64;

CUstream handle_of(StreamId stream) {
    return reinterpret_cast<CUstream>(static_cast<std::uint64_t>(stream));
}

/// CU_STREAM_PER_THREAD would name the stream of the calling thread. The legacy stream waits for
/// the per-thread streams of all threads, as they are blocking streams (Driver API manual, "Stream
/// synchronization behavior"), so an event behind it is behind the one that was meant.
StreamId recordable(StreamId stream) {
    return stream == kPerThreadStream ? kLegacyStream : stream;
}

tl::expected<ContextId, CUresult> context_of(const DriverApi& driver, const UsePoint& point,
                                             ContextId current) {
    if (point.context != 0) {
        return point.context;
    }
    if (point.stream == kLegacyStream || point.stream == kPerThreadStream) {
        return current;
    }
    CUcontext context = nullptr;
    const CUresult result = driver.stream_get_ctx(handle_of(point.stream), &context);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    return reinterpret_cast<ContextId>(context);
}

/// Makes a context current for a while. An event must be recorded on a stream of its own context
/// (Driver API manual, cuEventRecord), and a default handle means that of the current one.
class CurrentContext {
  public:
    CurrentContext(const DriverApi& driver, const UsePoint& point) : driver_(driver) {
        CUcontext current = nullptr;
        result_ = driver.ctx_get_current(&current);
        if (result_ != CUDA_SUCCESS) {
            return;
        }
        const auto wanted = context_of(driver, point, reinterpret_cast<ContextId>(current));
        result_ = wanted ? CUDA_SUCCESS : wanted.error();
        if (!wanted) {
            return;
        }
        context_ = *wanted;
        if (context_ != reinterpret_cast<ContextId>(current)) {
            result_ = driver.ctx_push_current(reinterpret_cast<CUcontext>(context_));
            pushed_ = result_ == CUDA_SUCCESS;
        }
    }
    ~CurrentContext() {
        if (pushed_) {
            CUcontext popped = nullptr;
            driver_.ctx_pop_current(&popped);
        }
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

    CUresult result() const { return result_; }
    ContextId id() const { return context_; }

  private:
    const DriverApi& driver_;
    CUresult result_ = CUDA_SUCCESS;
    ContextId context_ = 0;
    bool pushed_ = false;
};

}  // namespace

StreamEvents::~StreamEvents() {
    for (const auto& [context, events] : idle_) {
        for (const StreamEvent& event : events) {
            destroy(event);
        }
    }
}

tl::expected<StreamEvent, CUresult> StreamEvents::take(ContextId current) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<StreamEvent>& idle = idle_[current];
        if (!idle.empty()) {
            const StreamEvent event = idle.back();
            idle.pop_back();
            return event;
        }
    }
    StreamEvent created{.context = current};
    const CUresult result = driver_.event_create(&created.event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) {
        return tl::unexpected(result);
    }
    return created;
}

tl::expected<StreamEvent, CUresult> StreamEvents::record(const UsePoint& point) {
    const CurrentContext context(driver_, point);
    if (context.result() != CUDA_SUCCESS) {
        return tl::unexpected(context.result());
    }
    return take(context.id()).and_then([&](const StreamEvent& event) {
        return record_in_context(event, point);
    });
}

tl::expected<StreamEvent, CUresult> StreamEvents::record_again(const StreamEvent& event,
                                                               const UsePoint& point) {
    const CurrentContext context(driver_, point);
    if (context.result() != CUDA_SUCCESS) {
        destroy(event);
        return tl::unexpected(context.result());
    }
    return record_in_context(event, point);
}

tl::expected<StreamEvent, CUresult> StreamEvents::record_in_context(const StreamEvent& event,
                                                                    const UsePoint& point) {
    const CUresult result = driver_.event_record(event.event, handle_of(recordable(point.stream)));
    if (result != CUDA_SUCCESS) {
        destroy(event);
        return tl::unexpected(result);
    }
    return event;
}

CUresult StreamEvents::queue_wait(std::uint64_t event, StreamId later) {
    return driver_.stream_wait_event(handle_of(later), reinterpret_cast<CUevent>(event), 0);
}

CUresult StreamEvents::queue_wait(const UsePoint& earlier, StreamId later) {
    const auto event = record(earlier);
    if (!event) {
        return event.error();
    }
    const CUresult result = driver_.stream_wait_event(handle_of(later), event->event, 0);
    // The wait has taken the record as it is now; recording again does not change it (Driver API
    // manual, cuEventRecord), so the event is free for the next use at once.
    recycle(*event);
    return result;
}

void StreamEvents::recycle(const StreamEvent& event) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<StreamEvent>& idle = idle_[event.context];
        if (idle.size() < kIdleEventsPerContext) {
            idle.push_back(event);
            return;
        }
    }
    destroy(event);
}

void StreamEvents::destroy(const StreamEvent& event) {
    driver_.event_destroy(event.event);
}

void StreamEvents::forget_context(ContextId context) {
    const std::lock_guard lock(mutex_);
    idle_.erase(context);
}

}  // namespace cuward
