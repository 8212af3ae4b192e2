#pragma once

#include <memory>
#include <mutex>

#include "headers.hpp"
#include "stream.hpp"

// An event names the last operation recorded into it. Its object is reused after destruction, as
// the real driver reuses handles; waits take a copy of the point and so never look at a reused
// event.
namespace simgpu {

struct CaptureSession;

class Event {
  public:
    static Event* create(Context& context, unsigned flags);
    static Event* from(CUevent handle) { return reinterpret_cast<Event*>(handle); }
    CUevent handle() { return reinterpret_cast<CUevent>(this); }
    void destroy();

    bool alive() const { return alive_; }
    bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
    Context& context() const { return *context_; }

    void record(Stream& stream, uint64_t extra_ns);
    void set(Point point, std::shared_ptr<Stamp> stamp);
    Point point() const;
    std::shared_ptr<Stamp> stamp() const;

    // Set while the last record was made in a capture: the session and the nodes it stands for.
    uint64_t capture_id = 0;
    std::vector<CUgraphNode> capture_nodes;

  private:
    Context* context_ = nullptr;
    unsigned flags_ = 0;
    bool alive_ = false;
    mutable std::mutex mutex_;
    Point point_;
    std::shared_ptr<Stamp> stamp_;
};

}  // namespace simgpu
