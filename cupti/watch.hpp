// Tells the session what decoded calls mean: at entry what must be known before the call can take
// effect, at return what only holds when it has succeeded.
#pragma once

#include <cstdint>

#include "core/session.hpp"
#include "cupti/decode.hpp"
#include "cupti/graph_watch.hpp"

namespace cuward::cupti {

class Watch {
  public:
    Watch(Session& session, const DriverQueries& driver);

    void enter(const DriverCall& driver_call, Call& call);
    /// `result`: the CUresult that the call returned.
    void leave(Call& call, int result);

  private:
    class TrackedBlocks final : public BlockLookup {
      public:
        explicit TrackedBlocks(const Tracker& tracker) : tracker_(tracker) {}
        bool may_be_tracked(Address address) const override {
            return tracker_.may_be_tracked(address);
        }
        std::optional<KnownBlock> find_block(Address address) const override {
            return tracker_.find_block(address);
        }
        bool always_synchronizes(Address address) const override {
            return tracker_.always_synchronizes(address);
        }
        std::optional<ArrayPlace> find_array(Address handle) const override {
            return tracker_.find_array(handle);
        }

      private:
        const Tracker& tracker_;
    };

    void begin_operation(Call& call);
    void before_capture(Call& call);
    void meet_stream(const Call& call);
    void operation_queued(Call& call, bool succeeded);
    bool becomes_node(Call& call);
    void succeeded(Call& call);
    void stream_created(const Call& call);
    void variable_found(const Call& call);

    Session& session_;
    Tracker& tracker_;
    const DriverQueries driver_;
    GraphWatch graphs_;
    TrackedBlocks blocks_;
    MemoryObjects objects_;
    KernelCache kernels_;
    Decoder decoder_;
};

}  // namespace cuward::cupti
