// Prints how many nanoseconds a look-up takes, over a million of them.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>

int main() {
    constexpr int kLookups = 1'000'000;
    const auto start = std::chrono::steady_clock::now();
    int found = 0;
    for (int i = 0; i < kLookups; ++i) {
        found += dlsym(RTLD_DEFAULT, "qsort") != nullptr ? 1 : 0;
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    std::printf("%f\n", spent.count() / found);
}
