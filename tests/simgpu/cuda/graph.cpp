#include "graph.hpp"

#include <algorithm>
#include <map>

#include "../handle.hpp"
#include "capture.hpp"
#include "config.hpp"
#include "context.hpp"

namespace simgpu {
namespace {

using ExecNodes = std::vector<ExecNode>;

void set_conditions(const ExecNodes& nodes) {
    for (const ExecNode& node : nodes) {
        if (const auto* task = std::get_if<ConditionalTask>(&node.task)) {
            if (task->condition->has_default) {
                task->condition->value = task->condition->default_value;
            }
            for (const ExecNodes& body : node.bodies) {
                set_conditions(body);
            }
        }
    }
}

// False when the device stops.
bool run_nodes(const ExecNodes& nodes);

bool run_conditional(const ConditionalTask& task, const std::vector<ExecNodes>& bodies) {
    const auto run_body = [&](unsigned body) {
        return body >= bodies.size() || run_nodes(bodies[body]);
    };
    switch (task.type) {
        case CU_GRAPH_COND_TYPE_IF:
            return run_body(task.condition->value != 0 ? 0 : 1);
        case CU_GRAPH_COND_TYPE_WHILE:
            while (task.condition->value != 0) {
                if (!run_body(0)) {
                    return false;
                }
            }
            return true;
        default:
            return run_body(task.condition->value);
    }
}

bool run_nodes(const ExecNodes& nodes) {
    for (const ExecNode& node : nodes) {
        if (!node.enabled) {
            continue;
        }
        if (!pause_device(duration_of(node.task))) {
            return false;
        }
        execute(node.task);
        const auto* conditional = std::get_if<ConditionalTask>(&node.task);
        if (conditional != nullptr && !run_conditional(*conditional, node.bodies)) {
            return false;
        }
    }
    return true;
}

struct GraphWork final : Work {
    std::shared_ptr<const ExecNodes> nodes;

    void run() override {
        set_conditions(*nodes);
        run_nodes(*nodes);
    }
};

// Child graphs are laid out in place: their nodes come where the child node was.
bool flatten(const Graph& graph, std::vector<ExecNode>& out) {
    const std::vector<Node*> order = graph.topological();
    if (order.size() != graph.nodes.size()) {
        return false;
    }
    for (Node* node : order) {
        if (const auto* child = std::get_if<ChildTask>(&node->task)) {
            if (!flatten(*child->graph, out)) {
                return false;
            }
        } else {
            out.push_back({node, node->task, true});
            if (const auto* conditional = std::get_if<ConditionalTask>(&node->task)) {
                for (const auto& body : conditional->bodies) {
                    if (!flatten(*body, out.back().bodies.emplace_back())) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

template <class Nodes>
auto find_switchable(Nodes& nodes, const Node* origin) -> decltype(nodes.data()) {
    for (auto& node : nodes) {
        const CUgraphNodeType type = type_of(node.task);
        if (node.origin == origin &&
            (type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
             type == CU_GRAPH_NODE_TYPE_MEMSET)) {
            return &node;
        }
    }
    return nullptr;
}

}  // namespace

CUgraphNodeType type_of(const Task& task) {
    constexpr CUgraphNodeType types[] = {
        CU_GRAPH_NODE_TYPE_EMPTY,        CU_GRAPH_NODE_TYPE_KERNEL,
        CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,
        CU_GRAPH_NODE_TYPE_HOST,         CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        CU_GRAPH_NODE_TYPE_WAIT_EVENT,   CU_GRAPH_NODE_TYPE_GRAPH,
        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        CU_GRAPH_NODE_TYPE_CONDITIONAL,  CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        CU_GRAPH_NODE_TYPE_MEM_FREE,
    };
    static_assert(std::size(types) == std::variant_size_v<Task>);
    return types[task.index()];
}

void own_bodies(ConditionalTask& task,
                const std::function<std::shared_ptr<Graph>(const Graph&)>& made_of) {
    task.handles = std::make_shared<std::vector<CUgraph>>();
    for (std::shared_ptr<Graph>& body : task.bodies) {
        body = made_of(*body);
        for (const auto& node : body->nodes) {
            node->graph = body.get();
        }
        task.handles->push_back(body->handle());
    }
}

Node* Graph::add(Task task, const std::vector<Node*>& after) {
    auto node = std::make_unique<Node>();
    node->graph = this;
    node->type = type_of(task);
    node->task = std::move(task);
    for (Node* earlier : after) {
        if (std::find(node->after.begin(), node->after.end(), earlier) == node->after.end()) {
            node->after.push_back(earlier);
        }
    }
    nodes.push_back(std::move(node));
    return nodes.back().get();
}

void Graph::remove(Node* node) {
    for (const auto& other : nodes) {
        std::erase(other->after, node);
    }
    std::erase_if(nodes, [&](const auto& owned) { return owned.get() == node; });
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>();
    std::map<const Node*, Node*> counterpart;
    for (const auto& node : nodes) {
        Task task = node->task;
        if (auto* child = std::get_if<ChildTask>(&task)) {
            child->graph = child->graph->clone();
        } else if (auto* conditional = std::get_if<ConditionalTask>(&task)) {
            own_bodies(*conditional, [](const Graph& body) { return body.clone(); });
        }
        Node* twin = copy->add(std::move(task), {});
        twin->attributes = node->attributes;
        twin->original = node.get();
        counterpart[node.get()] = twin;
    }
    for (const auto& node : nodes) {
        for (const Node* earlier : node->after) {
            counterpart[node.get()]->after.push_back(counterpart[earlier]);
        }
    }
    return copy;
}

std::vector<Node*> Graph::topological() const {
    std::map<const Node*, size_t> missing;
    std::map<const Node*, std::vector<Node*>> later;
    std::vector<Node*> order;
    for (const auto& node : nodes) {
        missing[node.get()] = node->after.size();
        for (const Node* earlier : node->after) {
            later[earlier].push_back(node.get());
        }
        if (node->after.empty()) {
            order.push_back(node.get());
        }
    }
    for (size_t index = 0; index < order.size(); ++index) {
        for (Node* next : later[order[index]]) {
            if (--missing[next] == 0) {
                order.push_back(next);
            }
        }
    }
    return order.size() == nodes.size() ? order : std::vector<Node*>{};
}

CUresult instantiate(Graph& graph, GraphExec*& exec) {
    auto nodes = std::make_shared<std::vector<ExecNode>>();
    if (!flatten(graph, *nodes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    exec = new_handle<GraphExec>();
    exec->nodes = std::move(nodes);
    exec->context = current_context();
    return CUDA_SUCCESS;
}

bool has_memory_nodes(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
               node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    });
}

namespace {

// As cuMemFreeAsync would be called; memory that is allocated already makes the launch fail.
CUresult run_memory_nodes(const ExecNodes& nodes, bool frees_first) {
    for (const ExecNode& node : nodes) {
        const auto* alloc = std::get_if<AllocTask>(&node.task);
        if (alloc != nullptr && alloc->memory->is_allocated() && !frees_first) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    for (const ExecNode& node : nodes) {
        if (const auto* alloc = std::get_if<AllocTask>(&node.task)) {
            alloc->memory->set_allocated(true);
        } else if (const auto* free = std::get_if<FreeTask>(&node.task)) {
            free_graph_memory(free->address);
        }
    }
    return CUDA_SUCCESS;
}

}  // namespace

CUresult launch(GraphExec& exec, Stream& stream, uint64_t extra_ns) {
    if (stream.capture != nullptr) {
        // A captured launch is a child graph of what the executable was made of.
        ChildTask child;
        child.graph = std::make_shared<Graph>();
        Node* last = nullptr;
        for (const ExecNode& node : *exec.nodes) {
            last = child.graph->add(
                node.task, last != nullptr ? std::vector<Node*>{last} : std::vector<Node*>{});
        }
        return submit(stream, std::move(child), 0);
    }
    const CUresult result = check_legacy_capture(stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const std::lock_guard lock(exec.mutex);
    const bool frees_first = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    const CUresult memory = run_memory_nodes(*exec.nodes, frees_first);
    if (memory != CUDA_SUCCESS) {
        return memory;
    }
    Operation operation;
    operation.duration_ns = delay_of("graph") + extra_ns;
    auto work = std::make_unique<GraphWork>();
    work->nodes = exec.nodes;
    for (const ExecNode& node : *exec.nodes) {
        if (const auto* wait_task = std::get_if<EventWaitTask>(&node.task)) {
            operation.after.push_back(wait_task->event->point());
        }
    }
    if (exec.last.stream != nullptr) {
        operation.after.push_back(exec.last);
    }
    operation.work = std::move(work);
    auto stamp = std::make_shared<Stamp>();
    operation.stamp = stamp;
    exec.last = stream.issue(std::move(operation));
    for (const ExecNode& node : *exec.nodes) {
        if (const auto* record = std::get_if<EventRecordTask>(&node.task)) {
            record->event->capture_id = 0;
            record->event->set(exec.last, stamp);
        }
    }
    return CUDA_SUCCESS;
}

CUresult set_exec_task(GraphExec& exec, Node* node, Task task) {
    const std::lock_guard lock(exec.mutex);
    auto changed = std::make_shared<std::vector<ExecNode>>(*exec.nodes);
    for (ExecNode& mine : *changed) {
        if (mine.origin == node) {
            if (mine.task.index() != task.index()) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            mine.task = std::move(task);
            exec.nodes = std::move(changed);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

// Kernel, copy and memset nodes only (Driver API manual, cuGraphNodeSetEnabled).
CUresult set_exec_enabled(GraphExec& exec, Node* node, bool enabled) {
    const std::lock_guard lock(exec.mutex);
    auto changed = std::make_shared<std::vector<ExecNode>>(*exec.nodes);
    ExecNode* mine = find_switchable(*changed, node);
    if (mine == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    mine->enabled = enabled;
    exec.nodes = std::move(changed);
    return CUDA_SUCCESS;
}

CUresult get_exec_enabled(GraphExec& exec, Node* node, bool& enabled) {
    const std::lock_guard lock(exec.mutex);
    const ExecNode* mine = find_switchable(*exec.nodes, node);
    if (mine == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    enabled = mine->enabled;
    return CUDA_SUCCESS;
}

CUresult update(GraphExec& exec, Graph& graph) {
    std::vector<ExecNode> fresh;
    if (!flatten(graph, fresh)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const std::lock_guard lock(exec.mutex);
    if (fresh.size() != exec.nodes->size()) {
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (size_t index = 0; index < fresh.size(); ++index) {
        if (fresh[index].task.index() != (*exec.nodes)[index].task.index()) {
            return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        }
        fresh[index].origin = (*exec.nodes)[index].origin;
        fresh[index].enabled = (*exec.nodes)[index].enabled;
    }
    exec.nodes = std::make_shared<const std::vector<ExecNode>>(std::move(fresh));
    return CUDA_SUCCESS;
}

}  // namespace simgpu
