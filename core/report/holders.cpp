#include "core/report/holders.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/report/text.hpp"

namespace cuward::report {

namespace {

bool is_on(const LoggedBlock& block, std::optional<std::uint64_t> device) {
    return block.kind != "host" && block.kind != "registered" &&
           (!device || block.device == device);
}

}  // namespace

std::vector<LoggedHolder> holders_in(const LogModel& log, std::optional<std::uint64_t> device) {
    using Place = std::tuple<std::uint64_t, std::string_view, std::string_view>;
    std::map<Place, LoggedHolder> places;
    for (const auto& [id, block] : log.blocks) {
        if (block.freed || !is_on(block, device)) {
            continue;
        }
        const LoggedCall& call = block.allocated;
        LoggedHolder& holder = places[{call.stack, call.api, block.kind}];
        holder.stack = call.stack;
        holder.api = call.api;
        holder.kind = block.kind;
        holder.blocks += 1;
        holder.bytes = saturating_add(holder.bytes, block.bytes);
    }
    std::vector<LoggedHolder> holders;
    holders.reserve(places.size());
    for (const auto& [place, holder] : places) {
        holders.push_back(holder);
    }
    std::stable_sort(
        holders.begin(), holders.end(),
        [](const LoggedHolder& a, const LoggedHolder& b) { return a.bytes > b.bytes; });
    return holders;
}

}  // namespace cuward::report
