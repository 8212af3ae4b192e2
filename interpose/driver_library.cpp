#include "interpose/driver_library.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>

#include "interpose/loaded_object.hpp"

namespace cuward::driver_library {
namespace {

// Written without a lock, as the loader may call in while it holds its own: the first to set `base`
// decides which library is the driver, everything else follows from it and is the same whoever
// writes it. Constant-initialized, so usable before this library's constructors have run.
std::atomic<std::uintptr_t> base{0};
std::array<std::atomic<void*>, kHooks.size()> functions{};
std::atomic<bool> ready{false};

std::atomic<void*>& slot_of(Hook hook) {
    return functions[static_cast<std::size_t>(hook)];
}

bool is_driver(const LoadedObject& object) {
    return object.name().starts_with("libcuda.so");
}

void keep_loaded(const LoadedObject& object) {
    // The handle is not closed and the flag would forbid unloading anyway.
    dlopen(object.path(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool adopt(const LoadedObject& object) {
    std::uintptr_t decided = 0;
    if (!base.compare_exchange_strong(decided, object.base()) && decided != object.base()) {
        return false;
    }
    keep_loaded(object);
    for (const Hook hook : kHooks) {
        slot_of(hook) = object.find(symbol_of(hook));
    }
    ready = true;
    return true;
}

bool find_driver(LoadedObject& driver) {
    return visit_loaded_objects([&](const LoadedObject& object) {
        const std::uintptr_t decided = base;
        const bool match = decided != 0 ? object.base() == decided : is_driver(object);
        if (match) {
            driver = object;
        }
        return match;
    });
}

}  // namespace

bool locate() {
    LoadedObject driver;
    return ready || (find_driver(driver) && adopt(driver));
}

bool contains(const void* address) {
    LoadedObject object;
    if (!find_object(address, object)) {
        return false;
    }
    return ready ? object.base() == base : is_driver(object) && adopt(object);
}

void* find(const char* symbol) {
    LoadedObject driver;
    return find_driver(driver) ? driver.find(symbol) : nullptr;
}

void* function(Hook hook) {
    return locate() ? slot_of(hook).load() : nullptr;
}

bool find_hook_at(const void* address, Hook& hook) {
    if (address == nullptr || !locate()) {
        return false;
    }
    for (const Hook candidate : kHooks) {
        if (slot_of(candidate).load(std::memory_order_relaxed) == address) {
            hook = candidate;
            return true;
        }
    }
    return false;
}

}  // namespace cuward::driver_library
