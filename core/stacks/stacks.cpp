#include "core/stacks/stacks.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/log/log.hpp"
#include "core/per_thread.hpp"
#include "core/stacks/modules.hpp"
#include "core/stacks/saved_stacks.hpp"
#include "core/stacks/unwind.hpp"

namespace cuward {
namespace {

using Frame = std::pair<std::uint32_t, Address>;  ///< as logged

/// What a thread remembers of its stacks.
struct ThreadStacks {
    std::uint64_t owner = 0;  ///< number of the Stacks that the ids belong to
    std::uint64_t generation = 0;
    std::uint32_t finds = 0;  ///< since the loaded modules were looked at
    SavedStacks saved;
};

/// So many stacks are found again before the thread looks whether a module has gone meanwhile: code
/// that another module brought to the very same addresses is all that this could miss.
constexpr std::uint32_t kFindsBetweenLooks = 4096;

std::uint64_t hash_of(std::span<const Frame> frames) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    std::uint64_t hash = frames.size();
    for (const Frame& frame : frames) {
        hash = (hash ^ frame.first) * kSpread;
        hash ^= hash >> 31;
        hash = (hash ^ frame.second) * kSpread;
        hash ^= hash >> 29;
    }
    return hash;
}

/// The library that this code is in; in tests it is the program, whose frames are wanted.
bool is_tool(const Module& module) {
    static const char anchor = 0;
    const auto here = reinterpret_cast<Address>(&anchor);
    return !module.is_program && here >= module.start && here < module.end;
}

std::uint64_t next_owner() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

struct Stacks::State {
    explicit State(Log& the_log) : log(the_log) {}

    StackId learn(const std::uintptr_t* first_slot);
    void refresh_modules();
    StackId intern(const UnwoundStack& stack);
    std::vector<Frame> locate(std::span<const std::uintptr_t> frames);

    Log& log;
    const std::uint64_t owner = next_owner();
    /// Changes when a module has gone: stacks that were saved before may name it.
    std::atomic<std::uint64_t> generation{1};

    std::mutex mutex;  ///< guards all below; the log's own lock is taken under it
    ModuleMap modules;
    std::unordered_map<std::uint64_t, StackId> known;  ///< by hash of the frames
};

Stacks::Stacks(Log& log) : state_(std::make_unique<State>(log)) {}
Stacks::~Stacks() = default;

__attribute__((noinline)) StackId Stacks::capture() {
    // A frame pointer, so that the word below the return address saves the caller's.
    const auto* first_slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
    ThreadStacks* const mine = PerThread<ThreadStacks>::find();
    if (mine != nullptr && mine->owner == state_->owner &&
        mine->generation == state_->generation.load(std::memory_order_relaxed) &&
        ++mine->finds < kFindsBetweenLooks) {
        const StackId seen = mine->saved.find(first_slot);
        if (seen != StackId{}) {
            return seen;
        }
    }
    try {
        return state_->learn(first_slot);
    } catch (const std::exception&) {
        return StackId{};
    }
}

StackId Stacks::State::learn(const std::uintptr_t* first_slot) {
    UnwoundStack stack;
    unwind(first_slot, stack);
    refresh_modules();
    const std::uint64_t now = generation.load(std::memory_order_relaxed);
    const StackId id = intern(stack);
    if (id == StackId{} || !stack.words_prove_it) {
        return id;
    }
    ThreadStacks& mine = PerThread<ThreadStacks>::get();
    mine.finds = 0;
    if (mine.owner != owner || mine.generation != now) {
        mine.saved.clear();
        mine.owner = owner;
        mine.generation = now;
    }
    mine.saved.insert(std::span(stack.words).first(stack.word_count), id);
    return id;
}

/// Asks the dynamic linker without our lock: the thread that holds the linker's may be waiting for
/// ours, in a library's constructor that calls CUDA.
void Stacks::State::refresh_modules() {
    const LinkerCounts counts = linker_counts();
    {
        const std::lock_guard lock(mutex);
        if (modules.counts() == counts) {
            return;
        }
    }
    ModuleList list = read_modules();
    const std::lock_guard lock(mutex);
    if (modules.update(std::move(list))) {
        generation.fetch_add(1, std::memory_order_relaxed);
    }
}

/// One id for the same frames in whatever thread; written to the log before anybody can refer to
/// it.
StackId Stacks::State::intern(const UnwoundStack& stack) {
    const std::lock_guard lock(mutex);
    const std::vector<Frame> frames = locate(std::span(stack.frames).first(stack.frame_count));
    if (frames.empty()) {
        return StackId{};
    }
    const auto [place, is_new] = known.try_emplace(hash_of(frames), StackId{});
    if (is_new) {
        place->second = StackId{static_cast<std::uint32_t>(known.size())};
        log.stack(place->second, frames);
    }
    return place->second;
}

/// Frames by module, without the innermost ones where the tool's own library runs.
std::vector<Frame> Stacks::State::locate(std::span<const std::uintptr_t> frames) {
    std::vector<Frame> located;
    bool in_tool = true;
    for (const std::uintptr_t return_address : frames) {
        bool is_new = false;
        const Module* module = modules.find(return_address, is_new);
        if (is_new) {
            log.module(module->id, module->path, module->bias, module->build_id);
        }
        in_tool = in_tool && module != nullptr && is_tool(*module);
        if (in_tool) {
            continue;
        }
        located.push_back(module == nullptr ? Frame{0, return_address}
                                            : Frame{module->id, return_address - module->bias});
    }
    return located;
}

}  // namespace cuward
