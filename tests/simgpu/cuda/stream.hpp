#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "headers.hpp"

// The execution engine. A stream is a sequence of operations numbered from 1; operation n is over
// once completed() >= n. Everything that orders work is therefore a pair (stream, number), and such
// a pair always names something issued earlier, so waiting cannot form a cycle.
namespace simgpu {

class Context;
class Stream;
struct CaptureMember;

struct Point {
    Stream* stream = nullptr;
    uint64_t number = 0;

    bool reached() const;
};

// The part of an operation that does something. An operation without work only takes time.
struct Work {
    virtual ~Work() = default;
    virtual void run() = 0;
};

// Where the device time of an event's record goes.
struct Stamp {
    std::atomic<uint64_t> ns{0};
};

struct Operation {
    uint64_t duration_ns = 0;  // passes before the work has its effect
    std::unique_ptr<Work> work;
    std::vector<Point> after;
    std::shared_ptr<Stamp> stamp;
};

enum class StreamKind { Legacy, Blocking, NonBlocking };

class Stream {
  public:
    static constexpr uint64_t depth = 1024;  // operations in flight, as on a real GPU

    // Streams are recycled, never freed: a Point stays valid, as numbers go on across reuse.
    static Stream* create(Context& context, StreamKind kind, int priority);
    void destroy();

    static Stream* from(CUstream handle) { return reinterpret_cast<Stream*>(handle); }
    CUstream handle() { return reinterpret_cast<CUstream>(this); }

    Context& context() const { return *context_; }
    StreamKind kind() const { return kind_; }
    int priority() const { return priority_; }
    uint64_t id() const { return id_.load(std::memory_order_acquire); }
    bool alive() const { return alive_.load(std::memory_order_acquire); }

    uint64_t issued() const { return issued_.load(std::memory_order_acquire); }
    uint64_t completed() const { return completed_.load(std::memory_order_seq_cst); }
    bool idle() const { return completed() >= issued(); }
    Point last() { return {this, issued()}; }

    // Puts an operation behind the others and returns its point. Blocks while the stream is full.
    // Adds what the default stream's rules demand. Takes the context's issue lock.
    // An operation without work that would be over at once is over when this returns: launches of
    // kernels nothing runs for, which benchmarks make by the million, never reach a worker.
    Point issue(Operation operation);

    // What an operation issued now would wait for, waited for by the host.
    bool wait_earlier_work();
    // Nothing left to do, and for the legacy stream: nor has any blocking stream.
    bool ready();
    // False when the process is exiting and the wait was given up.
    bool wait_for(uint64_t number);

    // Capture state (see capture.hpp) hangs here; null when not capturing.
    CaptureMember* capture = nullptr;

  private:
    Stream() = default;
    void work_loop();
    void run(Operation& operation);
    bool pass_time(uint64_t duration_ns, uint64_t& end);
    void publish(uint64_t number);
    void enqueue(Operation&& operation);
    void add_default_stream_rules(std::vector<Point>& after);
    bool complete_at_once(const Operation& operation);
    void start_worker();
    void wait_for_room();

    Context* context_ = nullptr;
    StreamKind kind_ = StreamKind::Blocking;
    int priority_ = 0;
    std::atomic<uint64_t> id_{0};
    std::atomic<bool> alive_{false};

    std::atomic<uint64_t> issued_{0};
    std::atomic<uint64_t> completed_{0};
    std::atomic<uint64_t> device_now_{0};  // when the last operation ended, on the device's clock
    std::unique_ptr<Operation[]> ring_;
    bool worker_started_ = false;

    std::mutex mutex_;  // guards sleeping and waking only
    std::condition_variable wake_worker_;
    std::condition_variable progress_;
    std::atomic<bool> parked_{false};
    std::atomic<int> waiters_{0};

    friend void stop_all_streams();
};

inline bool Point::reached() const {
    return stream == nullptr || stream->completed() >= number;
}

// False when the wait was given up because the process is exiting.
bool wait(const Point& point);

uint64_t host_ns();
// Device time passing in the middle of an operation; false when the process is exiting.
bool pause_device(uint64_t ns);
bool stopping();
// Called once, at exit: workers finish what they are in the middle of and take nothing more.
void stop_all_streams();

}  // namespace simgpu
