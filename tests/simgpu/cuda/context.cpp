#include "context.hpp"

#include <algorithm>
#include <cstdlib>

#include "callbacks.hpp"
#include "config.hpp"
#include "memory.hpp"

namespace simgpu {
namespace {

struct Contexts {
    std::mutex mutex;
    std::vector<Context*> all;
    std::vector<Context*> primaries;
};

Contexts& contexts() {
    static Contexts& instance = *new Contexts;
    return instance;
}

std::atomic<bool> ready{false};
std::atomic<uint32_t> next_context_uid{1};

thread_local std::vector<Context*>* context_stack = nullptr;

// A thread's default stream in one context. Stream objects are reused, so its id tells whether it
// is still the one that was made for the thread.
struct OwnStream {
    Context* context;
    Stream* stream;
    uint64_t id;

    bool valid() const { return stream->alive() && stream->id() == id; }
};

// A thread's default streams die with the thread; their work goes on. The stack of contexts is
// dropped here too.
struct ThreadEnd {
    std::vector<OwnStream> streams;

    ~ThreadEnd() {
        if (!stopping()) {
            for (const OwnStream& own : streams) {
                if (own.valid()) {
                    own.stream->destroy();
                }
            }
        }
        delete context_stack;
        context_stack = nullptr;
    }
};
thread_local ThreadEnd thread_end;

std::vector<Context*>& stack() {
    if (context_stack == nullptr) {
        context_stack = new std::vector<Context*>;
        thread_end.streams.reserve(1);  // brings the destructor to life
    }
    return *context_stack;
}

}  // namespace

Context* Context::create(int device, unsigned flags, bool primary) {
    auto* context = new Context;
    context->device_ = device;
    context->flags = flags;
    context->primary_ = primary;
    {
        const std::lock_guard lock(contexts().mutex);
        contexts().all.push_back(context);
    }
    if (!primary) {
        context->open();
    }
    return context;
}

void Context::open() {
    uid_ = next_context_uid.fetch_add(1);
    alive_.store(true, std::memory_order_release);
    legacy_ = Stream::create(*this, StreamKind::Legacy, 0);
    notify_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, handle(), nullptr, nullptr);
}

void Context::close() {
    notify_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, handle(), nullptr, nullptr);
    synchronize();
    std::vector<Stream*> mine;
    {
        const std::lock_guard lock(issue_mutex_);
        mine = streams_;
    }
    for (Stream* stream : mine) {
        if (stream->alive()) {
            stream->destroy();
        }
    }
    legacy_ = nullptr;
    alive_.store(false, std::memory_order_release);
    free_memory_of(*this);
}

void Context::retain() {
    const std::lock_guard lock(life_mutex_);
    ++references_;
    if (!alive()) {
        open();
    }
}

bool Context::release() {
    const std::lock_guard lock(life_mutex_);
    if (references_ == 0) {
        return false;
    }
    if (--references_ == 0 && alive()) {
        close();
    }
    return true;
}

CUresult Context::set_peer(Context* peer, bool on) {
    const std::lock_guard lock(life_mutex_);
    const bool known = std::find(peers_.begin(), peers_.end(), peer) != peers_.end();
    if (peer->device() == device_) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (known == on) {
        return on ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    if (on) {
        peers_.push_back(peer);
    } else {
        std::erase(peers_, peer);
    }
    return CUDA_SUCCESS;
}

void Context::add_stream(Stream* stream) {
    Operation wait;
    {
        const std::lock_guard lock(issue_mutex_);
        streams_.push_back(stream);
        if (stream->kind() == StreamKind::Blocking) {
            blocking_.push_back(stream);
        }
        std::erase_if(awaited_, [](const Point& point) { return point.reached(); });
        wait.after = awaited_;
    }
    if (!wait.after.empty()) {
        stream->issue(std::move(wait));
    }
}

void Context::await(const Point& point) {
    {
        const std::lock_guard lock(issue_mutex_);
        awaited_.push_back(point);
    }
    for (const Point& last : everything()) {
        Operation wait;
        wait.after.push_back(point);
        last.stream->issue(std::move(wait));
    }
}

void Context::forget_stream(Stream* stream) {
    const std::lock_guard lock(issue_mutex_);
    std::erase(streams_, stream);
    std::erase(blocking_, stream);
}

Stream* Context::per_thread_stream() {
    std::vector<OwnStream>& mine = thread_end.streams;
    std::erase_if(mine, [](const OwnStream& own) { return !own.valid(); });
    for (const OwnStream& own : mine) {
        if (own.context == this) {
            return own.stream;
        }
    }
    Stream* stream = Stream::create(*this, StreamKind::Blocking, 0);
    mine.push_back({this, stream, stream->id()});
    return stream;
}

std::vector<Point> Context::everything() {
    std::vector<Point> points;
    const std::lock_guard lock(issue_mutex_);
    for (Stream* stream : streams_) {
        points.push_back(stream->last());
    }
    return points;
}

std::vector<Point> Context::blocking_work() {
    std::vector<Point> points;
    const std::lock_guard lock(issue_mutex_);
    points.push_back(legacy_->last());
    for (Stream* stream : blocking_) {
        points.push_back(stream->last());
    }
    return points;
}

bool Context::synchronize() {
    for (const Point& point : everything()) {
        if (!wait(point)) {
            return false;
        }
    }
    return true;
}

Context* current_context() {
    return context_stack != nullptr && !context_stack->empty() ? context_stack->back() : nullptr;
}

void set_current_context(Context* context) {
    std::vector<Context*>& mine = stack();
    if (!mine.empty()) {
        mine.pop_back();
    }
    if (context != nullptr) {
        mine.push_back(context);
    }
}

void push_context(Context* context) {
    stack().push_back(context);
}

Context* pop_context() {
    std::vector<Context*>& mine = stack();
    if (mine.empty()) {
        return nullptr;
    }
    Context* top = mine.back();
    mine.pop_back();
    return top;
}

bool initialised() {
    return ready.load(std::memory_order_acquire);
}

CUresult initialise() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (int device = 0; device < config().devices; ++device) {
            contexts().primaries.push_back(Context::create(device, 0, true));
        }
        // Registered here and not by a destructor: it runs before the objects the program had
        // already built when it first used CUDA are destroyed.
        std::atexit(stop_all_streams);
        ready.store(true, std::memory_order_release);
    });
    return CUDA_SUCCESS;
}

std::vector<Context*> contexts_of(int device) {
    std::vector<Context*> found;
    const std::lock_guard lock(contexts().mutex);
    for (Context* context : contexts().all) {
        if (context->device() == device && context->alive()) {
            found.push_back(context);
        }
    }
    return found;
}

Context& primary_context(int device) {
    return *contexts().primaries[static_cast<size_t>(device)];
}

CUresult require_context(Context*& context) {
    if (!initialised()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (stopping()) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    context = current_context();
    if (context == nullptr) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return context->alive() ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult resolve_stream(Context& context, CUstream handle, bool per_thread, Stream*& stream) {
    if (handle == CU_STREAM_PER_THREAD || (handle == nullptr && per_thread)) {
        stream = context.per_thread_stream();
    } else if (handle == CU_STREAM_LEGACY || handle == nullptr) {
        stream = context.legacy_stream();
    } else {
        stream = Stream::from(handle);
        if (!stream->alive()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return CUDA_SUCCESS;
}

CUresult resolve_stream(CUstream handle, bool per_thread, Stream*& stream) {
    Context* context = nullptr;
    const CUresult result = require_context(context);
    return result == CUDA_SUCCESS ? resolve_stream(*context, handle, per_thread, stream) : result;
}

bool synchronize_device(int device) {
    for (Context* context : contexts_of(device)) {
        if (!context->synchronize()) {
            return false;
        }
    }
    return true;
}

}  // namespace simgpu

// For the simulated runtime, which must not be seen calling the public function at every turn.
extern "C" __attribute__((visibility("default"))) CUcontext simgpuCurrentContext() {
    const simgpu::Context* context = simgpu::current_context();
    return context != nullptr && context->alive() ? context->handle() : nullptr;
}
