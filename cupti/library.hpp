// Finds and loads CUPTI at run time: it is never linked, for a program may bring its own copy, and
// only one copy in a process can be subscribed to.
#pragma once

#include <cupti_callbacks.h>

#include <string>
#include <vector>

namespace cuward::cupti {

/// What the search for CUPTI goes by.
struct SearchPlaces {
    std::vector<std::string> loaded_libraries;  ///< paths of all libraries in the process
    std::string chosen;                         ///< $CUWARD_CUPTI, empty if unset
    std::vector<std::string> toolkits;          ///< roots of CUDA toolkits
    int driver_major = 0;                       ///< 13 for CUDA 13.x
};

SearchPlaces search_places(int driver_version);

/// Paths and sonames to try, best first: the copy that the process has loaded; the user's choice,
/// then nothing else; the copy that belongs to the Python packages in use; the one that the dynamic
/// linker finds; those of toolkits; the one beside the CUDA runtime in use.
std::vector<std::string> candidates(const SearchPlaces& places);

/// A loaded CUPTI. Never unloaded.
struct Library {
    std::string path;    ///< empty: none was found
    std::string reason;  ///< then: why, and how to get it, for a person
    decltype(&::cuptiSubscribe) subscribe = nullptr;
    decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;
    decltype(&::cuptiEnableCallback) enable_callback = nullptr;
};

Library load_library(const SearchPlaces& places);

}  // namespace cuward::cupti
