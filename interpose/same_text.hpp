// strcmp for places that must not call into another library.
#pragma once

namespace cuward {

inline bool same_text(const char* a, const char* b) {
    while (*a == *b && *a != '\0') {
        ++a;
        ++b;
    }
    return *a == *b;
}

}  // namespace cuward
