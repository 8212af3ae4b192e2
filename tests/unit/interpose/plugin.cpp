// A library that looks for its own symbol in the default scope, which includes it only for itself.
#include <dlfcn.h>

extern "C" {

__attribute__((visibility("default"))) int plugin_datum = 1;

// Not by return value: the look-up must not become a jump, as the loader goes by who called it.
__attribute__((visibility("default"))) void plugin_finds_its_datum(void** found) {
    *found = dlsym(RTLD_DEFAULT, "plugin_datum");
}

}  // extern "C"
