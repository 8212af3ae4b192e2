#include "core/report/leaks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/report/leak_policy.hpp"
#include "core/report/text.hpp"

namespace cuward::report {

namespace {

// Blocks of one place are told apart by what has to be called to free them, and by device.
using PlaceKey = std::tuple<std::uint64_t, std::string_view, std::string_view, std::uint64_t>;

PlaceKey key_of(const LoggedBlock& block) {
    return {block.allocated.stack, block.allocated.api, block.kind, block.device.value_or(~0ULL)};
}

/// A variable of device code ends with its module.
bool is_of_code(const LoggedBlock& block) {
    return block.kind == "global" || block.kind == "managed-global";
}

std::string keeper_of_stack(const LogModel& log, std::uint64_t id) {
    std::vector<std::string> modules;
    if (const auto stack = log.stacks.find(id); stack != log.stacks.end()) {
        for (const LoggedFrame& frame : stack->second) {
            const auto module = log.modules.find(frame.module);
            modules.push_back(module == log.modules.end() ? std::string() : module->second.path);
        }
    }
    return keeper_of(modules);
}

}  // namespace

std::vector<LeakGroup> leaks_of(const LogModel& log) {
    std::map<PlaceKey, LeakGroup> places;
    for (const auto& [id, block] : log.blocks) {
        if (block.freed || is_of_code(block)) {
            continue;
        }
        LeakGroup& group = places[key_of(block)];
        group.first_block = group.blocks == 0 ? id : std::min(group.first_block, id);
        group.blocks += 1;
        group.bytes = saturating_add(group.bytes, block.bytes);
    }
    std::vector<LeakGroup> groups;
    for (auto& [key, group] : places) {
        group.keeper = keeper_of_stack(log, std::get<0>(key));
        groups.push_back(std::move(group));
    }
    std::sort(groups.begin(), groups.end(), [](const LeakGroup& a, const LeakGroup& b) {
        return std::tuple(b.bytes, a.first_block) < std::tuple(a.bytes, b.first_block);
    });
    return groups;
}

}  // namespace cuward::report
