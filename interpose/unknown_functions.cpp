#include "interpose/unknown_functions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "interpose/watched_call.hpp"

namespace cuward {
namespace {

/// In the order of the names.
constexpr auto kKnown = std::to_array<std::string_view>({
#define FUNCTION(symbol, base) base,
#include "driver_api/functions.inc"
#undef FUNCTION
});
static_assert(std::is_sorted(kKnown.begin(), kKnown.end()));

struct Name {
    std::string text;
    const Name* next;
};

// A list that only grows, without a lock: a lock that is held while the process forks would stay
// held in the child, which may look functions up.
std::atomic<const Name*> newest{nullptr};

bool is_noted(std::string_view base) {
    for (const Name* name = newest; name != nullptr; name = name->next) {
        if (name->text == base) {
            return true;
        }
    }
    return false;
}

void note(std::string_view base) {
    auto* const name = new Name{std::string(base), newest};
    while (!newest.compare_exchange_weak(name->next, name)) {
    }
}

}  // namespace

void looked_up(const char* base) noexcept {
    if (std::binary_search(kKnown.begin(), kKnown.end(), std::string_view(base))) {
        return;
    }
    guarded([base] {
        if (!is_noted(base)) {
            note(base);
        }
    });
    log_unknown_functions();
}

void log_unknown_functions() noexcept {
    if (Tool* const tool = watching()) {
        guarded([tool] {
            for (const Name* name = newest; name != nullptr; name = name->next) {
                tool->session.log().unknown_function(name->text, false);
            }
        });
    }
}

}  // namespace cuward
