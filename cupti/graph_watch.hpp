// Tells the session what decoded calls mean for graphs: what their nodes do, and so what a launch
// touches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/session.hpp"
#include "cupti/call.hpp"
#include "cupti/driver_queries.hpp"

namespace cuward::cupti {

class GraphWatch {
  public:
    GraphWatch(Session& session, const DriverQueries& driver)
        : session_(session), graphs_(session.graphs()), driver_(driver) {}

    /// Entry of a launch: its accesses are those of the executable graph, and it comes after the
    /// graph's last launch.
    void launched(Call& call);
    /// Entry of a call that ends a handle, which may be given out again before the call returns.
    void destroyed(const Call& call);
    /// The same, after its accesses have been checked: what its nodes free.
    void launch_begun(Call& call);
    /// Return of a launch that runs.
    void launch_returned(Call& call, bool succeeded);
    /// Return of a call on a capturing stream: it has built a node.
    void captured(std::uint32_t capture, Call& call);
    /// Return of cuStreamEndCapture, if that ended the capture.
    void capture_ended(const Call& call, std::uint32_t capture, bool succeeded);
    /// Successful return of any other call.
    void succeeded(Call& call);

  private:
    void wait_for_others(Call& call);
    void allocate(Call& call, const GraphWork& node, bool frees_first);
    void free(const StreamRef& stream, Address ptr, const CallSite& site);
    void record_events(Call& call);
    SharedGraphWork work_of(Call& call);
    NodeHandle captured_node(const Call& call) const;
    GraphEdges edges_of(GraphHandle graph) const;
    std::optional<std::vector<NodeEdge>> ask_for_edges(GraphHandle graph) const;
    void instantiated(const Call& call);
    void updated(const Call& call);
    void compare_nodes(const Call& call, ExecHandle exec, std::span<const std::uint32_t> changed);
    void cloned(const Call& call);
    void node_changed(Call& call);

    Session& session_;
    Graphs& graphs_;
    const DriverQueries driver_;
};

}  // namespace cuward::cupti
