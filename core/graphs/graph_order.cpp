#include "core/graphs/graph_order.hpp"

#include <algorithm>
#include <queue>
#include <span>

namespace cuward {
namespace {

using Reached = std::vector<std::uint32_t>;
using SharedReached = std::shared_ptr<const Reached>;

void raise(Reached& reached, std::uint32_t chain, std::uint32_t position) {
    if (chain >= reached.size()) {
        reached.resize(chain + 1, 0);
    }
    reached[chain] = std::max(reached[chain], position);
}

void join(Reached& reached, const Reached& other) {
    if (other.size() > reached.size()) {
        reached.resize(other.size(), 0);
    }
    for (std::size_t chain = 0; chain < other.size(); ++chain) {
        reached[chain] = std::max(reached[chain], other[chain]);
    }
}

/// A graph without child graphs: their nodes stand between two without work, which take over the
/// edges of the child.
class FlatGraph {
  public:
    struct Node {
        const GraphWork* work = nullptr;
        std::uint32_t node = 0;
    };

    explicit FlatGraph(const GraphBody& body) : nothing_() {
        for (std::uint32_t node = 0; node < body.nodes.size(); ++node) {
            root_ = node;
            places_of_roots_.push_back(add(*body.nodes[node]));
        }
        connect(body, places_of_roots_);
    }

    std::vector<Node> nodes;
    std::vector<GraphEdge> edges;

  private:
    /// First and last of the nodes that stand for one.
    struct Place {
        std::uint32_t first;
        std::uint32_t last;
    };

    std::uint32_t add_node(const GraphWork& work) {
        nodes.push_back({.work = &work, .node = root_});
        return static_cast<std::uint32_t>(nodes.size() - 1);
    }

    Place add(const GraphWork& work) {
        const std::uint32_t first = add_node(work);
        if (work.child.nodes.empty()) {
            return {first, first};
        }
        std::vector<Place> places;
        for (const SharedGraphWork& node : work.child.nodes) {
            places.push_back(add(*node));
        }
        connect(work.child, places);
        const std::uint32_t last = add_node(nothing_);
        for (const Place& place : places) {
            edges.push_back({.earlier = first, .later = place.first});
            edges.push_back({.earlier = place.last, .later = last});
        }
        return {first, last};
    }

    void connect(const GraphBody& body, const std::vector<Place>& places) {
        for (const GraphEdge& edge : body.edges) {
            edges.push_back(
                {.earlier = places[edge.earlier].last, .later = places[edge.later].first});
        }
    }

    const GraphWork nothing_;
    std::uint32_t root_ = 0;
    std::vector<Place> places_of_roots_;
};

/// For every node its neighbours at the other ends of its edges.
class Neighbours {
  public:
    Neighbours(std::size_t nodes, const std::vector<GraphEdge>& edges,
               std::uint32_t GraphEdge::*self, std::uint32_t GraphEdge::*other)
        : begins_(nodes + 1, 0), others_(edges.size()) {
        for (const GraphEdge& edge : edges) {
            ++begins_[edge.*self + 1];
        }
        for (std::size_t node = 0; node < nodes; ++node) {
            begins_[node + 1] += begins_[node];
        }
        std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
        for (const GraphEdge& edge : edges) {
            others_[next[edge.*self]++] = edge.*other;
        }
    }

    std::span<const std::uint32_t> of(std::uint32_t node) const {
        return {others_.data() + begins_[node], begins_[node + 1] - begins_[node]};
    }

  private:
    std::vector<std::uint32_t> begins_;
    std::vector<std::uint32_t> others_;
};

class Walk {
  public:
    Walk(const FlatGraph& graph, const std::function<void(const GraphStep&)>& visit)
        : graph_(graph),
          visit_(visit),
          earlier_(graph.nodes.size(), graph.edges, &GraphEdge::later, &GraphEdge::earlier),
          later_(graph.nodes.size(), graph.edges, &GraphEdge::earlier, &GraphEdge::later),
          states_(graph.nodes.size()) {}

    void run() {
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
        for (std::uint32_t node = 0; node < states_.size(); ++node) {
            states_[node].awaited = static_cast<std::uint32_t>(earlier_.of(node).size());
            states_[node].awaiting = static_cast<std::uint32_t>(later_.of(node).size());
            if (states_[node].awaited == 0) {
                ready.push(node);
            }
        }
        while (!ready.empty()) {
            const std::uint32_t node = ready.top();
            ready.pop();
            step(node);
            for (const std::uint32_t next : later_.of(node)) {
                if (--states_[next].awaited == 0) {
                    ready.push(next);
                }
            }
        }
    }

  private:
    struct State {
        std::uint32_t awaited = 0;   ///< nodes it comes after that have not been visited
        std::uint32_t awaiting = 0;  ///< nodes after it that have not been visited
        std::uint32_t chain = 0;
        std::uint32_t position = 0;
        SharedReached before;  ///< what it comes after, its own chain perhaps left out
        SharedReached after;   ///< what comes before a next node on another chain, once needed
    };

    void step(std::uint32_t node) {
        State& state = states_[node];
        const bool continues = choose_chain_of_predecessor(node);
        state.before = before(node, continues);
        if (!continues) {
            choose_any_chain(state);
        }
        state.position = ++last_[state.chain];
        visit_({.work = *graph_.nodes[node].work,
                .node = graph_.nodes[node].node,
                .chain = state.chain,
                .position = state.position,
                .reached = *state.before});
        for (const std::uint32_t done : earlier_.of(node)) {
            release_after_last(states_[done]);
        }
        if (state.awaiting == 0) {
            release(state);
        }
    }

    /// Many nodes share what comes before them; it is kept for as long as one may ask.
    static void release_after_last(State& state) {
        if (--state.awaiting == 0) {
            release(state);
        }
    }
    static void release(State& state) {
        state.before = nullptr;
        state.after = nullptr;
    }

    bool choose_chain_of_predecessor(std::uint32_t node) {
        for (const std::uint32_t earlier : earlier_.of(node)) {
            const State& state = states_[earlier];
            if (last_[state.chain] == state.position) {
                states_[node].chain = state.chain;
                return true;
            }
        }
        return false;
    }

    /// One whose last node comes before this one, else a new one: chains are few where graphs fork
    /// and join again and again.
    void choose_any_chain(State& state) {
        const Reached& reached = *state.before;
        for (std::size_t i = 0; i < reached.size(); ++i) {
            next_ = next_ + 1 < reached.size() ? next_ + 1 : 0;
            if (reached[next_] != 0 && reached[next_] == last_[next_]) {
                state.chain = static_cast<std::uint32_t>(next_);
                return;
            }
        }
        state.chain = static_cast<std::uint32_t>(last_.size());
        last_.push_back(0);
    }

    SharedReached before(std::uint32_t node, bool continues) {
        static const auto nothing = std::make_shared<const Reached>();
        const std::span<const std::uint32_t> earlier = earlier_.of(node);
        if (earlier.empty()) {
            return nothing;
        }
        if (earlier.size() == 1) {
            return continues ? states_[earlier[0]].before : after(states_[earlier[0]]);
        }
        auto all = std::make_shared<Reached>();
        const Reached* joined_last = nullptr;
        for (const std::uint32_t each : earlier) {
            const State& state = states_[each];
            if (state.before.get() != joined_last) {
                joined_last = state.before.get();
                join(*all, *joined_last);
            }
            raise(*all, state.chain, state.position);
        }
        return all;
    }

    static const SharedReached& after(State& state) {
        if (state.after == nullptr) {
            auto reached = std::make_shared<Reached>(*state.before);
            raise(*reached, state.chain, state.position);
            state.after = std::move(reached);
        }
        return state.after;
    }

    const FlatGraph& graph_;
    const std::function<void(const GraphStep&)>& visit_;
    const Neighbours earlier_;
    const Neighbours later_;
    std::vector<State> states_;
    std::vector<std::uint32_t> last_;  ///< of each chain the last position
    std::size_t next_ = 0;             ///< where to look for a free chain
};

}  // namespace

void visit_in_order(const GraphBody& body, const std::function<void(const GraphStep&)>& visit) {
    const FlatGraph graph(body);
    Walk(graph, visit).run();
}

}  // namespace cuward
