#include "capture.hpp"

#include <algorithm>
#include <set>

#include "../handle.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

struct Sessions {
    std::mutex mutex;
    std::vector<CaptureSession*> active;
    uint64_t next_id = 1;
    std::atomic<int> count{0};  // lets everyone else skip the lock
};

Sessions& sessions() {
    static Sessions& instance = *new Sessions;
    return instance;
}

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CaptureSession* session_by_id(uint64_t id) {
    for (CaptureSession* session : sessions().active) {
        if (session->id == id) {
            return session;
        }
    }
    return nullptr;
}

void merge(std::vector<Node*>& into, const std::vector<CUgraphNode>& nodes) {
    for (CUgraphNode handle : nodes) {
        Node* node = Node::from(handle);
        if (std::find(into.begin(), into.end(), node) == into.end()) {
            into.push_back(node);
        }
    }
}

void mark_invalid(Context& context) {
    for (CaptureSession* session : sessions().active) {
        if (&session->origin->context() == &context) {
            session->invalid = true;
        }
    }
}

bool joined(const CaptureSession& session) {
    std::set<Node*> reached;
    std::vector<Node*> open = session.origin->capture->frontier;
    while (!open.empty()) {
        Node* node = open.back();
        open.pop_back();
        if (reached.insert(node).second) {
            open.insert(open.end(), node->after.begin(), node->after.end());
        }
    }
    for (const Stream* member : session.members) {
        for (Node* node : member->capture->frontier) {
            if (reached.count(node) == 0) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into) {
    if (stream.kind() == StreamKind::Legacy) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream.capture != nullptr) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    auto* session = new_handle<CaptureSession>();
    session->origin = &stream;
    session->mode = mode;
    session->thread = std::this_thread::get_id();
    session->own_graph = into == nullptr;
    session->graph = into != nullptr ? into : new_handle<Graph>();
    session->members.push_back(&stream);
    stream.capture = new_handle<CaptureMember>(session);
    const std::lock_guard lock(sessions().mutex);
    session->id = sessions().next_id++;
    sessions().active.push_back(session);
    sessions().count.fetch_add(1);
    return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, Graph*& graph) {
    graph = nullptr;
    if (stream.capture == nullptr) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    CaptureSession* session = stream.capture->session;
    if (session->origin != &stream) {
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (session->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        session->thread != std::this_thread::get_id()) {
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    const std::lock_guard lock(sessions().mutex);
    CUresult result = CUDA_SUCCESS;
    if (session->invalid) {
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else if (!joined(*session)) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    for (Stream* member : session->members) {
        delete member->capture;
        member->capture = nullptr;
    }
    if (result == CUDA_SUCCESS) {
        graph = session->graph;
    } else if (session->own_graph) {
        delete session->graph;
    }
    std::erase(sessions().active, session);
    sessions().count.fetch_sub(1);
    delete session;
    return result;
}

CUresult add_captured_node(Stream& stream, Task task) {
    CaptureMember& member = *stream.capture;
    if (member.session->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    Node* node = member.session->graph->add(std::move(task), member.frontier);
    member.frontier = {node};
    return CUDA_SUCCESS;
}

CUresult captured_record(Stream& stream, Event& event) {
    CaptureMember& member = *stream.capture;
    if (member.session->invalid) {
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    event.capture_id = member.session->id;
    event.capture_nodes.clear();
    for (Node* node : member.frontier) {
        event.capture_nodes.push_back(node->handle());
    }
    return CUDA_SUCCESS;
}

CUresult captured_wait(Stream& stream, Event& event) {
    const std::lock_guard lock(sessions().mutex);
    CaptureSession* session = session_by_id(event.capture_id);
    if (session == nullptr) {
        // An event from outside the capture would tie the graph to work it does not contain.
        stream.capture->session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (stream.kind() == StreamKind::Legacy) {
        session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (stream.capture == nullptr) {
        stream.capture = new_handle<CaptureMember>(session);
        session->members.push_back(&stream);
    } else if (stream.capture->session != session) {
        session->invalid = true;
        stream.capture->session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    merge(stream.capture->frontier, event.capture_nodes);
    return CUDA_SUCCESS;
}

CUresult forbid_in_capture(Context& context) {
    if (sessions().count.load(std::memory_order_acquire) == 0 ||
        thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_SUCCESS;
    }
    const std::lock_guard lock(sessions().mutex);
    for (const CaptureSession* session : sessions().active) {
        const bool mine = session->thread == std::this_thread::get_id();
        const bool forbidden = (session->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                (mine || thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) ||
                               (session->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && mine);
        if (forbidden) {
            mark_invalid(context);
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return CUDA_SUCCESS;
}

CUresult forbid_on_stream(Stream& stream) {
    if (stream.capture == nullptr) {
        return check_legacy_capture(stream);
    }
    stream.capture->session->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult check_legacy_capture(Stream& stream) {
    if (stream.kind() != StreamKind::Legacy ||
        sessions().count.load(std::memory_order_acquire) == 0) {
        return CUDA_SUCCESS;
    }
    const std::lock_guard lock(sessions().mutex);
    for (CaptureSession* session : sessions().active) {
        for (const Stream* member : session->members) {
            if (&member->context() == &stream.context() && member->kind() == StreamKind::Blocking) {
                session->invalid = true;
                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return CUDA_SUCCESS;
}

bool event_captured(const Event& event) {
    if (event.capture_id == 0) {
        return false;
    }
    const std::lock_guard lock(sessions().mutex);
    return session_by_id(event.capture_id) != nullptr;
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) {
    return std::exchange(thread_mode, mode);
}

}  // namespace simgpu
