#include "interpose/hooks.hpp"

#include <cstddef>

#include "interpose/same_text.hpp"

namespace cuward {
namespace {

enum class DefaultStream : std::uint8_t { None, Legacy, PerThread };

struct Entry {
    const char* symbol;
    const char* base;
    int since;
    DefaultStream streams;
};

constexpr std::array<Entry, kHooks.size()> kEntries{{
#define HOOK(symbol, base, since, streams) {#symbol, #base, since, DefaultStream::streams},
#include "driver_api/hooks.inc"
#undef HOOK
}};

const Entry& entry_of(Hook hook) {
    return kEntries[static_cast<std::size_t>(hook)];
}

bool fits(const Entry& entry, int cuda_version, bool per_thread_default_stream) {
    const DefaultStream unwanted =
        per_thread_default_stream ? DefaultStream::Legacy : DefaultStream::PerThread;
    return entry.since <= cuda_version && entry.streams != unwanted;
}

}  // namespace

const char* symbol_of(Hook hook) {
    return kEntries[static_cast<std::size_t>(hook)].symbol;
}

void* address_of(Hook hook) {
    switch (hook) {
#define HOOK(symbol, base, since, streams) \
    case Hook::symbol##_:                  \
        return reinterpret_cast<void*>(&hook_##symbol);
#include "driver_api/hooks.inc"
#undef HOOK
    }
    return nullptr;
}

bool find_hook(const char* symbol, Hook& hook) {
    for (const Hook candidate : kHooks) {
        if (same_text(symbol_of(candidate), symbol)) {
            hook = candidate;
            return true;
        }
    }
    return false;
}

bool find_hook(const char* base, int cuda_version, bool per_thread_default_stream, Hook& hook) {
    int newest = 0;
    for (const Hook candidate : kHooks) {
        const Entry& entry = entry_of(candidate);
        if (entry.since > newest && fits(entry, cuda_version, per_thread_default_stream) &&
            same_text(entry.base, base)) {
            newest = entry.since;
            hook = candidate;
        }
    }
    return newest != 0;
}

}  // namespace cuward
