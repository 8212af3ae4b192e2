// Which nodes of a graph come after which, against plain reachability.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "core/graphs/graph_order.hpp"

namespace cuward {
namespace {

using testing::ElementsAre;

SharedGraphWork work() {
    return std::make_shared<const GraphWork>();
}

SharedGraphWork child(GraphBody body) {
    auto made = std::make_shared<GraphWork>();
    made->child = std::move(body);
    return made;
}

GraphBody graph(std::size_t nodes, std::vector<GraphEdge> edges) {
    GraphBody body{.nodes = {}, .edges = std::move(edges)};
    for (std::size_t i = 0; i < nodes; ++i) {
        body.nodes.push_back(work());
    }
    return body;
}

/// Of every node, those visited before it that it comes after.
using Ancestors = std::map<const GraphWork*, std::vector<const GraphWork*>>;

Ancestors ancestors_in(const GraphBody& body) {
    struct Visited {
        const GraphWork* work;
        std::uint32_t chain;
        std::uint32_t position;
    };
    std::vector<Visited> visited;
    Ancestors ancestors;
    visit_in_order(body, [&](const GraphStep& step) {
        for (const Visited& earlier : visited) {
            if (step.comes_after(earlier.chain, earlier.position)) {
                ancestors[&step.work].push_back(earlier.work);
            }
        }
        visited.push_back({&step.work, step.chain, step.position});
    });
    return ancestors;
}

bool reaches(const GraphBody& body, std::uint32_t earlier, std::uint32_t later) {
    std::vector<std::uint32_t> open{earlier};
    std::vector<bool> seen(body.nodes.size());
    while (!open.empty()) {
        const std::uint32_t node = open.back();
        open.pop_back();
        for (const GraphEdge& edge : body.edges) {
            if (edge.earlier == node && !seen[edge.later]) {
                seen[edge.later] = true;
                open.push_back(edge.later);
            }
        }
    }
    return seen[later];
}

void expect_plain_reachability(const GraphBody& body) {
    Ancestors ancestors = ancestors_in(body);
    for (std::uint32_t a = 0; a < body.nodes.size(); ++a) {
        for (std::uint32_t b = 0; b < body.nodes.size(); ++b) {
            const auto& known = ancestors[body.nodes[b].get()];
            EXPECT_EQ(std::count(known.begin(), known.end(), body.nodes[a].get()) != 0,
                      reaches(body, a, b))
                << a << " before " << b;
        }
    }
}

std::vector<std::uint32_t> order_of(const GraphBody& body) {
    std::vector<std::uint32_t> nodes;
    visit_in_order(body, [&](const GraphStep& step) { nodes.push_back(step.node); });
    return nodes;
}

std::uint32_t chains_of(const GraphBody& body) {
    std::uint32_t chains = 0;
    visit_in_order(body, [&](const GraphStep& step) { chains = std::max(chains, step.chain + 1); });
    return chains;
}

TEST(GraphOrder, NothingInAnEmptyGraph) {
    EXPECT_THAT(order_of({}), ElementsAre());
}

TEST(GraphOrder, NodesWithoutEdgesAreUnordered) {
    expect_plain_reachability(graph(3, {}));
    EXPECT_THAT(order_of(graph(3, {})), ElementsAre(0, 1, 2));
}

TEST(GraphOrder, ASequenceIsOneChain) {
    const GraphBody body = graph(3, {{0, 1}, {1, 2}});
    expect_plain_reachability(body);
    EXPECT_EQ(chains_of(body), 1U);
}

TEST(GraphOrder, EdgesMayGoAgainstTheOrderOfTheNodes) {
    const GraphBody body = graph(3, {{2, 0}, {0, 1}});
    expect_plain_reachability(body);
    EXPECT_THAT(order_of(body), ElementsAre(2, 0, 1));
}

TEST(GraphOrder, EdgesGivenTwiceCountOnce) {
    expect_plain_reachability(graph(3, {{0, 1}, {0, 1}, {1, 2}, {0, 2}}));
}

TEST(GraphOrder, ForksAndJoins) {
    const GraphBody body = graph(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5}});
    expect_plain_reachability(body);
    EXPECT_EQ(chains_of(body), 2U);
}

TEST(GraphOrder, RandomGraphs) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const std::uint32_t nodes = 2 + random() % 20;
        std::vector<GraphEdge> edges;
        const std::uint32_t count = random() % (2 * nodes);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t later = 1 + random() % (nodes - 1);
            edges.push_back(
                {.earlier = static_cast<std::uint32_t>(random() % later), .later = later});
        }
        // The same graph with its nodes named in another order.
        std::vector<std::uint32_t> names(nodes);
        for (std::uint32_t i = 0; i < nodes; ++i) names[i] = i;
        std::shuffle(names.begin(), names.end(), random);
        for (GraphEdge& edge : edges) edge = {names[edge.earlier], names[edge.later]};
        expect_plain_reachability(graph(nodes, edges));
    }
}

TEST(GraphOrder, ChildGraphsStandBetweenTheNeighboursOfTheirNode) {
    const GraphBody inner = graph(2, {});
    GraphBody outer = graph(3, {{0, 1}, {1, 2}});
    outer.nodes[1] = child(inner);
    Ancestors ancestors = ancestors_in(outer);
    const auto comes_after = [&](const SharedGraphWork& later, const SharedGraphWork& earlier) {
        const auto& known = ancestors[later.get()];
        return std::count(known.begin(), known.end(), earlier.get()) != 0;
    };
    for (const SharedGraphWork& node : inner.nodes) {
        EXPECT_TRUE(comes_after(node, outer.nodes[0]));
        EXPECT_TRUE(comes_after(outer.nodes[2], node));
    }
    EXPECT_FALSE(comes_after(inner.nodes[0], inner.nodes[1]));
    EXPECT_FALSE(comes_after(inner.nodes[1], inner.nodes[0]));
    EXPECT_THAT(order_of(outer), ElementsAre(0, 1, 1, 1, 1, 2));
}

TEST(GraphOrder, ChildGraphsInChildGraphs) {
    const GraphBody innermost = graph(1, {});
    GraphBody inner = graph(2, {{0, 1}});
    inner.nodes[1] = child(innermost);
    GraphBody outer = graph(2, {{1, 0}});
    outer.nodes[1] = child(inner);
    Ancestors ancestors = ancestors_in(outer);
    EXPECT_THAT(ancestors[outer.nodes[0].get()], testing::Contains(innermost.nodes[0].get()));
    EXPECT_THAT(ancestors[innermost.nodes[0].get()], testing::Contains(inner.nodes[0].get()));
}

/// Forks into `width` nodes and joins again, until there are about 10,000.
GraphBody forking(std::uint32_t width) {
    GraphBody body = graph(1, {});
    while (body.nodes.size() < 10'000) {
        const auto root = static_cast<std::uint32_t>(body.nodes.size() - 1);
        for (std::uint32_t i = 1; i <= width; ++i) {
            body.nodes.push_back(work());
            body.edges.push_back({root, root + i});
            body.edges.push_back({root + i, root + width + 1});
        }
        body.nodes.push_back(work());
    }
    return body;
}

TEST(GraphOrder, WideGraphsNeedAsManyChainsAsNodesRunAtOnce) {
    for (const std::uint32_t width : {1U, 16U, 100U, 3000U}) {
        EXPECT_EQ(chains_of(forking(width)), width);
    }
}

}  // namespace
}  // namespace cuward
