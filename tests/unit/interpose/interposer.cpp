// Another preloaded library: takes over getppid the usual way, and counts.
#include <dlfcn.h>
#include <unistd.h>

namespace {
int calls = 0;
}

extern "C" {

__attribute__((visibility("default"))) pid_t getppid() noexcept {
    ++calls;
    static auto* const next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "getppid"));
    return next();
}

__attribute__((visibility("default"))) int interposer_calls() {
    return calls;
}

}  // extern "C"
