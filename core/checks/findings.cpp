#include "core/checks/findings.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace cuward {
namespace {

LoggedAccess logged(const Side& side, const Places& places, const Seen& seen) {
    const Place& place = places[side.place];
    LoggedAccess out{.op = place.op,
                     .api = place.api,
                     .kernel = place.kernel,
                     .stream = side.stream,
                     .stack = place.stack,
                     .thread = side.thread};
    if (place.node != kNoPlace) {
        const Place& node = places[place.node];
        out.node = {.op = node.op, .api = node.api, .stack = node.stack};
    }
    if (const auto& access = side.access) {
        const Address start = seen.block_start;
        // How far a copy goes past the end is the point of an out-of-bounds finding.
        const Address end = seen.kind == FindingKind::OutOfBounds
                                ? access->range.hi()
                                : std::min(access->range.hi(), start + seen.block_bytes);
        out.access = name_of(access->access);
        out.direction_known = access->direction_known;
        out.range_exact = access->range_exact;
        out.lo = std::max(access->range.lo, start) - start;
        out.hi = end - start;
        out.grid = access->grid;
        out.threads = access->threads;
    }
    return out;
}

bool is_lifetime(FindingKind kind) {
    return kind != FindingKind::Race && kind != FindingKind::ReliesOnImplicitSync;
}

bool has_one_place(FindingKind kind) {
    return kind == FindingKind::InvalidFree || kind == FindingKind::OutOfBounds;
}

std::string readable(const std::string& mangled) {
    int status = 0;
    char* demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string out = status == 0 ? demangled : mangled;
    std::free(demangled);
    return out;
}

}  // namespace

const char* name_of(FindingKind kind) {
    switch (kind) {
        case FindingKind::Race:
            return "race";
        case FindingKind::UseAfterFree:
            return "use-after-free";
        case FindingKind::UseBeforeAlloc:
            return "use-before-alloc";
        case FindingKind::FreedInFlight:
            return "freed-in-flight";
        case FindingKind::DoubleFree:
            return "double-free";
        case FindingKind::InvalidFree:
            return "invalid-free";
        case FindingKind::OutOfBounds:
            return "out-of-bounds";
        case FindingKind::ReliesOnImplicitSync:
            break;
    }
    return "relies-on-implicit-sync";
}

void Findings::add(const Seen& seen) {
    const Key key{seen.kind, seen.hazard, seen.sides.front().place, seen.sides.back().place};
    auto found = findings_.find(key);
    if (found == findings_.end()) {
        if (findings_.size() == kMost) {
            if (!has_dropped_) {
                has_dropped_ = true;
                log_.note(
                    fmt::format("more than {} distinct findings: the rest is not recorded", kMost));
            }
            return;
        }
        found = findings_.emplace(key, Finding{}).first;
        found->second.id = static_cast<std::uint32_t>(findings_.size());
    }
    const bool is_surer = found->second.count == 0 || seen.verdict > found->second.verdict;
    ++found->second.count;
    found->second.repaired += seen.is_repaired ? 1 : 0;
    if (is_surer) {
        found->second.verdict = seen.verdict;
        write(found->second, seen);
    }
    Finding& finding = found->second;
    if (std::has_single_bit(finding.count) && finding.count > 1) {
        log_.count(finding.id, finding.count, finding.repaired);
        finding.logged = finding.count;
    }
}

void Findings::write(const Finding& finding, const Seen& seen) const {
    std::vector<LoggedAccess> accesses;
    for (const Side& side : seen.sides) {
        accesses.push_back(logged(side, places_, seen));
    }
    log_.finding({.id = finding.id,
                  .kind = name_of(seen.kind),
                  .verdict = name_of(seen.verdict),
                  .hazard = name_of(seen.hazard),
                  .block = seen.block,
                  .ptr = seen.ptr,
                  .accesses = accesses,
                  .repaired = finding.repaired,
                  .found_by = seen.found_by});
}

void Findings::write_counts() {
    for (auto& [key, finding] : findings_) {
        if (finding.count > 1 && finding.logged != finding.count) {
            log_.count(finding.id, finding.count, finding.repaired);
            finding.logged = finding.count;
        }
    }
}

std::uint64_t Findings::count(FindingKind kind, Verdict at_least) const {
    return static_cast<std::uint64_t>(
        std::count_if(findings_.begin(), findings_.end(), [&](const auto& entry) {
            return entry.first.kind == kind && entry.second.verdict >= at_least;
        }));
}

std::uint64_t Findings::repaired() const {
    return static_cast<std::uint64_t>(
        std::count_if(findings_.begin(), findings_.end(), [](const auto& entry) {
            return entry.second.verdict >= Verdict::Likely &&
                   entry.second.repaired == entry.second.count;
        }));
}

std::vector<std::string> Findings::headlines(std::size_t most) const {
    std::vector<const std::pair<const Key, Finding>*> shown;
    for (const auto& entry : findings_) {
        const bool is_sure = entry.second.verdict >= Verdict::Likely;
        if (is_sure && (entry.first.kind == FindingKind::Race || is_lifetime(entry.first.kind))) {
            shown.push_back(&entry);
        }
    }
    std::stable_sort(shown.begin(), shown.end(), [](const auto* a, const auto* b) {
        return a->second.verdict > b->second.verdict;
    });
    shown.resize(std::min(most, shown.size()));
    const auto name = [&](PlaceId id) {
        const Place& place = places_[id];
        const bool is_kernel = place.kernel != KernelId{};
        const bool is_in_graph = place.node != kNoPlace;
        const char* const api = is_in_graph ? places_[place.node].api : place.api;
        return (is_kernel ? "kernel " + readable(log_.kernel_name(place.kernel))
                          : std::string(api)) +
               (is_in_graph ? " in a graph" : "");
    };
    std::vector<std::string> lines;
    for (const auto* entry : shown) {
        const Key& key = entry->first;
        const std::string hazard =
            key.hazard == Hazard::None ? "" : fmt::format(" {}", name_of(key.hazard));
        const std::string places =
            key.first == key.second && has_one_place(key.kind)
                ? name(key.first)
                : fmt::format("{}, then {}", name(key.first), name(key.second));
        const std::uint64_t count = entry->second.count;
        const std::uint64_t repaired = entry->second.repaired;
        const std::string repairs = repaired == 0       ? ""
                                    : repaired == count ? "; repaired"
                                                        : fmt::format("; repaired {}", repaired);
        lines.push_back(fmt::format("{}{} ({}): {}{}{}", name_of(key.kind), hazard,
                                    name_of(entry->second.verdict), places,
                                    count > 1 ? fmt::format(", {} times", count) : "", repairs));
    }
    return lines;
}

}  // namespace cuward
