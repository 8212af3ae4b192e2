// What the exported dlsym and dlvsym (dl_entry.S) answer. Runs in any thread, before this library's
// constructors too, inside the loader: no allocation, no lock of its own, nothing to initialize,
// and until the real functions are known no call into another library.
#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "interpose/callers.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/elf_symbols.hpp"
#include "interpose/environment.hpp"

namespace cuward {
namespace {

using Dlsym = void* (*)(void*, const char*);
using Dlvsym = void* (*)(void*, const char*, const char*);

/// How the assembly goes on: returns `value`, or jumps to `forward` when that is set.
struct Answer {
    void* value;
    void* forward;
};

Answer forward(void* next) {
    return {.value = nullptr, .forward = next};
}
Answer reply(void* value) {
    return {.value = value, .forward = nullptr};
}

/// The function that would be called if this library were not there: the next one in load order, so
/// that other preloaded libraries keep their turn. Behind the last object only if this library was
/// not preloaded; then any other will do. Objects that the program started with are never unloaded
/// and stand first in the loader's list, and the C library is one of them, so the list is read no
/// further than it is constant.
void* find_next(const char* symbol) {
    void* before = nullptr;
    bool passed = false;
    for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
        if (map->l_ld == _DYNAMIC) {
            passed = true;
            continue;
        }
        void* const found = find_elf_symbol(map->l_addr, map->l_ld, symbol);
        if (passed && found != nullptr) {
            return found;
        }
        if (before == nullptr) {
            before = found;
        }
    }
    return before;
}

void* next_of(std::atomic<void*>& slot, const char* symbol) {
    void* next = slot.load(std::memory_order_relaxed);
    if (next == nullptr) {
        next = find_next(symbol);
        slot.store(next, std::memory_order_relaxed);
    }
    return next;
}

/// What `search(handle)` would find without this library, whose exports come first in the global
/// scope: behind it, or else among what the caller itself has loaded.
template <typename Search>
void* search_past_us(const Search& search, void* handle, Hook hook, const void* caller) {
    void* const ours = address_of(hook);
    void* found = search(handle);
    if (found != ours) {
        return found;
    }
    found = search(RTLD_NEXT);
    if (found != nullptr) {
        return found;
    }
    // The handle of an object is its link map.
    Dl_info info;
    void* map = nullptr;
    if (handle == RTLD_DEFAULT && dladdr1(caller, &info, &map, RTLD_DL_LINKMAP) != 0) {
        found = search(map);
    }
    // The program itself has us first in its scope; asked again so that dlerror tells of the
    // failure.
    return found == ours ? search(RTLD_NEXT) : found;
}

template <typename Search>
Answer answer(const Search& search, void* next, void* handle, const char* name, void* caller) {
    Hook hook{};
    if (next == nullptr || handle == RTLD_NEXT || !find_hook(name, hook)) {
        return forward(next);
    }
    void* found = search_past_us(search, handle, hook, caller);
    const bool take_over = found != nullptr && !is_disabled() && driver_library::contains(found) &&
                           !gets_real_functions(caller);
    return reply(take_over ? address_of(hook) : found);
}

}  // namespace
}  // namespace cuward

extern "C" {

// Read by the assembly; null until the first look-up.
__attribute__((visibility("hidden"))) std::atomic<void*> cuward_next_dlsym{nullptr};
__attribute__((visibility("hidden"))) std::atomic<void*> cuward_next_dlvsym{nullptr};

__attribute__((visibility("hidden"))) cuward::Answer cuward_ask_dlsym(void* handle,
                                                                      const char* name,
                                                                      void* /*unused*/,
                                                                      void* caller) {
    void* const next = cuward::next_of(cuward_next_dlsym, "dlsym");
    const auto search = [&](void* where) {
        return reinterpret_cast<cuward::Dlsym>(next)(where, name);
    };
    return cuward::answer(search, next, handle, name, caller);
}

__attribute__((visibility("hidden"))) cuward::Answer cuward_ask_dlvsym(void* handle,
                                                                       const char* name,
                                                                       const char* version,
                                                                       void* caller) {
    void* const next = cuward::next_of(cuward_next_dlvsym, "dlvsym");
    const auto search = [&](void* where) {
        return reinterpret_cast<cuward::Dlvsym>(next)(where, name, version);
    };
    return cuward::answer(search, next, handle, name, caller);
}

}  // extern "C"
