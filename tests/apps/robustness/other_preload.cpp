// A preloaded library of somebody else's: finds the next definition of what it replaces by dlsym,
// as such libraries do.
#include <dlfcn.h>

#include <cstdio>

extern "C" int puts(const char* text) {
    using Puts = int (*)(const char*);
    static const auto next = reinterpret_cast<Puts>(dlsym(RTLD_NEXT, "puts"));
    if (next == nullptr || next == puts) return EOF;
    next("seen by the other library:");
    return next(text);
}
