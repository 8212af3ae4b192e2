// Symbols found in mapped objects without dlsym.
#include "interpose/loaded_object.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace cuward {
namespace {

LoadedObject libc() {
    LoadedObject object;
    EXPECT_TRUE(find_object(dlsym(RTLD_DEFAULT, "getppid"), object));
    return object;
}

TEST(LoadedObject, IsFoundByAnAddressInIt) {
    EXPECT_EQ(libc().name(), "libc.so.6");
    LoadedObject object;
    const int on_stack = 0;
    EXPECT_FALSE(find_object(&on_stack, object));
}

TEST(LoadedObject, FindsWhatTheLoaderFinds) {
    void* const handle = dlopen("libc.so.6", RTLD_NOW);
    for (const char* symbol : {"dlsym", "dlvsym", "getppid", "qsort", "environ"}) {
        EXPECT_EQ(libc().find(symbol), dlsym(handle, symbol)) << symbol;
    }
    dlclose(handle);
}

TEST(LoadedObject, PrefersTheDefaultVersion) {
    // glibc keeps an old and a new one of these apart.
    void* const handle = dlopen("libc.so.6", RTLD_NOW);
    for (const char* symbol : {"realpath", "posix_spawn", "regexec"}) {
        EXPECT_EQ(libc().find(symbol), dlsym(handle, symbol)) << symbol;
    }
    dlclose(handle);
}

TEST(LoadedObject, LacksWhatIsNotExported) {
    EXPECT_EQ(libc().find("no_such_symbol"), nullptr);
    EXPECT_EQ(libc().find(""), nullptr);
}

TEST(LoadedObject, ReadsTheKernelsObjectToo) {
    bool met = false;
    visit_loaded_objects([&](const LoadedObject& object) {
        met = met || (object.name().starts_with("linux-vdso") &&
                      object.find("__vdso_clock_gettime") != nullptr);
        return false;
    });
    EXPECT_TRUE(met);
}

}  // namespace
}  // namespace cuward
