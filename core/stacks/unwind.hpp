// Walks the calling thread's stack and says which words of it prove that it is still the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cuward {

/// A word of the stack and what it held.
struct StackWord {
    const std::uintptr_t* place = nullptr;
    std::uintptr_t value = 0;
    bool operator==(const StackWord&) const = default;
};

/// Every frame costs each launch a load or two. A dozen are the runtime's and the driver's.
constexpr std::size_t kMaxFrames = 40;

struct UnwoundStack {
    std::size_t frame_count = 0;
    std::array<std::uintptr_t, kMaxFrames> frames;  ///< return addresses, innermost first

    /// As long as all these hold their values the stack has the same frames: the slots of the
    /// return addresses, and where a frame is found by its frame pointer, the words that may save
    /// that. From the innermost outwards; the first is `first_slot`.
    std::size_t word_count = 0;
    std::array<StackWord, 4 * kMaxFrames> words;
    /// False when a return address is not where a call puts it, or not on this thread's stack, or a
    /// saved frame pointer was not found.
    bool words_prove_it = true;
};

/// The stack from the function outwards whose return address is at `first_slot` and which has saved
/// its caller's frame pointer in the word below.
void unwind(const std::uintptr_t* first_slot, UnwoundStack& stack);

}  // namespace cuward
