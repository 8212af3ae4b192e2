#include <algorithm>

#include "body.hpp"

using namespace simgpu;

namespace {

CUresult gather(const CUgraphNode* dependencies, size_t count, std::vector<Node*>& after) {
    SIM_REQUIRE(dependencies != nullptr || count == 0);
    for (size_t index = 0; index < count; ++index) {
        SIM_REQUIRE(dependencies[index] != nullptr);
        after.push_back(Node::from(dependencies[index]));
    }
    return CUDA_SUCCESS;
}

CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                  Task task) {
    SIM_REQUIRE(out != nullptr && graph != nullptr);
    std::vector<Node*> after;
    SIM_TRY(gather(dependencies, count, after));
    *out = Graph::from(graph)->add(std::move(task), after)->handle();
    return CUDA_SUCCESS;
}

// The common part of the three versions of the kernel node's parameters.
template <class Params>
CUresult kernel_task(const Params& params, KernelTask& task) {
    const void* handle = params.func;
    if constexpr (requires { params.kern; }) {
        if (handle == nullptr) {
            handle = params.kern;
        }
    }
    task.code = CodeHandle::from(handle);
    SIM_REQUIRE(task.code != nullptr);
    task.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
    task.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
    task.shared_bytes = params.sharedMemBytes;
    return task.take_parameters(params.kernelParams, params.extra);
}

CUresult copy_task(const CUDA_MEMCPY3D& shape, CopyTask& task) {
    SIM_REQUIRE(shape.WidthInBytes != 0);
    CUDA_MEMCPY3D whole = shape;
    whole.Height = std::max<size_t>(1, shape.Height);
    return make_copy(whole, task);
}

CUresult memset_task(const CUDA_MEMSET_NODE_PARAMS& shape, MemsetTask& task) {
    SIM_REQUIRE(find_allocation(shape.dst));
    SIM_REQUIRE(shape.elementSize == 1 || shape.elementSize == 2 || shape.elementSize == 4);
    task.shape = shape;
    return CUDA_SUCCESS;
}

CUresult host_task(CUhostFn function, void* userdata, HostTask& task) {
    SIM_REQUIRE(function != nullptr);
    task.function = function;
    task.userdata = userdata;
    return CUDA_SUCCESS;
}

CUresult child_task(CUgraph graph, ChildTask& task) {
    SIM_REQUIRE(graph != nullptr);
    if (has_memory_nodes(*Graph::from(graph))) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    task.graph = Graph::from(graph)->clone();
    return CUDA_SUCCESS;
}

CUresult alloc_task(size_t bytes, AllocTask& task) {
    SIM_REQUIRE(bytes != 0);
    Context* context = nullptr;
    SIM_TRY(require_context(context));
    return GraphMemory::create(*context, bytes, task.memory);
}

// What a node of a graph has allocated, freed once in one graph.
CUresult free_task(CUgraph graph, uintptr_t address, FreeTask& task) {
    const auto found = find_allocation(address);
    SIM_REQUIRE(graph != nullptr && found && found->of_graph && found->base == address);
    for (const auto& node : Graph::from(graph)->nodes) {
        const auto* free = std::get_if<FreeTask>(&node->task);
        SIM_REQUIRE(free == nullptr || free->address != address);
    }
    task.address = address;
    return CUDA_SUCCESS;
}

CUresult conditional_task(const CUDA_CONDITIONAL_NODE_PARAMS& params, ConditionalTask& task) {
    SIM_REQUIRE(params.handle != 0 && params.size != 0);
    SIM_REQUIRE(params.type != CU_GRAPH_COND_TYPE_WHILE || params.size == 1);
    SIM_REQUIRE(params.type != CU_GRAPH_COND_TYPE_IF || params.size <= 2);
    task.condition = Condition::from(params.handle)->shared_from_this();
    task.type = params.type;
    task.bodies.assign(params.size, std::make_shared<Graph>());
    own_bodies(task, [](const Graph&) { return std::make_shared<Graph>(); });
    return CUDA_SUCCESS;
}

CUresult any_task(const CUgraphNodeParams& params, Task& task) {
    switch (params.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL: {
            KernelTask kernel;
            SIM_TRY(kernel_task(params.kernel, kernel));
            task = std::move(kernel);
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_MEMCPY: {
            CopyTask copy;
            SIM_TRY(copy_task(params.memcpy.copyParams, copy));
            task = std::move(copy);
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_MEMSET: {
            MemsetTask memset;
            const CUDA_MEMSET_NODE_PARAMS_v2& in = params.memset;
            SIM_TRY(memset_task({in.dst, in.pitch, in.value, in.elementSize, in.width, in.height},
                                memset));
            task = memset;
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_HOST: {
            HostTask host;
            SIM_TRY(host_task(params.host.fn, params.host.userData, host));
            task = host;
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_GRAPH: {
            ChildTask child;
            SIM_TRY(child_task(params.graph.graph, child));
            task = std::move(child);
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            SIM_REQUIRE(params.eventRecord.event != nullptr);
            task = EventRecordTask{Event::from(params.eventRecord.event)};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            SIM_REQUIRE(params.eventWait.event != nullptr);
            task = EventWaitTask{Event::from(params.eventWait.event)};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_EMPTY:
            task = EmptyTask{};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
            BatchTask batch;
            SIM_TRY(batch.take(params.memOp.paramArray, params.memOp.count));
            task = std::move(batch);
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
            AllocTask alloc;
            SIM_TRY(alloc_task(params.alloc.bytesize, alloc));
            task = std::move(alloc);
            return CUDA_SUCCESS;
        }
        case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
            ConditionalTask conditional;
            SIM_TRY(conditional_task(params.conditional, conditional));
            task = std::move(conditional);
            return CUDA_SUCCESS;
        }
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult add_any_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                      size_t count, CUgraphNodeParams& params) {
    Task task;
    if (params.type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        FreeTask free;
        SIM_TRY(free_task(graph, params.free.dptr, free));
        task = free;
    } else {
        SIM_TRY(any_task(params, task));
    }
    if (const auto* alloc = std::get_if<AllocTask>(&task)) {
        params.alloc.dptr = alloc->memory->address();
    }
    const auto* conditional = std::get_if<ConditionalTask>(&task);
    const auto handles = conditional != nullptr ? conditional->handles : nullptr;
    SIM_TRY(add_node(out, graph, dependencies, count, std::move(task)));
    if (handles != nullptr) {
        params.conditional.phGraph_out = handles->data();
    }
    return CUDA_SUCCESS;
}

template <class T>
CUresult task_of(CUgraphNode handle, T*& task) {
    SIM_REQUIRE(handle != nullptr);
    task = std::get_if<T>(&Node::from(handle)->task);
    SIM_REQUIRE(task != nullptr);
    return CUDA_SUCCESS;
}

// Fills the caller's array, or only says how long it must be.
CUresult list(const std::vector<Node*>& nodes, CUgraphNode* out, size_t* count) {
    SIM_REQUIRE(count != nullptr);
    if (out != nullptr) {
        for (size_t index = 0; index < *count; ++index) {
            out[index] = index < nodes.size() ? nodes[index]->handle() : nullptr;
        }
        *count = std::min(*count, nodes.size());
    } else {
        *count = nodes.size();
    }
    return CUDA_SUCCESS;
}

void clear_edge_data(CUgraphEdgeData* data, const size_t* count) {
    if (data != nullptr && count != nullptr) {
        std::fill_n(data, *count, CUgraphEdgeData{});
    }
}

CUresult edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
               size_t* count) {
    SIM_REQUIRE(handle != nullptr && count != nullptr);
    std::vector<Node*> heads;
    std::vector<Node*> tails;
    for (const auto& node : Graph::from(handle)->nodes) {
        for (Node* earlier : node->after) {
            heads.push_back(earlier);
            tails.push_back(node.get());
        }
    }
    size_t same = *count;
    SIM_TRY(list(heads, from, &same));
    SIM_TRY(list(tails, to, count));
    clear_edge_data(data, count);
    return CUDA_SUCCESS;
}

CUresult dependents(CUgraphNode handle, CUgraphNode* out, size_t* count) {
    SIM_REQUIRE(handle != nullptr);
    Node* node = Node::from(handle);
    std::vector<Node*> later;
    for (const auto& other : node->graph->nodes) {
        if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) {
            later.push_back(other.get());
        }
    }
    return list(later, out, count);
}

CUresult change_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count,
                      bool add) {
    SIM_REQUIRE(graph != nullptr && ((from != nullptr && to != nullptr) || count == 0));
    for (size_t index = 0; index < count; ++index) {
        std::vector<Node*>& after = Node::from(to[index])->after;
        Node* earlier = Node::from(from[index]);
        const bool there = std::find(after.begin(), after.end(), earlier) != after.end();
        SIM_REQUIRE(there != add);
        if (add) {
            after.push_back(earlier);
        } else {
            std::erase(after, earlier);
        }
    }
    return CUDA_SUCCESS;
}

CUresult make_exec(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
    SIM_REQUIRE(out != nullptr && graph != nullptr);
    GraphExec* exec = nullptr;
    SIM_TRY(instantiate(*Graph::from(graph), exec));
    exec->flags = flags;
    *out = exec->handle();
    return CUDA_SUCCESS;
}

template <class Params>
void show_kernel(KernelTask& task, Params& params) {
    params = {};
    if constexpr (requires { params.kern; }) {
        if (task.code->is_kernel()) {
            params.kern = reinterpret_cast<CUkernel>(task.code);
        }
    }
    params.func = reinterpret_cast<CUfunction>(task.code);
    params.gridDimX = task.grid.x;
    params.gridDimY = task.grid.y;
    params.gridDimZ = task.grid.z;
    params.blockDimX = task.block.x;
    params.blockDimY = task.block.y;
    params.blockDimZ = task.block.z;
    params.sharedMemBytes = task.shared_bytes;
    params.kernelParams = task.addresses.data();
}

CUresult set_exec(CUgraphExec exec, CUgraphNode node, Task task) {
    SIM_REQUIRE(exec != nullptr && node != nullptr);
    return set_exec_task(*GraphExec::from(exec), Node::from(node), std::move(task));
}

}  // namespace

SIM_API(cuGraphCreate, , 10000, CUgraph*, phGraph, unsigned int, flags) {
    SIM_REQUIRE(phGraph != nullptr && flags == 0);
    *phGraph = new_handle<Graph>()->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroy, , 10000, CUgraph, hGraph) {
    SIM_REQUIRE(hGraph != nullptr);
    delete Graph::from(hGraph);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphClone, , 10000, CUgraph*, phGraphClone, CUgraph, originalGraph) {
    SIM_REQUIRE(phGraphClone != nullptr && originalGraph != nullptr);
    if (has_memory_nodes(*Graph::from(originalGraph))) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    auto* copy = new_handle<Graph>();
    *copy = std::move(*Graph::from(originalGraph)->clone());
    for (const auto& node : copy->nodes) {
        node->graph = copy;
    }
    *phGraphClone = copy->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphAddKernelNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies,
        const CUDA_KERNEL_NODE_PARAMS_v1*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask task;
    SIM_TRY(kernel_task(*nodeParams, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphAddKernelNode, _v2, 12000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, const CUDA_KERNEL_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask task;
    SIM_TRY(kernel_task(*nodeParams, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphAddMemcpyNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, const CUDA_MEMCPY3D*, copyParams,
        CUcontext, ctx) {
    SIM_REQUIRE(copyParams != nullptr);
    CopyTask task;
    SIM_TRY(copy_task(*copyParams, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphAddMemsetNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, const CUDA_MEMSET_NODE_PARAMS*,
        memsetParams, CUcontext, ctx) {
    SIM_REQUIRE(memsetParams != nullptr);
    MemsetTask task;
    SIM_TRY(memset_task(*memsetParams, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, task);
}

SIM_API(cuGraphAddHostNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph, const CUgraphNode*,
        dependencies, size_t, numDependencies, const CUDA_HOST_NODE_PARAMS*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    HostTask task;
    SIM_TRY(host_task(nodeParams->fn, nodeParams->userData, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, task);
}

SIM_API(cuGraphAddChildGraphNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, CUgraph, childGraph) {
    ChildTask task;
    SIM_TRY(child_task(childGraph, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphAddEmptyNode, , 10000, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies) {
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, EmptyTask{});
}

SIM_API(cuGraphAddEventRecordNode, , 11010, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, CUevent, event) {
    SIM_REQUIRE(event != nullptr);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies,
                    EventRecordTask{Event::from(event)});
}

SIM_API(cuGraphAddEventWaitNode, , 11010, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, CUevent, event) {
    SIM_REQUIRE(event != nullptr);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies,
                    EventWaitTask{Event::from(event)});
}

SIM_API(cuGraphAddNode, , 12020, CUgraphNode*, phGraphNode, CUgraph, hGraph, const CUgraphNode*,
        dependencies, size_t, numDependencies, CUgraphNodeParams*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    return add_any_node(phGraphNode, hGraph, dependencies, numDependencies, *nodeParams);
}

SIM_API(cuGraphAddNode, _v2, 12030, CUgraphNode*, phGraphNode, CUgraph, hGraph, const CUgraphNode*,
        dependencies, const CUgraphEdgeData*, dependencyData, size_t, numDependencies,
        CUgraphNodeParams*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    return add_any_node(phGraphNode, hGraph, dependencies, numDependencies, *nodeParams);
}

SIM_API(cuGraphAddMemAllocNode, , 11040, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    AllocTask task;
    SIM_TRY(alloc_task(nodeParams->bytesize, task));
    nodeParams->dptr = task.memory->address();
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphAddMemFreeNode, , 11040, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies, CUdeviceptr, dptr) {
    FreeTask task;
    SIM_TRY(free_task(hGraph, dptr, task));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, task);
}

SIM_API(cuGraphAddBatchMemOpNode, , 11070, CUgraphNode*, phGraphNode, CUgraph, hGraph,
        const CUgraphNode*, dependencies, size_t, numDependencies,
        const CUDA_BATCH_MEM_OP_NODE_PARAMS*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    BatchTask task;
    SIM_TRY(task.take(nodeParams->paramArray, nodeParams->count));
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, std::move(task));
}

SIM_API(cuGraphConditionalHandleCreate, , 12030, CUgraphConditionalHandle*, pHandle_out, CUgraph,
        hGraph, CUcontext, ctx, unsigned int, defaultLaunchValue, unsigned int, flags) {
    SIM_REQUIRE(pHandle_out != nullptr && hGraph != nullptr);
    auto condition = std::make_shared<Condition>();
    condition->default_value = defaultLaunchValue;
    condition->has_default = (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0;
    *pHandle_out = reinterpret_cast<CUgraphConditionalHandle>(condition.get());
    Graph::from(hGraph)->conditions.push_back(std::move(condition));
    return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroyNode, , 10000, CUgraphNode, hNode) {
    SIM_REQUIRE(hNode != nullptr);
    Node* node = Node::from(hNode);
    if (has_memory_nodes(*node->graph)) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    node->graph->remove(node);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeFindInClone, , 10000, CUgraphNode*, phNode, CUgraphNode, hOriginalNode, CUgraph,
        hClonedGraph) {
    SIM_REQUIRE(phNode != nullptr && hOriginalNode != nullptr && hClonedGraph != nullptr);
    for (const auto& node : Graph::from(hClonedGraph)->nodes) {
        if (node->original == Node::from(hOriginalNode)) {
            *phNode = node->handle();
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphNodeSetParams, , 12020, CUgraphNode, hNode, CUgraphNodeParams*, nodeParams) {
    SIM_REQUIRE(hNode != nullptr && nodeParams != nullptr);
    Task task;
    SIM_TRY(any_task(*nodeParams, task));
    SIM_REQUIRE(type_of(task) == Node::from(hNode)->type);
    Node::from(hNode)->task = std::move(task);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetType, , 10000, CUgraphNode, hNode, CUgraphNodeType*, type) {
    SIM_REQUIRE(hNode != nullptr && type != nullptr);
    *type = Node::from(hNode)->type;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeGetParams, , 10000, CUgraphNode, hNode, CUDA_KERNEL_NODE_PARAMS_v1*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    show_kernel(*task, *nodeParams);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeGetParams, _v2, 12000, CUgraphNode, hNode, CUDA_KERNEL_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    show_kernel(*task, *nodeParams);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeSetParams, _v2, 12000, CUgraphNode, hNode, const CUDA_KERNEL_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    KernelTask changed;
    SIM_TRY(kernel_task(*nodeParams, changed));
    *task = std::move(changed);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemcpyNodeGetParams, , 10000, CUgraphNode, hNode, CUDA_MEMCPY3D*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    CopyTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    *nodeParams = task->shape;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemcpyNodeSetParams, , 10000, CUgraphNode, hNode, const CUDA_MEMCPY3D*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    CopyTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    return copy_task(*nodeParams, *task);
}

SIM_API(cuGraphMemsetNodeGetParams, , 10000, CUgraphNode, hNode, CUDA_MEMSET_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    MemsetTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    *nodeParams = task->shape;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemsetNodeSetParams, , 10000, CUgraphNode, hNode, const CUDA_MEMSET_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    MemsetTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    return memset_task(*nodeParams, *task);
}

SIM_API(cuGraphHostNodeGetParams, , 10000, CUgraphNode, hNode, CUDA_HOST_NODE_PARAMS*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    HostTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    nodeParams->fn = task->function;
    nodeParams->userData = task->userdata;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphHostNodeSetParams, , 10000, CUgraphNode, hNode, const CUDA_HOST_NODE_PARAMS*,
        nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    HostTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    return host_task(nodeParams->fn, nodeParams->userData, *task);
}

SIM_API(cuGraphChildGraphNodeGetGraph, , 10000, CUgraphNode, hNode, CUgraph*, phGraph) {
    SIM_REQUIRE(phGraph != nullptr);
    ChildTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    *phGraph = task->graph->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphEventRecordNodeGetEvent, , 11010, CUgraphNode, hNode, CUevent*, event_out) {
    SIM_REQUIRE(event_out != nullptr);
    EventRecordTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    *event_out = task->event->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphEventWaitNodeGetEvent, , 11010, CUgraphNode, hNode, CUevent*, event_out) {
    SIM_REQUIRE(event_out != nullptr);
    EventWaitTask* task = nullptr;
    SIM_TRY(task_of(hNode, task));
    *event_out = task->event->handle();
    return CUDA_SUCCESS;
}

SIM_API(cuGraphGetNodes, , 10000, CUgraph, hGraph, CUgraphNode*, nodes, size_t*, numNodes) {
    SIM_REQUIRE(hGraph != nullptr);
    std::vector<Node*> all;
    for (const auto& node : Graph::from(hGraph)->nodes) {
        all.push_back(node.get());
    }
    return list(all, nodes, numNodes);
}

SIM_API(cuGraphGetRootNodes, , 10000, CUgraph, hGraph, CUgraphNode*, rootNodes, size_t*,
        numRootNodes) {
    SIM_REQUIRE(hGraph != nullptr);
    std::vector<Node*> roots;
    for (const auto& node : Graph::from(hGraph)->nodes) {
        if (node->after.empty()) {
            roots.push_back(node.get());
        }
    }
    return list(roots, rootNodes, numRootNodes);
}

SIM_API(cuGraphGetEdges, , 10000, CUgraph, hGraph, CUgraphNode*, from, CUgraphNode*, to, size_t*,
        numEdges) {
    return edges(hGraph, from, to, nullptr, numEdges);
}

SIM_API(cuGraphGetEdges, _v2, 12030, CUgraph, hGraph, CUgraphNode*, from, CUgraphNode*, to,
        CUgraphEdgeData*, edgeData, size_t*, numEdges) {
    return edges(hGraph, from, to, edgeData, numEdges);
}

SIM_API(cuGraphNodeGetDependencies, , 10000, CUgraphNode, hNode, CUgraphNode*, dependencies,
        size_t*, numDependencies) {
    SIM_REQUIRE(hNode != nullptr);
    return list(Node::from(hNode)->after, dependencies, numDependencies);
}

SIM_API(cuGraphNodeGetDependencies, _v2, 12030, CUgraphNode, hNode, CUgraphNode*, dependencies,
        CUgraphEdgeData*, edgeData, size_t*, numDependencies) {
    SIM_REQUIRE(hNode != nullptr);
    SIM_TRY(list(Node::from(hNode)->after, dependencies, numDependencies));
    clear_edge_data(edgeData, numDependencies);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetDependentNodes, , 10000, CUgraphNode, hNode, CUgraphNode*, dependentNodes,
        size_t*, numDependentNodes) {
    return dependents(hNode, dependentNodes, numDependentNodes);
}

SIM_API(cuGraphNodeGetDependentNodes, _v2, 12030, CUgraphNode, hNode, CUgraphNode*, dependentNodes,
        CUgraphEdgeData*, edgeData, size_t*, numDependentNodes) {
    SIM_TRY(dependents(hNode, dependentNodes, numDependentNodes));
    clear_edge_data(edgeData, numDependentNodes);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphAddDependencies, , 10000, CUgraph, hGraph, const CUgraphNode*, from,
        const CUgraphNode*, to, size_t, numDependencies) {
    return change_edges(hGraph, from, to, numDependencies, true);
}

SIM_API(cuGraphAddDependencies, _v2, 12030, CUgraph, hGraph, const CUgraphNode*, from,
        const CUgraphNode*, to, const CUgraphEdgeData*, edgeData, size_t, numDependencies) {
    return change_edges(hGraph, from, to, numDependencies, true);
}

SIM_API(cuGraphRemoveDependencies, , 10000, CUgraph, hGraph, const CUgraphNode*, from,
        const CUgraphNode*, to, size_t, numDependencies) {
    return change_edges(hGraph, from, to, numDependencies, false);
}

SIM_API(cuGraphRemoveDependencies, _v2, 12030, CUgraph, hGraph, const CUgraphNode*, from,
        const CUgraphNode*, to, const CUgraphEdgeData*, edgeData, size_t, numDependencies) {
    return change_edges(hGraph, from, to, numDependencies, false);
}

SIM_API(cuGraphInstantiate, , 10000, CUgraphExec*, phGraphExec, CUgraph, hGraph, CUgraphNode*,
        phErrorNode, char*, logBuffer, size_t, bufferSize) {
    if (phErrorNode != nullptr) {
        *phErrorNode = nullptr;
    }
    return make_exec(phGraphExec, hGraph, 0);
}

SIM_API(cuGraphInstantiate, _v2, 11000, CUgraphExec*, phGraphExec, CUgraph, hGraph, CUgraphNode*,
        phErrorNode, char*, logBuffer, size_t, bufferSize) {
    if (phErrorNode != nullptr) {
        *phErrorNode = nullptr;
    }
    return make_exec(phGraphExec, hGraph, 0);
}

SIM_API(cuGraphInstantiateWithFlags, , 11040, CUgraphExec*, phGraphExec, CUgraph, hGraph,
        unsigned long long, flags) {
    return make_exec(phGraphExec, hGraph, flags);
}

SIM_STREAM_API(cuGraphInstantiateWithParams, , 12000, _ptsz, CUgraphExec*, phGraphExec, CUgraph,
               hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS*, instantiateParams) {
    SIM_REQUIRE(instantiateParams != nullptr);
    instantiateParams->hErrNode_out = nullptr;
    const CUresult result = make_exec(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->result_out = result == CUDA_SUCCESS
                                        ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                        : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return result;
}

SIM_API(cuGraphExecGetFlags, , 12000, CUgraphExec, hGraphExec, cuuint64_t*, flags) {
    SIM_REQUIRE(hGraphExec != nullptr && flags != nullptr);
    *flags = GraphExec::from(hGraphExec)->flags;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecDestroy, , 10000, CUgraphExec, hGraphExec) {
    SIM_REQUIRE(hGraphExec != nullptr);
    delete GraphExec::from(hGraphExec);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecKernelNodeSetParams, _v2, 12000, CUgraphExec, hGraphExec, CUgraphNode, hNode,
        const CUDA_KERNEL_NODE_PARAMS*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    KernelTask task;
    SIM_TRY(kernel_task(*nodeParams, task));
    return set_exec(hGraphExec, hNode, std::move(task));
}

SIM_API(cuGraphExecMemcpyNodeSetParams, , 10020, CUgraphExec, hGraphExec, CUgraphNode, hNode,
        const CUDA_MEMCPY3D*, copyParams, CUcontext, ctx) {
    SIM_REQUIRE(copyParams != nullptr);
    CopyTask task;
    SIM_TRY(copy_task(*copyParams, task));
    return set_exec(hGraphExec, hNode, std::move(task));
}

SIM_API(cuGraphExecMemsetNodeSetParams, , 10020, CUgraphExec, hGraphExec, CUgraphNode, hNode,
        const CUDA_MEMSET_NODE_PARAMS*, memsetParams, CUcontext, ctx) {
    SIM_REQUIRE(memsetParams != nullptr);
    MemsetTask task;
    SIM_TRY(memset_task(*memsetParams, task));
    return set_exec(hGraphExec, hNode, task);
}

SIM_API(cuGraphExecHostNodeSetParams, , 10020, CUgraphExec, hGraphExec, CUgraphNode, hNode,
        const CUDA_HOST_NODE_PARAMS*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    HostTask task;
    SIM_TRY(host_task(nodeParams->fn, nodeParams->userData, task));
    return set_exec(hGraphExec, hNode, task);
}

SIM_API(cuGraphExecNodeSetParams, , 12020, CUgraphExec, hGraphExec, CUgraphNode, hNode,
        CUgraphNodeParams*, nodeParams) {
    SIM_REQUIRE(nodeParams != nullptr);
    Task task;
    SIM_TRY(any_task(*nodeParams, task));
    return set_exec(hGraphExec, hNode, std::move(task));
}

SIM_API(cuGraphNodeSetEnabled, , 11060, CUgraphExec, hGraphExec, CUgraphNode, hNode, unsigned int,
        isEnabled) {
    SIM_REQUIRE(hGraphExec != nullptr && hNode != nullptr);
    return set_exec_enabled(*GraphExec::from(hGraphExec), Node::from(hNode), isEnabled != 0);
}

SIM_API(cuGraphNodeGetEnabled, , 11060, CUgraphExec, hGraphExec, CUgraphNode, hNode, unsigned int*,
        isEnabled) {
    SIM_REQUIRE(hGraphExec != nullptr && hNode != nullptr && isEnabled != nullptr);
    bool enabled = false;
    SIM_TRY(get_exec_enabled(*GraphExec::from(hGraphExec), Node::from(hNode), enabled));
    *isEnabled = enabled ? 1 : 0;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecUpdate, _v2, 12000, CUgraphExec, hGraphExec, CUgraph, hGraph,
        CUgraphExecUpdateResultInfo*, resultInfo) {
    SIM_REQUIRE(hGraphExec != nullptr && hGraph != nullptr);
    const CUresult result = update(*GraphExec::from(hGraphExec), *Graph::from(hGraph));
    if (resultInfo != nullptr) {
        *resultInfo = {};
        resultInfo->result = result == CUDA_SUCCESS ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                    : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    return result;
}

SIM_STREAM_API(cuGraphUpload, , 11010, _ptsz, CUgraphExec, hGraph, CUstream, hStream) {
    SIM_REQUIRE(hGraph != nullptr);
    Stream* stream = nullptr;
    return resolve_stream(hStream, call.per_thread, stream);
}

SIM_STREAM_API(cuGraphLaunch, , 10000, _ptsz, CUgraphExec, hGraph, CUstream, hStream) {
    SIM_REQUIRE(hGraph != nullptr);
    Stream* stream = nullptr;
    SIM_TRY(resolve_stream(hStream, call.per_thread, stream));
    return launch(*GraphExec::from(hGraph), *stream, call.api.delay_ns);
}
