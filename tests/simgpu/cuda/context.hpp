#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "headers.hpp"
#include "stream.hpp"

// Devices' contexts: a legacy default stream, the streams of the context, the lock under which work
// is issued, and which context is current to a thread.
namespace simgpu {

class Context {
  public:
    static Context* create(int device, unsigned flags, bool primary);
    static Context* from(CUcontext handle) { return reinterpret_cast<Context*>(handle); }
    CUcontext handle() const { return reinterpret_cast<CUcontext>(const_cast<Context*>(this)); }

    // Waits for the work, frees what the context owns, destroys its streams. The object stays, so
    // that a stale handle is recognised.
    void close();
    // A primary context comes back to life under the same handle.
    void open();

    // References to a primary context; the last one closes it.
    void retain();
    bool release();

    CUresult set_peer(Context* peer, bool on);

    int device() const { return device_; }
    uint32_t uid() const { return uid_; }
    bool alive() const { return alive_.load(std::memory_order_acquire); }
    bool primary() const { return primary_; }
    unsigned flags = 0;
    size_t limits[CU_LIMIT_MAX] = {1024, size_t{7} << 20, size_t{8} << 20, 2, 2048, 128};

    std::mutex& issue_mutex() { return issue_mutex_; }
    Stream* legacy_stream() const { return legacy_; }
    // Under the issue lock only.
    const std::vector<Stream*>& blocking_streams() const { return blocking_; }

    void add_stream(Stream* stream);
    // When a destroyed stream's object is about to be reused. Until then it stays listed, because
    // the legacy stream and the context still wait for what it has left to do.
    void forget_stream(Stream* stream);
    Stream* per_thread_stream();

    // All that is issued from now on, also on new streams, comes after the point.
    void await(const Point& point);
    std::vector<Point> everything();     // last point of every stream
    std::vector<Point> blocking_work();  // what the legacy stream's next operation would wait for
    bool synchronize();

  private:
    Context() = default;

    int device_ = 0;
    uint32_t uid_ = 0;
    bool primary_ = false;
    std::atomic<bool> alive_{false};
    std::mutex issue_mutex_;
    Stream* legacy_ = nullptr;
    std::vector<Stream*> streams_;
    std::vector<Stream*> blocking_;
    std::vector<Point> awaited_;
    std::vector<Context*> peers_;
    std::recursive_mutex life_mutex_;  // callbacks about the context may retain it again
    int references_ = 0;
};

Context* current_context();
void set_current_context(Context* context);  // replaces the top of the thread's stack
void push_context(Context* context);
Context* pop_context();

bool initialised();
CUresult initialise();
std::vector<Context*> contexts_of(int device);
Context& primary_context(int device);

// The current context, or the error the real driver gives.
CUresult require_context(Context*& context);
CUresult resolve_stream(Context& context, CUstream handle, bool per_thread, Stream*& stream);
CUresult resolve_stream(CUstream handle, bool per_thread, Stream*& stream);

// cuMemFree and its like: the host waits for the whole device.
bool synchronize_device(int device);

}  // namespace simgpu
