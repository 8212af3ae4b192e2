// A program for the symbolizer's test: prints its own path, then the offsets of its call stack,
// innermost first.
#include <link.h>

#include <cstdint>
#include <cstdio>

namespace sample {

std::uintptr_t load_bias() {
    std::uintptr_t bias = 0;
    // The program itself comes first.
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
            return 1;
        },
        &bias);
    return bias;
}

[[gnu::noinline]] void record() {
    std::printf("%zx\n",
                reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - load_bias());
}

[[gnu::always_inline]] inline void inlined_helper() {
    record();  // mark: in the helper
    std::puts("");
}

template <typename T>
[[gnu::noinline]] void outer(T) {
    inlined_helper();  // mark: call of the helper
    std::puts("");
}

}  // namespace sample

int main() {
    sample::outer(5);
    return 0;
}
