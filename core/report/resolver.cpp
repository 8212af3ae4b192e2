#include "core/report/resolver.hpp"

#include "core/report/frames.hpp"
#include "core/report/text.hpp"

namespace cuward::report {

Stack Resolver::stack(std::uint64_t id, const std::string& kernel) const {
    Stack whole;
    const auto logged = log_.stacks.find(id);
    if (logged == log_.stacks.end()) {
        return whole;
    }
    for (const LoggedFrame& frame : logged->second) {
        const auto module = log_.modules.find(frame.module);
        if (module == log_.modules.end()) {
            whole.frames.push_back({{}, {}, 0, {}, frame.offset});
            continue;
        }
        const auto& frames =
            symbolizer_.frames_at(module->second.path, module->second.build_id, frame.offset);
        whole.frames.insert(whole.frames.end(), frames.begin(), frames.end());
    }
    Stack shown = without_noise(whole, kernel);
    if (all_frames_) {
        shown.frames = std::move(whole.frames);
    }
    return shown;
}

std::string Resolver::kernel(std::uint64_t id) const {
    const auto name = log_.kernels.find(id);
    return name == log_.kernels.end() ? std::string() : demangle(name->second);
}

std::optional<Stream> Resolver::stream(std::uint64_t id) const {
    const auto logged = log_.streams.find(id);
    if (logged == log_.streams.end()) {
        return std::nullopt;
    }
    const LoggedStream& found = logged->second;
    return Stream{id, found.handle, found.kind, found.thread, stack(found.stack)};
}

Call Resolver::call(const LoggedCall& logged) const {
    return {std::string(logged.api), stream(logged.stream), logged.thread, logged.time,
            stack(logged.stack)};
}

Block Resolver::block(const LoggedBlock& logged) const {
    Block block;
    block.ptr = logged.ptr;
    block.bytes = logged.bytes;
    block.kind = std::string(logged.kind);
    block.device = logged.device;
    block.allocated = call(logged.allocated);
    if (logged.freed) {
        block.freed = call(*logged.freed);
    }
    return block;
}

AccessPlace Resolver::access(const LoggedAccess& logged) const {
    AccessPlace place;
    place.op = logged.op;
    place.api = logged.api;
    place.kernel = kernel(logged.kernel);
    place.stream = stream(logged.stream);
    place.access = logged.access;
    place.direction_known = logged.direction_known;
    place.range = logged.range;
    place.range_exact = logged.range_exact;
    place.grid = logged.grid;
    place.threads = logged.threads;
    place.thread = logged.thread;
    if (logged.node) {
        place.node = {logged.node->op, logged.node->api, stack(logged.node->stack, place.kernel)};
        place.stack = stack(logged.stack);
    } else {
        place.stack = stack(logged.stack, place.kernel);
    }
    return place;
}

BudgetRefusal Resolver::refusal(const LoggedRefusal& logged) const {
    constexpr std::size_t kShownHolders = 5;
    BudgetRefusal refusal;
    refusal.device = logged.device;
    refusal.for_process = logged.for_process;
    refusal.requested = logged.requested;
    refusal.current = logged.current;
    refusal.remaining = logged.remaining;
    refusal.limit = logged.limit;
    for (const LoggedHolder& holder : logged.holders) {
        if (refusal.holders.size() < kShownHolders) {
            refusal.holders.push_back({std::string(holder.api), std::string(holder.kind),
                                       holder.blocks, holder.bytes, stack(holder.stack)});
        } else {
            refusal.further_places += 1;
            refusal.further_bytes = saturating_add(refusal.further_bytes, holder.bytes);
        }
    }
    return refusal;
}

}  // namespace cuward::report
