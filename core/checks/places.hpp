// Places in the program that touch memory: what call, what kernel, from where. Two accesses from
// one place are the same bug, however often it happens.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/blocks/access_history.hpp"

namespace cuward {

constexpr PlaceId kNoPlace{~std::uint32_t{0}};

struct Place {
    const char* op = "";   ///< as the log names it: kernel, copy, …
    const char* api = "";  ///< driver function, a string that lives for ever
    KernelId kernel{};
    StackId stack{};
    PlaceId node = kNoPlace;  ///< of a graph's launch: where the node that did it was built
    bool operator==(const Place&) const = default;
};

class Places {
  public:
    PlaceId intern(const Place& place);
    const Place& operator[](PlaceId id) const { return places_[static_cast<std::size_t>(id)]; }

  private:
    struct Hash {
        std::size_t operator()(const Place& place) const;
    };
    std::vector<Place> places_;
    std::unordered_map<Place, PlaceId, Hash> ids_;
    PlaceId last_{};
};

const char* name_of(OperationKind kind);

}  // namespace cuward
