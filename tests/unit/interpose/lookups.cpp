// Prints what the dynamic loader answers to a program that uses no CUDA. The output must be the
// same with and without the tool. Argument: a plugin, which is loaded without being shared with
// others.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

const char* provider(void* address) {
    Dl_info info;
    if (address == nullptr || dladdr(address, &info) == 0) {
        return "nobody";
    }
    const char* slash = std::strrchr(info.dli_fname, '/');
    return slash != nullptr ? slash + 1 : info.dli_fname;
}

/// Whether dlerror has something to say, and about this symbol. It begins with the name of who
/// asked and is not compared in full.
const char* error_about(const char* symbol) {
    const char* error = dlerror();
    if (error == nullptr) {
        return "no error";
    }
    return std::string_view(error).find(symbol) != std::string_view::npos ? "error about it"
                                                                          : error;
}

void show(const char* what, void* found, const char* symbol) {
    std::printf("%s %s: %s, ", what, symbol, provider(found));
    std::printf("%s\n", error_about(symbol));
}

void look_up_cuda() {
    void* const program = dlopen(nullptr, RTLD_NOW);
    for (const char* symbol : {"cuInit", "cuMemAlloc_v2", "cuGetProcAddress_v2", "cuMemAlloc"}) {
        show("default", dlsym(RTLD_DEFAULT, symbol), symbol);
        show("program", dlsym(program, symbol), symbol);
        show("version", dlvsym(RTLD_DEFAULT, symbol, "GLIBC_2.2.5"), symbol);
    }
}

void look_up_libc() {
    void* const libc = dlopen("libc.so.6", RTLD_NOW);
    for (const char* symbol : {"malloc", "cut_from_nothing", "getppid"}) {
        show("default", dlsym(RTLD_DEFAULT, symbol), symbol);
        show("next", dlsym(RTLD_NEXT, symbol), symbol);
        show("libc", dlsym(libc, symbol), symbol);
        show("version", dlvsym(RTLD_DEFAULT, symbol, "GLIBC_2.2.5"), symbol);
        show("next version", dlvsym(RTLD_NEXT, symbol, "GLIBC_2.2.5"), symbol);
        show("wrong version", dlvsym(libc, symbol, "GLIBC_1.0"), symbol);
    }
}

/// The plugin is in nobody's scope but its own, so only a look-up in its own name finds its datum.
void look_up_from(const char* plugin_path) {
    void* const plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    auto* const find_own =
        reinterpret_cast<void (*)(void**)>(dlsym(plugin, "plugin_finds_its_datum"));
    void* found = nullptr;
    find_own(&found);
    show("plugin", found, "plugin_datum");
    show("default", dlsym(RTLD_DEFAULT, "plugin_datum"), "plugin_datum");
}

/// Calls through the interposer, if one is preloaded, and asks it how often it was called.
void call_interposed() {
    const bool same = getppid() == getppid();
    auto* const calls = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "interposer_calls"));
    std::printf("interposed calls: %d, same answer: %d\n", calls != nullptr ? calls() : -1, same);
}

}  // namespace

int main(int, char** arguments) {
    look_up_cuda();
    look_up_libc();
    look_up_from(arguments[1]);
    call_interposed();
}
