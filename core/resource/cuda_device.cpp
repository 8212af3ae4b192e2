#include "core/resource/cuda_device.hpp"

#include <atomic>

namespace cuward {
namespace {

/// Lets everything pass; a handle is as good a lane as any when no answer depends on it.
class ObservedOrder final : public UseOrder {
  public:
    UsePoint point(StreamId stream) override {
        return {.stream = stream, .lane = static_cast<std::uint64_t>(stream)};
    }
    bool provided(const UsePoint& /*earlier*/, const UsePoint& /*later*/) override { return true; }
    bool observes_only() const override { return true; }
    bool needs_uses() const override { return false; }
};

bool is_default_handle(StreamId stream) {
    return stream == kLegacyStream || stream == kPerThreadStream;
}

ContextId current_context(const DriverApi& driver) {
    CUcontext context = nullptr;
    return driver.ctx_get_current(&context) == CUDA_SUCCESS ? reinterpret_cast<ContextId>(context)
                                                            : 0;
}

std::uint64_t thread_number() {
    static std::atomic<std::uint64_t> threads{0};
    thread_local const std::uint64_t number = ++threads;
    return number;
}

/// User addresses have 47 bits, which leaves the upper 17 to the thread; a context never equals a
/// stream handle, as both are addresses of live objects.
std::uint64_t default_lane(StreamId stream, ContextId context) {
    constexpr int kAddressBits = 47;
    return stream == kPerThreadStream ? context ^ (thread_number() << kAddressBits) : context;
}

}  // namespace

UseOrder& observed_order() {
    // Never destroyed: the program may free memory after the tool's destructors have run.
    static UseOrder& order = *new ObservedOrder;
    return order;
}

UsePoint CudaDevice::point(StreamId stream) const {
    if (order_ != nullptr) {
        return order_->point(stream);
    }
    if (!is_default_handle(stream)) {
        return {.stream = stream, .lane = static_cast<std::uint64_t>(stream)};
    }
    const ContextId context = current_context(driver());
    return {.stream = stream, .context = context, .lane = default_lane(stream, context)};
}

}  // namespace cuward
