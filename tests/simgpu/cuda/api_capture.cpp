#include "body.hpp"

using namespace simgpu;

namespace {

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph* into, const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    return begin_capture(*stream, mode, into);
}

CUstreamCaptureStatus status_of(const Stream& stream) {
    if (stream.capture == nullptr) {
        return CU_STREAM_CAPTURE_STATUS_NONE;
    }
    return stream.capture->session->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                            : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult info(Stream& stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, const CUgraphEdgeData** edge_data, size_t* count) {
    SIM_REQUIRE(status != nullptr);
    SIM_TRY(check_legacy_capture(stream));
    *status = status_of(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        return CUDA_SUCCESS;
    }
    CaptureMember& member = *stream.capture;
    if (id != nullptr) {
        *id = member.session->id;
    }
    if (graph != nullptr) {
        *graph = member.session->graph->handle();
    }
    if (edge_data != nullptr) {
        *edge_data = nullptr;
    }
    if (dependencies != nullptr) {
        member.handles.clear();
        for (Node* node : member.frontier) {
            member.handles.push_back(node->handle());
        }
        *dependencies = member.handles.data();
    }
    if (count != nullptr) {
        *count = member.frontier.size();
    }
    return CUDA_SUCCESS;
}

CUresult change_frontier(CUstream handle, CUgraphNode* dependencies, size_t count, unsigned flags,
                         const Call& call) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(handle, call.per_thread, stream));
    if (stream->capture == nullptr) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    std::vector<Node*>& frontier = stream->capture->frontier;
    if ((flags & CU_STREAM_SET_CAPTURE_DEPENDENCIES) != 0) {
        frontier.clear();
    }
    for (size_t index = 0; index < count; ++index) {
        frontier.push_back(Node::from(dependencies[index]));
    }
    return CUDA_SUCCESS;
}

}  // namespace

SIM_STREAM_API(cuStreamBeginCapture, _v2, 10010, _ptsz, CUstream, hStream, CUstreamCaptureMode,
               mode) {
    return begin(hStream, mode, nullptr, call);
}

SIM_STREAM_API(cuStreamBeginCaptureToGraph, , 12030, _ptsz, CUstream, hStream, CUgraph, hGraph,
               const CUgraphNode*, dependencies, const CUgraphEdgeData*, dependencyData, size_t,
               numDependencies, CUstreamCaptureMode, mode) {
    SIM_REQUIRE(hGraph != nullptr);
    SIM_TRY(begin(hStream, mode, Graph::from(hGraph), call));
    return change_frontier(hStream, const_cast<CUgraphNode*>(dependencies), numDependencies,
                           CU_STREAM_SET_CAPTURE_DEPENDENCIES, call);
}

SIM_STREAM_API(cuStreamEndCapture, , 10000, _ptsz, CUstream, hStream, CUgraph*, phGraph) {
    SIM_REQUIRE(phGraph != nullptr);
    *phGraph = nullptr;
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    Graph* graph = nullptr;
    const CUresult result = end_capture(*stream, graph);
    *phGraph = graph != nullptr ? graph->handle() : nullptr;
    return result;
}

SIM_STREAM_API(cuStreamIsCapturing, , 10000, _ptsz, CUstream, hStream, CUstreamCaptureStatus*,
               captureStatus) {
    SIM_REQUIRE(captureStatus != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    SIM_TRY(check_legacy_capture(*stream));
    *captureStatus = status_of(*stream);
    return CUDA_SUCCESS;
}

SIM_STREAM_API(cuStreamGetCaptureInfo, _v2, 11030, _ptsz, CUstream, hStream, CUstreamCaptureStatus*,
               captureStatus_out, cuuint64_t*, id_out, CUgraph*, graph_out, const CUgraphNode**,
               dependencies_out, size_t*, numDependencies_out) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    return info(*stream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                numDependencies_out);
}

SIM_STREAM_API(cuStreamGetCaptureInfo, _v3, 12030, _ptsz, CUstream, hStream, CUstreamCaptureStatus*,
               captureStatus_out, cuuint64_t*, id_out, CUgraph*, graph_out, const CUgraphNode**,
               dependencies_out, const CUgraphEdgeData**, edgeData_out, size_t*,
               numDependencies_out) {
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    return info(*stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                numDependencies_out);
}

SIM_STREAM_API(cuStreamUpdateCaptureDependencies, , 11030, _ptsz, CUstream, hStream, CUgraphNode*,
               dependencies, size_t, numDependencies, unsigned int, flags) {
    return change_frontier(hStream, dependencies, numDependencies, flags, call);
}

SIM_STREAM_API(cuStreamUpdateCaptureDependencies, _v2, 12030, _ptsz, CUstream, hStream,
               CUgraphNode*, dependencies, const CUgraphEdgeData*, dependencyData, size_t,
               numDependencies, unsigned int, flags) {
    return change_frontier(hStream, dependencies, numDependencies, flags, call);
}

SIM_API(cuThreadExchangeStreamCaptureMode, , 10010, CUstreamCaptureMode*, mode) {
    SIM_REQUIRE(mode != nullptr);
    *mode = exchange_capture_mode(*mode);
    return CUDA_SUCCESS;
}
