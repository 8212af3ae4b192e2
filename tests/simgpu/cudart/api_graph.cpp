#include "convert.hpp"
#include "registry.hpp"
#include "runtime.hpp"

using simrt::from;

namespace {

cudaError_t kernel_params(const simrt::Driver& d, const cudaKernelNodeParams& in,
                          CUDA_KERNEL_NODE_PARAMS& out) {
    out = {};
    SIMRT_TRY(simrt::kernel_of(d, in.func, out.kern));
    out.gridDimX = in.gridDim.x;
    out.gridDimY = in.gridDim.y;
    out.gridDimZ = in.gridDim.z;
    out.blockDimX = in.blockDim.x;
    out.blockDimY = in.blockDim.y;
    out.blockDimZ = in.blockDim.z;
    out.sharedMemBytes = in.sharedMemBytes;
    out.kernelParams = in.kernelParams;
    out.extra = in.extra;
    return cudaSuccess;
}

CUDA_MEMSET_NODE_PARAMS memset_params(const cudaMemsetParams& in) {
    return {reinterpret_cast<CUdeviceptr>(in.dst),
            in.pitch,
            in.value,
            in.elementSize,
            in.width,
            in.height};
}

CUDA_HOST_NODE_PARAMS host_params(const cudaHostNodeParams& in) {
    return {in.fn, in.userData};
}

const CUgraphEdgeData* edges(const cudaGraphEdgeData* data) {
    return reinterpret_cast<const CUgraphEdgeData*>(data);
}

CUgraphEdgeData* edges(cudaGraphEdgeData* data) {
    return reinterpret_cast<CUgraphEdgeData*>(data);
}

cudaError_t context_of(const simrt::Driver& d, CUcontext& context) {
    return from(d.cuCtxGetCurrent(&context));
}

}  // namespace

RT_STREAM_API(cudaStreamBeginCapture, _ptsz, cudaStream_t, stream, enum cudaStreamCaptureMode,
              mode) {
    return from(d.cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)));
}

RT_STREAM_API(cudaStreamBeginCaptureToGraph, _ptsz, cudaStream_t, stream, cudaGraph_t, graph,
              const cudaGraphNode_t*, dependencies, const cudaGraphEdgeData*, dependencyData,
              size_t, numDependencies, enum cudaStreamCaptureMode, mode) {
    return from(d.cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges(dependencyData),
                                              numDependencies,
                                              static_cast<CUstreamCaptureMode>(mode)));
}

RT_STREAM_API(cudaStreamEndCapture, _ptsz, cudaStream_t, stream, cudaGraph_t*, pGraph) {
    return from(d.cuStreamEndCapture(stream, pGraph));
}

RT_STREAM_API(cudaStreamIsCapturing, _ptsz, cudaStream_t, stream, enum cudaStreamCaptureStatus*,
              pCaptureStatus) {
    return from(
        d.cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(pCaptureStatus)));
}

RT_STREAM_API(cudaStreamGetCaptureInfo, _ptsz, cudaStream_t, stream, enum cudaStreamCaptureStatus*,
              captureStatus_out, unsigned long long*, id_out, cudaGraph_t*, graph_out,
              const cudaGraphNode_t**, dependencies_out, const cudaGraphEdgeData**, edgeData_out,
              size_t*, numDependencies_out) {
    cuuint64_t id = 0;
    SIMRT_TRY(from(d.cuStreamGetCaptureInfo(
        stream, reinterpret_cast<CUstreamCaptureStatus*>(captureStatus_out), &id, graph_out,
        dependencies_out, reinterpret_cast<const CUgraphEdgeData**>(edgeData_out),
        numDependencies_out)));
    if (id_out != nullptr) {
        *id_out = id;
    }
    return cudaSuccess;
}

RT_STREAM_API(cudaStreamUpdateCaptureDependencies, _ptsz, cudaStream_t, stream, cudaGraphNode_t*,
              dependencies, const cudaGraphEdgeData*, dependencyData, size_t, numDependencies,
              unsigned int, flags) {
    return from(d.cuStreamUpdateCaptureDependencies(stream, dependencies, edges(dependencyData),
                                                    numDependencies, flags));
}

RT_API(cudaThreadExchangeStreamCaptureMode, enum cudaStreamCaptureMode*, mode) {
    return from(d.cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

RT_API(cudaGraphCreate, cudaGraph_t*, pGraph, unsigned int, flags) {
    return from(d.cuGraphCreate(pGraph, flags));
}

RT_API(cudaGraphDestroy, cudaGraph_t, graph) {
    return from(d.cuGraphDestroy(graph));
}

RT_API(cudaGraphClone, cudaGraph_t*, pGraphClone, cudaGraph_t, originalGraph) {
    return from(d.cuGraphClone(pGraphClone, originalGraph));
}

RT_API(cudaGraphAddKernelNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies,
       const struct cudaKernelNodeParams*, pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    CUDA_KERNEL_NODE_PARAMS params;
    SIMRT_TRY(kernel_params(d, *pNodeParams, params));
    return from(d.cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &params));
}

RT_API(cudaGraphKernelNodeSetParams, cudaGraphNode_t, node, const struct cudaKernelNodeParams*,
       pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    CUDA_KERNEL_NODE_PARAMS params;
    SIMRT_TRY(kernel_params(d, *pNodeParams, params));
    return from(d.cuGraphKernelNodeSetParams(node, &params));
}

RT_API(cudaGraphAddMemcpyNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies,
       const struct cudaMemcpy3DParms*, pCopyParams) {
    SIMRT_REQUIRE(pCopyParams != nullptr);
    CUDA_MEMCPY3D shape{};
    SIMRT_TRY(simrt::deep_copy(d, *pCopyParams, shape));
    CUcontext context = nullptr;
    SIMRT_TRY(context_of(d, context));
    return from(
        d.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &shape, context));
}

RT_API(cudaGraphAddMemcpyNode1D, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies, void*, dst, const void*, src,
       size_t, count, enum cudaMemcpyKind, kind) {
    const CUDA_MEMCPY3D shape = simrt::linear_copy(dst, src, count, kind);
    CUcontext context = nullptr;
    SIMRT_TRY(context_of(d, context));
    return from(
        d.cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &shape, context));
}

RT_API(cudaGraphAddMemsetNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies,
       const struct cudaMemsetParams*, pMemsetParams) {
    SIMRT_REQUIRE(pMemsetParams != nullptr);
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(*pMemsetParams);
    CUcontext context = nullptr;
    SIMRT_TRY(context_of(d, context));
    return from(d.cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &params,
                                       context));
}

RT_API(cudaGraphAddHostNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies,
       const struct cudaHostNodeParams*, pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    const CUDA_HOST_NODE_PARAMS params = host_params(*pNodeParams);
    return from(d.cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, &params));
}

RT_API(cudaGraphAddChildGraphNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies, cudaGraph_t, childGraph) {
    return from(
        d.cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

RT_API(cudaGraphAddEmptyNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies) {
    return from(d.cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

RT_API(cudaGraphAddEventRecordNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies, cudaEvent_t, event) {
    return from(
        d.cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

RT_API(cudaGraphAddEventWaitNode, cudaGraphNode_t*, pGraphNode, cudaGraph_t, graph,
       const cudaGraphNode_t*, pDependencies, size_t, numDependencies, cudaEvent_t, event) {
    return from(
        d.cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

RT_API(cudaGraphChildGraphNodeGetGraph, cudaGraphNode_t, node, cudaGraph_t*, pGraph) {
    return from(d.cuGraphChildGraphNodeGetGraph(node, pGraph));
}

RT_API(cudaGraphDestroyNode, cudaGraphNode_t, node) {
    return from(d.cuGraphDestroyNode(node));
}

RT_API(cudaGraphNodeFindInClone, cudaGraphNode_t*, pNode, cudaGraphNode_t, originalNode,
       cudaGraph_t, clonedGraph) {
    return from(d.cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

RT_API(cudaGraphNodeGetType, cudaGraphNode_t, node, enum cudaGraphNodeType*, pType) {
    return from(d.cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(pType)));
}

RT_API(cudaGraphGetNodes, cudaGraph_t, graph, cudaGraphNode_t*, nodes, size_t*, numNodes) {
    return from(d.cuGraphGetNodes(graph, nodes, numNodes));
}

RT_API(cudaGraphGetRootNodes, cudaGraph_t, graph, cudaGraphNode_t*, pRootNodes, size_t*,
       pNumRootNodes) {
    return from(d.cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

RT_API(cudaGraphGetEdges, cudaGraph_t, graph, cudaGraphNode_t*, from, cudaGraphNode_t*, to,
       cudaGraphEdgeData*, edgeData, size_t*, numEdges) {
    return simrt::from(d.cuGraphGetEdges(graph, from, to, edges(edgeData), numEdges));
}

RT_API(cudaGraphNodeGetDependencies, cudaGraphNode_t, node, cudaGraphNode_t*, pDependencies,
       cudaGraphEdgeData*, edgeData, size_t*, pNumDependencies) {
    return from(
        d.cuGraphNodeGetDependencies(node, pDependencies, edges(edgeData), pNumDependencies));
}

RT_API(cudaGraphNodeGetDependentNodes, cudaGraphNode_t, node, cudaGraphNode_t*, pDependentNodes,
       cudaGraphEdgeData*, edgeData, size_t*, pNumDependentNodes) {
    return from(
        d.cuGraphNodeGetDependentNodes(node, pDependentNodes, edges(edgeData), pNumDependentNodes));
}

RT_API(cudaGraphAddDependencies, cudaGraph_t, graph, const cudaGraphNode_t*, from,
       const cudaGraphNode_t*, to, const cudaGraphEdgeData*, edgeData, size_t, numDependencies) {
    return simrt::from(d.cuGraphAddDependencies(graph, from, to, edges(edgeData), numDependencies));
}

RT_API(cudaGraphRemoveDependencies, cudaGraph_t, graph, const cudaGraphNode_t*, from,
       const cudaGraphNode_t*, to, const cudaGraphEdgeData*, edgeData, size_t, numDependencies) {
    return simrt::from(
        d.cuGraphRemoveDependencies(graph, from, to, edges(edgeData), numDependencies));
}

RT_API(cudaGraphInstantiate, cudaGraphExec_t*, pGraphExec, cudaGraph_t, graph, unsigned long long,
       flags) {
    return from(d.cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

RT_API(cudaGraphInstantiateWithFlags, cudaGraphExec_t*, pGraphExec, cudaGraph_t, graph,
       unsigned long long, flags) {
    return from(d.cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
}

RT_STREAM_API(cudaGraphInstantiateWithParams, _ptsz, cudaGraphExec_t*, pGraphExec, cudaGraph_t,
              graph, cudaGraphInstantiateParams*, instantiateParams) {
    return from(d.cuGraphInstantiateWithParams(
        pGraphExec, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(instantiateParams)));
}

RT_API(cudaGraphExecGetFlags, cudaGraphExec_t, graphExec, unsigned long long*, flags) {
    cuuint64_t value = 0;
    SIMRT_TRY(from(d.cuGraphExecGetFlags(graphExec, &value)));
    *flags = value;
    return cudaSuccess;
}

RT_API(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, node,
       const struct cudaKernelNodeParams*, pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    CUDA_KERNEL_NODE_PARAMS params;
    SIMRT_TRY(kernel_params(d, *pNodeParams, params));
    return from(d.cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
}

RT_API(cudaGraphExecMemcpyNodeSetParams1D, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, node,
       void*, dst, const void*, src, size_t, count, enum cudaMemcpyKind, kind) {
    const CUDA_MEMCPY3D shape = simrt::linear_copy(dst, src, count, kind);
    CUcontext context = nullptr;
    SIMRT_TRY(context_of(d, context));
    return from(d.cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &shape, context));
}

RT_API(cudaGraphExecMemsetNodeSetParams, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, node,
       const struct cudaMemsetParams*, pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(*pNodeParams);
    CUcontext context = nullptr;
    SIMRT_TRY(context_of(d, context));
    return from(d.cuGraphExecMemsetNodeSetParams(hGraphExec, node, &params, context));
}

RT_API(cudaGraphExecHostNodeSetParams, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, node,
       const struct cudaHostNodeParams*, pNodeParams) {
    SIMRT_REQUIRE(pNodeParams != nullptr);
    const CUDA_HOST_NODE_PARAMS params = host_params(*pNodeParams);
    return from(d.cuGraphExecHostNodeSetParams(hGraphExec, node, &params));
}

RT_API(cudaGraphNodeSetEnabled, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, hNode, unsigned int,
       isEnabled) {
    return from(d.cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

RT_API(cudaGraphNodeGetEnabled, cudaGraphExec_t, hGraphExec, cudaGraphNode_t, hNode, unsigned int*,
       isEnabled) {
    return from(d.cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

RT_API(cudaGraphExecUpdate, cudaGraphExec_t, hGraphExec, cudaGraph_t, hGraph,
       cudaGraphExecUpdateResultInfo*, resultInfo) {
    return from(d.cuGraphExecUpdate(hGraphExec, hGraph,
                                    reinterpret_cast<CUgraphExecUpdateResultInfo*>(resultInfo)));
}

RT_API(cudaGraphExecDestroy, cudaGraphExec_t, graphExec) {
    return from(d.cuGraphExecDestroy(graphExec));
}

RT_STREAM_API(cudaGraphUpload, _ptsz, cudaGraphExec_t, graphExec, cudaStream_t, stream) {
    return from(d.cuGraphUpload(graphExec, stream));
}

RT_STREAM_API(cudaGraphLaunch, _ptsz, cudaGraphExec_t, graphExec, cudaStream_t, stream) {
    return from(d.cuGraphLaunch(graphExec, stream));
}
