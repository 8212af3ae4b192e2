// What was found wrong: one finding for each distinct pair of places, logged when first seen and
// when it becomes surer, then counted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/checks/places.hpp"
#include "core/checks/verdict.hpp"
#include "core/log/log.hpp"

namespace cuward {

enum class FindingKind : std::uint8_t {
    Race,
    UseAfterFree,
    UseBeforeAlloc,
    FreedInFlight,
    DoubleFree,
    InvalidFree,
    OutOfBounds,
    ReliesOnImplicitSync
};

const char* name_of(FindingKind kind);

/// One of the two sides of a finding. Allocations and frees have no access.
struct Side {
    PlaceId place{};
    std::uint32_t stream = 0;
    std::uint32_t thread = 0;
    std::optional<PastAccess> access{};

    static Side of(const PastAccess& access) {
        return {access.place, access.stream, access.thread, access};
    }
};

struct Seen {
    FindingKind kind = FindingKind::Race;
    Verdict verdict = Verdict::Possible;
    Hazard hazard = Hazard::None;
    std::uint64_t block = 0;  ///< serial number; 0: no block known
    Address block_start = 0;
    std::uint64_t block_bytes = 0;
    Address ptr = 0;
    std::vector<Side> sides;         ///< at least one, earlier first
    bool is_repaired = false;        ///< the tool has queued the wait that was missing
    const char* found_by = nullptr;  ///< "canary" or "poison"; null: the program's calls show it
};

class Findings {
  public:
    Findings(Log& log, const Places& places) : log_(log), places_(places) {}

    void add(const Seen& seen);
    /// Writes every count that the log does not have yet.
    void write_counts();

    /// How many distinct findings, proven or likely, have been repaired every time.
    std::uint64_t repaired() const;
    /// How many distinct findings of a kind have at least this verdict.
    std::uint64_t count(FindingKind kind, Verdict at_least) const;
    /// One line a finding for people, the surest first; possible ones and notes are left out.
    std::vector<std::string> headlines(std::size_t most) const;

  private:
    /// A program with more distinct findings than this has one problem; the log says that more were
    /// dropped.
    static constexpr std::size_t kMost = 10000;

    struct Key {
        FindingKind kind;
        Hazard hazard;
        PlaceId first;
        PlaceId second;
        bool operator<(const Key& other) const {
            return std::tie(kind, hazard, first, second) <
                   std::tie(other.kind, other.hazard, other.first, other.second);
        }
    };
    struct Finding {
        std::uint32_t id = 0;
        Verdict verdict = Verdict::Possible;
        std::uint64_t count = 0;
        std::uint64_t logged = 0;  ///< `count` as the log has it
        std::uint64_t repaired = 0;
    };

    void write(const Finding& finding, const Seen& seen) const;

    Log& log_;
    const Places& places_;
    std::map<Key, Finding> findings_;
    bool has_dropped_ = false;
};

}  // namespace cuward
