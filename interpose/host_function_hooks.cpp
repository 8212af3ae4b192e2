// Host functions and stream callbacks. When one runs, the work before it in its stream is complete
// (Driver API manual, cuLaunchHostFunc), and whatever it tells other threads, the host knows from
// then on.
#include <memory>

#include "interpose/driver_library.hpp"
#include "interpose/stream_argument.hpp"
#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// The program's function, and what is complete once it runs.
template <typename Function>
struct Awaited {
    Function function;
    void* data;
    Clock before;
};

template <typename Function>
std::unique_ptr<Awaited<Function>> awaited(Function function, void* data,
                                           CUstream stream) noexcept {
    std::unique_ptr<Awaited<Function>> made;
    Tool* const tool = function != nullptr ? watching() : nullptr;
    if (tool != nullptr) {
        guarded([&] {
            // In a capture it becomes a node, which runs as often as the graph does.
            const auto place = tool->driver.may_be_capturing(stream)
                                   ? std::nullopt
                                   : tool->driver.owner_of(stream);
            if (place) {
                Clock before = tool->session.tracker().work_of_stream(stream_of(*place, stream));
                made = std::make_unique<Awaited<Function>>(
                    Awaited<Function>{function, data, std::move(before)});
            }
        });
    }
    return made;
}

void tell_host(const Clock& complete) noexcept {
    if (Tool* const tool = watching()) {
        guarded([&] { tool->session.tracker().host_knows(complete, Edge::Documented); });
    }
}

void CUDA_CB run_host_function(void* data) {
    const std::unique_ptr<Awaited<CUhostFn>> own(static_cast<Awaited<CUhostFn>*>(data));
    tell_host(own->before);
    own->function(own->data);
}

void CUDA_CB run_callback(CUstream stream, CUresult status, void* data) {
    const std::unique_ptr<Awaited<CUstreamCallback>> own(
        static_cast<Awaited<CUstreamCallback>*>(data));
    tell_host(own->before);
    own->function(stream, status, own->data);
}

template <Hook hook>
CUresult launch(CUstream stream, CUhostFn function, void* data, StreamId default_stream) {
    auto own = awaited(function, data, named_stream(stream, default_stream));
    const CUresult result = own ? real<hook>()(stream, run_host_function, own.get())
                                : real<hook>()(stream, function, data);
    if (result == CUDA_SUCCESS) {
        (void)own.release();  // run_host_function deletes it, maybe has already
    }
    return result;
}

template <Hook hook>
CUresult add(CUstream stream, CUstreamCallback function, void* data, unsigned int flags,
             StreamId default_stream) {
    auto own = awaited(function, data, named_stream(stream, default_stream));
    const CUresult result = own ? real<hook>()(stream, run_callback, own.get(), flags)
                                : real<hook>()(stream, function, data, flags);
    if (result == CUDA_SUCCESS) {
        (void)own.release();
    }
    return result;
}

}  // namespace
}  // namespace cuward

CUresult hook_cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    using namespace cuward;
    return launch<Hook::cuLaunchHostFunc_>(stream, function, data, kLegacyStream);
}

CUresult hook_cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
    using namespace cuward;
    return launch<Hook::cuLaunchHostFunc_ptsz_>(stream, function, data, kPerThreadStream);
}

CUresult hook_cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                  unsigned int flags) {
    using namespace cuward;
    return add<Hook::cuStreamAddCallback_>(stream, function, data, flags, kLegacyStream);
}

CUresult hook_cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback function, void* data,
                                       unsigned int flags) {
    using namespace cuward;
    return add<Hook::cuStreamAddCallback_ptsz_>(stream, function, data, flags, kPerThreadStream);
}
