#pragma once

#include <thread>
#include <vector>

#include "graph.hpp"

// Stream capture: calls become nodes. A session has one graph and the streams that have joined it;
// each stream remembers the nodes its next one must follow.
namespace simgpu {

struct CaptureSession {
    uint64_t id = 0;
    Stream* origin = nullptr;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    Graph* graph = nullptr;
    bool own_graph = true;
    bool invalid = false;
    std::vector<Stream*> members;
};

struct CaptureMember {
    CaptureSession* session = nullptr;
    std::vector<Node*> frontier{};
    std::vector<CUgraphNode> handles{};  // the frontier as cuStreamGetCaptureInfo shows it
};

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into);
CUresult end_capture(Stream& stream, Graph*& graph);
CUresult add_captured_node(Stream& stream, Task task);
CUresult captured_record(Stream& stream, Event& event);
// The stream waits for an event that was recorded in a capture, or is itself being captured.
CUresult captured_wait(Stream& stream, Event& event);

// For calls that would synchronise or otherwise cannot be captured.
CUresult forbid_in_capture(Context& context);
CUresult forbid_on_stream(Stream& stream);
// Work on the legacy stream would depend on blocking streams that are being captured.
CUresult check_legacy_capture(Stream& stream);
bool event_captured(const Event& event);

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

}  // namespace simgpu
