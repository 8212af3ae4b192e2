#include "core/stacks/unwind.hpp"

#include <pthread.h>
#include <unwind.h>

#include <algorithm>

namespace cuward {
namespace {

struct Bounds {
    const std::uintptr_t* low = nullptr;
    const std::uintptr_t* high = nullptr;
};

Bounds bounds_of_this_thread() {
    Bounds bounds;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return bounds;
    }
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        bounds.low = static_cast<const std::uintptr_t*>(low);
        bounds.high = bounds.low + size / sizeof(std::uintptr_t);
    }
    pthread_attr_destroy(&attributes);
    return bounds;
}

/// Elsewhere, on the stack of a fiber or of a signal handler, saved places may be gone when they
/// are looked at again.
bool on_thread_stack(const std::uintptr_t* place) {
    static thread_local const Bounds bounds = bounds_of_this_thread();
    return place >= bounds.low && place < bounds.high;
}

__attribute__((no_sanitize("address", "thread"))) std::uintptr_t load(const std::uintptr_t* place) {
    return *place;
}

class Walk {
  public:
    Walk(const std::uintptr_t* first_slot, UnwoundStack& stack)
        : first_slot_(first_slot), stack_(stack) {}

    _Unwind_Reason_Code frame(_Unwind_Context* context) {
        const std::uintptr_t return_address = _Unwind_GetIP(context);
        // The unwinder names the frame that a call returns to and gives the stack pointer right
        // after the return: the slot is the word below.
        const auto* slot = reinterpret_cast<const std::uintptr_t*>(_Unwind_GetCFA(context)) - 1;
        if (slot < first_slot_) {
            return _URC_NO_REASON;
        }
        if (return_address == 0 || stack_.frame_count == kMaxFrames) {
            return _URC_END_OF_STACK;
        }
        if (stack_.frame_count > 0) {
            add_frame_pointer(slot);
        }
        add_slot(slot, return_address);
        stack_.frames[stack_.frame_count++] = return_address;
        frame_pointer_ = _Unwind_GetGR(context, kFramePointerRegister);
        return _URC_NO_REASON;
    }

  private:
    static constexpr int kFramePointerRegister = 6;  // rbp (System V ABI, figure 3.36)

    void add_slot(const std::uintptr_t* slot, std::uintptr_t return_address) {
        const bool expected = stack_.frame_count == 0 ? slot == first_slot_ : slot > last_slot_;
        if (!expected || !on_thread_stack(slot) || load(slot) != return_address) {
            stack_.words_prove_it = false;
        }
        last_slot_ = slot;
        slots_[stack_.frame_count] = slot;
        add({slot, return_address});
    }

    /// A frame of variable size (alloca, realigned) is found by its frame pointer, so the place of
    /// its return address follows from the words inside it only together with the one that saves
    /// the frame pointer. `slot` is where the frame that was named last ends.
    void add_frame_pointer(const std::uintptr_t* slot) {
        const auto* target = reinterpret_cast<const std::uintptr_t*>(frame_pointer_);
        if (target <= last_slot_ || target >= slot || !stack_.words_prove_it) {
            return;  // does not point into that frame, so it is no frame pointer
        }
        const std::size_t known_words = stack_.word_count;
        add_where_pushed();
        if (stack_.word_count == known_words) {
            add_where_stored();
        }
        if (stack_.word_count == known_words) {
            stack_.words_prove_it = false;
        }
    }

    /// Functions push registers right below their return address. Which of them saved this one is
    /// not known, so every word there that holds it must stay as it is.
    void add_where_pushed() {
        constexpr std::ptrdiff_t kPushedWords = 8;
        for (std::size_t i = 0; i < stack_.frame_count; ++i) {
            add_held_words(std::max(inner_end(i), slots_[i] - kPushedWords), slots_[i]);
        }
    }

    /// Others make room first and store registers anywhere in it. The frame nearest to the one they
    /// belong to has done so, as those further inwards find them as it left them.
    void add_where_stored() {
        const std::size_t known_words = stack_.word_count;
        for (std::size_t i = stack_.frame_count; i-- > 0 && stack_.word_count == known_words;) {
            add_held_words(inner_end(i), slots_[i]);
        }
    }

    /// Where the frame that ends at slot `i` begins.
    const std::uintptr_t* inner_end(std::size_t i) const {
        return i == 0 ? first_slot_ - 1 : slots_[i - 1] + 1;
    }

    void add_held_words(const std::uintptr_t* place, const std::uintptr_t* end) {
        for (; place < end; ++place) {
            if (load(place) == frame_pointer_) {
                add({place, frame_pointer_});
            }
        }
    }

    void add(StackWord word) {
        if (stack_.word_count == stack_.words.size()) {
            stack_.words_prove_it = false;
            return;
        }
        stack_.words[stack_.word_count++] = word;
    }

    const std::uintptr_t* const first_slot_;
    UnwoundStack& stack_;
    const std::uintptr_t* last_slot_ = nullptr;
    std::array<const std::uintptr_t*, kMaxFrames> slots_;
    std::uintptr_t frame_pointer_ = 0;  ///< of the frame named last
};

}  // namespace

void unwind(const std::uintptr_t* first_slot, UnwoundStack& stack) {
    stack.frame_count = 0;
    stack.word_count = 0;
    stack.words_prove_it = true;
    Walk walk(first_slot, stack);
    _Unwind_Backtrace([](_Unwind_Context* context,
                         void* walker) { return static_cast<Walk*>(walker)->frame(context); },
                      &walk);
    if (stack.frame_count == 0) {
        stack.words_prove_it = false;
    }
}

}  // namespace cuward
