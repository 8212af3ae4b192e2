#pragma once

#include <utility>

// Of the leak sanitizer, where it is linked in.
extern "C" __attribute__((weak)) void __lsan_ignore_object(const void* object);

namespace simgpu {

// An object whose handle the program gets. A program that forgets a handle has leaked a handle of
// CUDA's, which is for the tools under test to find and no leak of this library's memory.
template <class T, class... Arguments>
T* new_handle(Arguments&&... arguments) {
    T* object = new T{std::forward<Arguments>(arguments)...};
    if (&__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(object);
    }
    return object;
}

}  // namespace simgpu
