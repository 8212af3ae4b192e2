// What the exported dlsym and dlvsym (dl_entry.S) answer. Runs in any thread, before this library's
// constructors too, inside the loader: no allocation, no lock of its own, nothing to initialize.
#include <dlfcn.h>

#include <atomic>

#include "interpose/callers.hpp"
#include "interpose/driver_library.hpp"
#include "interpose/environment.hpp"
#include "interpose/loaded_object.hpp"

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
/// not preloaded; then any other will do.
void* find_next(const char* symbol) {
    const void* here = reinterpret_cast<const void*>(&find_next);
    void* before = nullptr;
    void* after = nullptr;
    bool passed = false;
    visit_loaded_objects([&](const LoadedObject& object) {
        if (object.contains(here)) {
            passed = true;
            return false;
        }
        void*& found = passed ? after : before;
        if (found == nullptr) {
            found = object.find(symbol);
        }
        return after != nullptr;
    });
    return after != nullptr ? after : before;
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
