#include "core/report/wording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "core/report/frames.hpp"
#include "core/report/text.hpp"

namespace cuward::report {

namespace {

// ---- names of things inside sentences
// --------------------------------------------------------------------

bool in_library_header(const Frame& frame) {
    return frame.file.starts_with("/usr/include/") ||
           frame.file.find("/include/c++/") != std::string::npos ||
           frame.file.find("/targets/x86_64-linux/include/") != std::string::npos;
}

// The frame that a sentence points at: the innermost one with a source line, a line of the
// program's own rather than one of a library or of a library's header; without lines the innermost.
const Frame* spoken_frame(const Stack& stack) {
    const Frame* spoken = nullptr;
    for (const Frame& frame : stack.frames) {
        if (is_system_module(frame.module) || is_cuda_or_tool_module(frame.module)) {
            continue;
        }
        if (frame.line != 0 && !in_library_header(frame)) {
            return &frame;
        }
        if (spoken == nullptr || (spoken->line == 0 && frame.line != 0)) {
            spoken = &frame;
        }
    }
    return spoken != nullptr || stack.frames.empty() ? spoken : &stack.frames.front();
}

std::string spoken_place(const Stack& stack) {
    const Frame* frame = spoken_frame(stack);
    if (frame == nullptr) {
        return {};
    }
    if (frame->line != 0) {
        return fmt::format("{}:{}", base_name(frame->file), frame->line);
    }
    const std::string address =
        frame->module.empty() ? hex(frame->offset)
                              : fmt::format("{}+{:#x}", base_name(frame->module), frame->offset);
    return frame->function.empty() ? address : fmt::format("{} ({})", frame->function, address);
}

std::string at_place(const Stack& stack) {
    const std::string place = spoken_place(stack);
    return place.empty() ? place : " at " + place;
}

// The driver's functions carry the version of their parameters and the meaning of stream 0 in their
// names.
std::string plain_api(std::string api) {
    static constexpr std::array<std::string_view, 4> kSuffixes{"_ptsz", "_ptds", "_v2", "_v3"};
    for (const std::string_view suffix : kSuffixes) {
        if (api.ends_with(suffix)) {
            api.resize(api.size() - suffix.size());
        }
    }
    return api;
}

// The function as the program called it: the runtime's, or the driver's where it used that.
std::string spoken_api(const std::string& api, const Stack& stack) {
    return stack.entry.starts_with("cuda") ? plain_api(stack.entry) : plain_api(api);
}

bool uses_runtime(const Stack& stack) {
    return !stack.entry.starts_with("cu") || stack.entry.starts_with("cuda");
}

std::string spoken_stream(const std::optional<Stream>& stream) {
    if (!stream) {
        return "an unknown stream";
    }
    if (stream->kind == "legacy") {
        return "the default stream";
    }
    if (stream->kind == "per-thread") {
        return fmt::format("the per-thread default stream of thread {}", stream->thread);
    }
    const std::string place = spoken_place(stream->created);
    return place.empty() ? fmt::format("stream {}", hex(stream->handle))
                         : fmt::format("stream {} (created at {})", hex(stream->handle), place);
}

// Short, for a sentence that has introduced the stream already.
std::string short_stream(const std::optional<Stream>& stream) {
    return stream && stream->kind != "legacy" && stream->kind != "per-thread"
               ? "stream " + hex(stream->handle)
               : spoken_stream(stream);
}

// A graph that was not launched, but instantiated or changed.
bool in_one_graph(const AccessPlace& a, const AccessPlace& b) {
    return a.node && b.node && !a.stream && !b.stream;
}

// A kernel's name without its return type, and without arguments where they would drown the
// sentence: those of template libraries run to thousands of characters. The JSON form has them
// whole.
std::string spoken_kernel(std::string name) {
    constexpr std::size_t kLongest = 160;
    if (name.starts_with("void ")) {
        name.erase(0, 5);
    }
    if (name.size() > kLongest) {
        name.resize(std::min(name.find('<'), kLongest));
        name += "<...>";
    }
    return name;
}

std::string spoken_kernel_op(const std::string& kernel) {
    return kernel.empty() ? "a kernel without a name" : "kernel " + spoken_kernel(kernel);
}

enum class Built { Captured, Added, Changed };

Built how_built(const NodePlace& node) {
    return node.api.starts_with("cuGraphAdd") ? Built::Added
           : node.api.starts_with("cuGraph")  ? Built::Changed
                                              : Built::Captured;
}

// "kernel scale(float*)", "cudaMemcpyAsync" if that was captured, else "a copy".
std::string spoken_node(const AccessPlace& access) {
    const NodePlace& node = *access.node;
    if (node.op == "kernel") {
        return spoken_kernel_op(access.kernel);
    }
    if (how_built(node) != Built::Captured && node.op == "alloc") {
        return "an allocation";
    }
    return how_built(node) == Built::Captured ? spoken_api(node.api, node.stack) : "a " + node.op;
}

// "kernel scale(float*) captured at a.cu:10".
std::string spoken_node_with_place(const AccessPlace& access) {
    std::string words = spoken_node(access);
    if (const std::string place = at_place(access.node->stack); !place.empty()) {
        const Built built = how_built(*access.node);
        words += (built == Built::Captured ? " captured"
                  : built == Built::Added  ? " added"
                                           : " last changed") +
                 place;
    }
    return words;
}

// The same "in the graph launched", before the place of the launch.
std::string spoken_node_in_graph(const AccessPlace& access) {
    return spoken_node_with_place(access) +
           (spoken_place(access.stack).empty() ? " in a launched graph" : " in the graph launched");
}

// "kernel scale(float*)", "cudaMemcpy", "a host function".
std::string spoken_op(const AccessPlace& access) {
    if (access.node) {
        return spoken_node_in_graph(access);
    }
    if (access.op == "kernel") {
        return spoken_kernel_op(access.kernel);
    }
    if (access.op == "host-function") {
        return "a host function";
    }
    const std::string api = spoken_api(access.api, access.stack);
    return api.empty() ? "a " + access.op : api;
}

// What has to be ordered: of a graph only its launch can be.
std::string spoken_call(const AccessPlace& access) {
    return access.node ? spoken_api(access.api, access.stack) : spoken_op(access);
}

std::string_view past_tense(const AccessPlace& access) {
    if (!access.direction_known) {
        return "may have read or written";
    }
    static const std::map<std::string_view, std::string_view> kVerbs{
        {"read", "read"}, {"write", "wrote"}, {"read-write", "read and wrote"}};
    const auto verb = kVerbs.find(access.access);
    return verb == kVerbs.end() ? std::string_view("used") : verb->second;
}

std::string_view of_hazard(std::string_view hazard, bool earlier) {
    if (hazard == "RAW") {
        return earlier ? "writes" : "reads";
    }
    if (hazard == "WAR") {
        return earlier ? "reads" : "overwrites";
    }
    return earlier ? "writes" : hazard == "WAW" ? "also writes" : "uses";
}

std::string_view memory_kind(const std::string& kind) {
    static const std::map<std::string_view, std::string_view> kNames{
        {"device", "device memory"},
        {"async", "stream-ordered device memory"},
        {"pitched", "pitched device memory"},
        {"managed", "managed memory"},
        {"host", "pinned host memory"},
        {"registered", "registered host memory"},
        {"array", "array memory"},
        {"mipmapped-array", "mipmapped array memory"},
        {"physical", "physical device memory"},
        {"physical-host", "physical host memory"},
        {"ipc", "memory of another process"},
        {"imported", "imported memory"},
        {"global", "device memory of a variable"},
        {"managed-global", "managed memory of a variable"}};
    const auto found = kNames.find(kind);
    return found == kNames.end() ? std::string_view("memory") : found->second;
}

struct FreeFunction {
    std::string_view runtime;
    std::string_view driver;
};

FreeFunction free_function(const std::string& kind) {
    static const std::map<std::string_view, FreeFunction> kFunctions{
        {"async", {"cudaFreeAsync", "cuMemFreeAsync"}},
        {"host", {"cudaFreeHost", "cuMemFreeHost"}},
        {"registered", {"cudaHostUnregister", "cuMemHostUnregister"}},
        {"array", {"cudaFreeArray", "cuArrayDestroy"}},
        {"mipmapped-array", {"cudaFreeMipmappedArray", "cuMipmappedArrayDestroy"}},
        {"ipc", {"cudaIpcCloseMemHandle", "cuIpcCloseMemHandle"}},
        {"physical", {"cuMemUnmap and cuMemRelease", "cuMemUnmap and cuMemRelease"}},
        {"physical-host", {"cuMemUnmap and cuMemRelease", "cuMemUnmap and cuMemRelease"}}};
    const auto found = kFunctions.find(kind);
    return found == kFunctions.end() ? FreeFunction{"cudaFree", "cuMemFree"} : found->second;
}

std::string_view free_function_for(const Block& block) {
    const FreeFunction functions = free_function(block.kind);
    return uses_runtime(block.allocated.stack) ? functions.runtime : functions.driver;
}

std::string the_block(const Finding& finding) {
    return finding.block ? fmt::format("the block of {}", bytes_text(finding.block->bytes))
                         : std::string("the block");
}

bool ended_by_context(const std::string& api) {
    return api.starts_with("cuCtxDestroy") || api.starts_with("cuDevicePrimaryCtxReset");
}

struct Words {
    std::string message;
    std::string suggestion;
};

// ---- races
// -----------------------------------------------------------------------------------------------

std::string wait_between(const AccessPlace& first, const AccessPlace& second) {
    return fmt::format(
        "Record an event on {} after {}{} and make {} wait for it (cudaStreamWaitEvent) before "
        "{}{}.",
        short_stream(first.stream), spoken_call(first), at_place(first.stack),
        short_stream(second.stream), spoken_call(second), at_place(second.stack));
}

// A copy or memset whose call looks finished when it returns and is not: the program waits for
// nothing because it believes there is nothing left to wait for.
bool looks_synchronous(const AccessPlace& access) {
    const bool copies = access.op == "copy" || access.op == "memset";
    const bool by_default =
        access.stream && (access.stream->kind == "legacy" || access.stream->kind == "per-thread");
    return copies && by_default && access.api.find("Async") == std::string::npos;
}

bool copies_from_host(const AccessPlace& access) {
    return access.op == "copy" && (access.api.find("HtoD") != std::string::npos ||
                                   access.api.find("HtoA") != std::string::npos);
}

std::string trap_of(const AccessPlace& first) {
    const std::string call = spoken_op(first);
    if (copies_from_host(first)) {
        return fmt::format(
            " {} from pageable memory returns once the source has been staged: the transfer to the "
            "device may "
            "still be running, on {} only, and a non-blocking stream does not wait for that one.",
            call, short_stream(first.stream));
    }
    return fmt::format(
        " {} of device memory returns before the device has done it, and only {} and the streams "
        "that "
        "synchronize with it wait.",
        call, short_stream(first.stream));
}

std::string ways_out_of_trap(const AccessPlace& first, const AccessPlace& second) {
    const std::string_view async = first.op == "memset" ? "cudaMemsetAsync" : "cudaMemcpyAsync";
    std::string ways = fmt::format(
        "Either issue {}{} on {} instead ({}), or call cudaStreamSynchronize(0) between it and "
        "{}{}",
        spoken_op(first), at_place(first.stack), short_stream(second.stream), async,
        spoken_op(second), at_place(second.stack));
    ways += copies_from_host(first) ? ", or copy from pinned memory (cudaMallocHost)." : ".";
    return ways;
}

std::string way_to_order_nodes(const AccessPlace& first, const AccessPlace& second) {
    const std::string earlier = spoken_node_with_place(first);
    const std::string later = spoken_node_with_place(second);
    if (how_built(*first.node) == Built::Captured && how_built(*second.node) == Built::Captured) {
        return fmt::format(
            "Capture both on one stream, or record an event after {} and make the stream of {} "
            "wait "
            "for it (cudaStreamWaitEvent) before that is captured.",
            earlier, later);
    }
    return fmt::format("Add a dependency of {} on {} (cudaGraphAddDependencies).", later, earlier);
}

Words race_in_graph(const Finding& finding, const AccessPlace& first, const AccessPlace& second) {
    return {fmt::format(
                "In one graph ({}{}), {} {} {}; {} {} it, and neither depends on the other.",
                spoken_api(first.api, first.stack), at_place(first.stack),
                spoken_node_with_place(first), of_hazard(finding.hazard, true), the_block(finding),
                spoken_node_with_place(second), of_hazard(finding.hazard, false)),
            way_to_order_nodes(first, second)};
}

// Accesses of one operation: all others of a stream are in order.
bool in_one_batch(const AccessPlace& a, const AccessPlace& b) {
    return a.stream && b.stream && a.stream->id == b.stream->id;
}

Words race_in_batch(const Finding& finding, const AccessPlace& first, const AccessPlace& second) {
    return {fmt::format("{}{} {} {} by one of its copies; another {} it, and the copies of a batch "
                        "have no order.",
                        spoken_op(first), at_place(first.stack), of_hazard(finding.hazard, true),
                        the_block(finding), of_hazard(finding.hazard, false)),
            fmt::format("Leave the other copy to a call of its own after {}{}, on the same stream.",
                        spoken_op(second), at_place(second.stack))};
}

Words race_of_streams(const Finding& finding, const AccessPlace& first, const AccessPlace& second) {
    Words words;
    words.message = fmt::format(
        "{}{} {} {} on {}; {}{} {} it on {}, and nothing makes the second wait for the first.",
        spoken_op(first), at_place(first.stack), of_hazard(finding.hazard, true),
        the_block(finding), spoken_stream(first.stream), spoken_op(second), at_place(second.stack),
        of_hazard(finding.hazard, false), spoken_stream(second.stream));
    if (looks_synchronous(first)) {
        words.message += trap_of(first);
        words.suggestion = ways_out_of_trap(first, second);
    } else {
        words.suggestion = wait_between(first, second);
    }
    return words;
}

Words describe_race(const Finding& finding) {
    if (finding.accesses.size() < 2) {
        return {fmt::format("Two accesses to {} are not ordered.", the_block(finding)),
                "Order them with an event and cudaStreamWaitEvent."};
    }
    const AccessPlace& first = finding.accesses[0];
    const AccessPlace& second = finding.accesses[1];
    Words words = in_one_graph(first, second)   ? race_in_graph(finding, first, second)
                  : in_one_batch(first, second) ? race_in_batch(finding, first, second)
                                                : race_of_streams(finding, first, second);
    if (finding.verdict == Verdict::Possible) {
        words.message +=
            " Whether they touch the same bytes, and one writes them, could not be established.";
    }
    return words;
}

// ---- lifetime
// --------------------------------------------------------------------------------------------

// "kernel a at x:1, cudaMemcpy at x:2", latest last.
std::string listed(std::span<const AccessPlace> accesses) {
    std::vector<std::string> places;
    for (const AccessPlace& access : accesses) {
        places.push_back(spoken_op(access) + at_place(access.stack));
    }
    return fmt::format("{}", fmt::join(places, ", "));
}

std::string last_operations(std::span<const AccessPlace> accesses) {
    return accesses.empty() ? " No operation is known to have touched it."
                            : fmt::format(" The last operations known to have touched it: {}.",
                                          listed(accesses));
}

// Found by the poison in a freed block: who wrote is not known, only that somebody did.
Words describe_write_after_free(const Finding& finding) {
    const AccessPlace& freed = finding.accesses[0];
    const std::span<const AccessPlace> uses(finding.accesses.begin() + 1, finding.accesses.end());
    const std::string where =
        finding.block ? fmt::format("byte {} of ", finding.ptr - finding.block->ptr) : "";
    return {fmt::format("Somebody wrote {}{} after {}{} had freed it.{}", where, the_block(finding),
                        spoken_op(freed), at_place(freed.stack), last_operations(uses)),
            fmt::format("Find who kept the address past {}{}, perhaps in memory of the device, and "
                        "move the free after the last use.",
                        spoken_op(freed), at_place(freed.stack))};
}

// Memory that nodes allocate and free, used by nodes of the same graph.
Words memory_in_graph(const Finding& finding, const AccessPlace& first, const AccessPlace& second) {
    const std::string earlier = spoken_node_with_place(first);
    const std::string later = spoken_node_with_place(second);
    const std::string where = fmt::format(
        "In one graph ({}{}), ", spoken_api(first.api, first.stack), at_place(first.stack));
    if (finding.kind == Kind::UseBeforeAlloc) {
        return {where + fmt::format("{} uses memory that {} allocates, and does not depend on it.",
                                    later, earlier),
                fmt::format("Make {} depend on {}.", later, earlier)};
    }
    if (finding.kind == Kind::UseAfterFree) {
        return {where + fmt::format("{} uses memory that {} has freed before.", later, earlier),
                fmt::format("Make {} depend on {}, not the other way round.", earlier, later)};
    }
    return {where + fmt::format("{} uses memory that {} frees, and neither depends on the other.",
                                earlier, later),
            fmt::format("Make {} depend on {}.", later, earlier)};
}

Words describe_use_after_free(const Finding& finding) {
    if (finding.found_by == "poison" && !finding.accesses.empty()) {
        return describe_write_after_free(finding);
    }
    if (finding.accesses.size() < 2) {
        return {fmt::format("{} is used after it has been freed.", the_block(finding)),
                "Free it after its last use."};
    }
    const AccessPlace& freed = finding.accesses[0];
    const AccessPlace& use = finding.accesses[1];
    if (in_one_graph(freed, use)) {
        return memory_in_graph(finding, freed, use);
    }
    if (ended_by_context(freed.api)) {
        return {fmt::format("{}{} uses {} on {}, but {}{} has destroyed the context it lived in.",
                            spoken_op(use), at_place(use.stack), the_block(finding),
                            spoken_stream(use.stream), spoken_op(freed), at_place(freed.stack)),
                fmt::format(
                    "Move {} after the last use{}, or allocate the block again in the new context.",
                    spoken_op(freed), at_place(use.stack))};
    }
    return {fmt::format("{}{} uses {} on {} after {}{} has freed it.", spoken_op(use),
                        at_place(use.stack), the_block(finding), spoken_stream(use.stream),
                        spoken_op(freed), at_place(freed.stack)),
            fmt::format("Move {}{} after the last use{}, or drop that use.", spoken_op(freed),
                        at_place(freed.stack), at_place(use.stack))};
}

// A copy or memset shows its bytes itself.
Words describe_overrun(const Finding& finding, const AccessPlace& use) {
    const Block& block = *finding.block;
    const std::uint64_t end = use.range ? std::max(use.range->second, block.bytes) : block.bytes;
    return {fmt::format("{}{} {} up to {} past the end of {}.", spoken_op(use), at_place(use.stack),
                        use.access == "read" ? "reads" : "writes", bytes_text(end - block.bytes),
                        the_block(finding)),
            fmt::format("Go no further than byte {} of the block, or allocate more{}.", block.bytes,
                        at_place(block.allocated.stack))};
}

Words describe_out_of_bounds(const Finding& finding) {
    if (!finding.block || finding.accesses.empty()) {
        return {fmt::format("Memory around {} is used.", the_block(finding)),
                "Keep to the bytes that were allocated."};
    }
    const Block& block = *finding.block;
    const AccessPlace& last = finding.accesses.back();
    if (finding.found_by != "canary") {
        return describe_overrun(finding, last);
    }
    const std::span<const AccessPlace> places(finding.accesses);
    const auto uses = last.op == "alloc" ? places.first(0) : places;
    return {fmt::format("Somebody wrote {} {} that {}{} allocated, first at byte {}.{}",
                        finding.ptr < block.ptr ? "before the start of" : "past the end of",
                        the_block(finding), spoken_api(block.allocated.api, block.allocated.stack),
                        at_place(block.allocated.stack),
                        static_cast<std::int64_t>(finding.ptr - block.ptr), last_operations(uses)),
            fmt::format("Check the indices and sizes that {} with: the block has bytes 0 to {}.",
                        uses.empty() ? "it is used" : "these work", block.bytes - 1)};
}

Words describe_use_before_alloc(const Finding& finding) {
    if (finding.accesses.size() < 2) {
        return {fmt::format("{} is used before its stream-ordered allocation has happened.",
                            the_block(finding)),
                "Make the using stream wait for an event recorded after the allocation."};
    }
    const AccessPlace& alloc = finding.accesses[0];
    const AccessPlace& use = finding.accesses[1];
    if (in_one_graph(alloc, use)) {
        return memory_in_graph(finding, alloc, use);
    }
    if (!alloc.stream) {
        return {
            fmt::format("{}{} uses memory on {} that a graph allocates when it runs ({}{}), and "
                        "no launch has left allocated.",
                        spoken_op(use), at_place(use.stack), spoken_stream(use.stream),
                        spoken_op(alloc), at_place(alloc.stack)),
            "Use it by nodes of that graph, or after a launch of it and before it is freed."};
    }
    return {
        fmt::format(
            "{}{} uses {} on {}, but {}{} allocates it on {}, and nothing makes the use wait for "
            "that.",
            spoken_op(use), at_place(use.stack), the_block(finding), spoken_stream(use.stream),
            spoken_op(alloc), at_place(alloc.stack), spoken_stream(alloc.stream)),
        wait_between(alloc, use) +
            fmt::format(" Or allocate the block on {}.", short_stream(use.stream))};
}

Words describe_freed_in_flight(const Finding& finding) {
    if (finding.accesses.size() < 2) {
        return {
            fmt::format("{} is freed while work on it may still be running.", the_block(finding)),
            "Make the free wait for the last use."};
    }
    const AccessPlace& use = finding.accesses[0];
    const AccessPlace& freed = finding.accesses[1];
    if (in_one_graph(use, freed)) {
        return memory_in_graph(finding, use, freed);
    }
    const bool ordered = freed.stream || freed.api.find("Async") != std::string::npos;
    std::string message =
        fmt::format("{}{} uses {} on {} and may still be running when {}{} frees it",
                    spoken_op(use), at_place(use.stack), the_block(finding),
                    spoken_stream(use.stream), spoken_op(freed), at_place(freed.stack));
    if (ordered) {
        return {message + fmt::format(" on {}: nothing makes the free wait for the use.",
                                      spoken_stream(freed.stream)),
                wait_between(use, freed) +
                    fmt::format(" Or free the block on {}.", short_stream(use.stream))};
    }
    if (freed.api == "cuMemUnmap") {
        return {message + ": cuMemUnmap does not wait for the device.",
                fmt::format("Synchronize {} before {}{}.", short_stream(use.stream),
                            spoken_op(freed), at_place(freed.stack))};
    }
    return {message + ": freeing stream-ordered memory this way does not wait for the device.",
            fmt::format("Free it with cudaFreeAsync on {}, or synchronize that stream before {}{}.",
                        short_stream(use.stream), spoken_op(freed), at_place(freed.stack))};
}

Words describe_double_free(const Finding& finding) {
    if (finding.accesses.size() < 2) {
        return {fmt::format("{} is freed twice.", the_block(finding)),
                "Remove one of the two frees."};
    }
    const AccessPlace& first = finding.accesses[0];
    const AccessPlace& second = finding.accesses[1];
    return {fmt::format("{}{} frees {} at {}, which {}{} has already freed.", spoken_op(second),
                        at_place(second.stack), the_block(finding), hex(finding.ptr),
                        spoken_op(first), at_place(first.stack)),
            fmt::format(
                "Remove the second free{}, or set the pointer to null where it is first freed{}.",
                at_place(second.stack), at_place(first.stack))};
}

Words describe_invalid_free(const Finding& finding) {
    const std::string what = finding.accesses.empty() ? std::string("A free")
                                                      : spoken_op(finding.accesses[0]) +
                                                            at_place(finding.accesses[0].stack);
    if (!finding.block) {
        return {
            fmt::format("{} is given {}, which no allocation has returned.", what,
                        hex(finding.ptr)),
            "Free the address that the allocation returned, with the function that belongs to it."};
    }
    const Block& block = *finding.block;
    const std::string allocation = spoken_api(block.allocated.api, block.allocated.stack);
    const std::string begin = fmt::format("{} that {}{} returned", hex(block.ptr), allocation,
                                          at_place(block.allocated.stack));
    if (finding.ptr > block.ptr) {
        return {fmt::format("{} is given {}, which is {} into the block of {} that begins at {}.",
                            what, hex(finding.ptr), bytes_text(finding.ptr - block.ptr),
                            bytes_text(block.bytes), hex(block.ptr)),
                fmt::format("Free {}.", begin)};
    }
    return {fmt::format("{} is given {}, which is {} and cannot be freed this way.", what,
                        hex(finding.ptr), memory_kind(block.kind)),
            fmt::format("Free {} with {}.", begin, free_function_for(block))};
}

// ---- the rest
// --------------------------------------------------------------------------------------------

Words describe_implicit_sync(const Finding& finding) {
    if (finding.accesses.size() < 2) {
        return {fmt::format("Only the wait inside a free protects {}.", the_block(finding)),
                "Synchronize before the free."};
    }
    const AccessPlace& use = finding.accesses[0];
    const AccessPlace& freed = finding.accesses[1];
    if (freed.op != "free") {
        return {
            fmt::format("{}{} uses {} on {} before {}{} does on {}, and only a wait that CUDA's "
                        "manual does not promise (inside a free, a copy or a module load between "
                        "them) keeps them in this order.",
                        spoken_op(use), at_place(use.stack), the_block(finding),
                        spoken_stream(use.stream), spoken_op(freed), at_place(freed.stack),
                        spoken_stream(freed.stream)),
            fmt::format("Make {} wait for {} before {}{}.", short_stream(freed.stream),
                        short_stream(use.stream), spoken_op(freed), at_place(freed.stack))};
    }
    return {fmt::format(
                "{}{} uses {} on {}, and only the wait that {}{} happens to perform keeps the free "
                "from overtaking it: no guarantee of CUDA's manual does.",
                spoken_op(use), at_place(use.stack), the_block(finding), spoken_stream(use.stream),
                spoken_op(freed), at_place(freed.stack)),
            fmt::format("Synchronize {} before {}{}.", short_stream(use.stream), spoken_op(freed),
                        at_place(freed.stack))};
}

Words describe_leak(const Finding& finding) {
    const Block& block = *finding.block;
    const bool many = finding.count != 1;
    std::string message =
        fmt::format("{} of {} allocated by {}{} {} never freed", counted(finding.count, "block"),
                    memory_kind(block.kind), spoken_api(block.allocated.api, block.allocated.stack),
                    at_place(block.allocated.stack), many ? "were" : "was");
    message += many ? fmt::format(": {} in all", bytes_text(finding.leaked_bytes))
                    : fmt::format(": {}", bytes_text(finding.leaked_bytes));
    message += finding.live_when_log_ended
                   ? "; live when the log ended, without the program's own end."
                   : ".";
    return {message,
            fmt::format("Call {} for {} after the last use, before the last copy of the pointer is "
                        "lost.",
                        free_function_for(block), many ? "each of them" : "it")};
}

Words describe_out_of_budget(const Finding& finding) {
    const BudgetRefusal& refusal = *finding.refusal;
    const AccessPlace& asked = finding.accesses[0];
    const std::string scope = refusal.for_process ? "for all devices together"
                                                  : fmt::format("for device {}", refusal.device);
    Words words;
    words.message =
        fmt::format("{}{} asked for {}, but of the budget of {} {} only {} were left.",
                    spoken_op(asked), at_place(asked.stack), bytes_text(refusal.requested),
                    bytes_text(refusal.limit), scope, bytes_text(refusal.remaining));
    const std::string enough = bytes_text(saturating_add(refusal.current, refusal.requested));
    if (refusal.holders.empty() || refusal.requested > refusal.limit) {
        words.suggestion = fmt::format("Ask for less{}, or set the budget to {} or more.",
                                       at_place(asked.stack), enough);
    } else {
        const Holder& most = refusal.holders[0];
        words.suggestion = fmt::format(
            "Before that, free what is no longer needed of the {} that {}{} allocated, or set the "
            "budget to {} or more.",
            bytes_text(most.bytes), spoken_api(most.api, most.stack), at_place(most.stack), enough);
    }
    return words;
}

Words describe_other(const Finding& finding) {
    return {
        fmt::format("A finding of kind {}, which this version of the report program does not know.",
                    finding.kind_name),
        "Read the log with the cuward that wrote it, or a newer one."};
}

Words words_for(const Finding& finding) {
    switch (finding.kind) {
        case Kind::Race:
            return describe_race(finding);
        case Kind::UseAfterFree:
            return describe_use_after_free(finding);
        case Kind::OutOfBounds:
            return describe_out_of_bounds(finding);
        case Kind::UseBeforeAlloc:
            return describe_use_before_alloc(finding);
        case Kind::FreedInFlight:
            return describe_freed_in_flight(finding);
        case Kind::DoubleFree:
            return describe_double_free(finding);
        case Kind::InvalidFree:
            return describe_invalid_free(finding);
        case Kind::ReliesOnImplicitSync:
            return describe_implicit_sync(finding);
        case Kind::Leak:
            return describe_leak(finding);
        case Kind::OutOfBudget:
            return describe_out_of_budget(finding);
        case Kind::Other:
            break;
    }
    return describe_other(finding);
}

std::string capitalized(std::string sentence) {
    // A C++ or CUDA name keeps its spelling at the start of a sentence.
    for (const std::string_view word : {"kernel ", "the ", "a ", "an "}) {
        if (sentence.starts_with(word)) {
            sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
        }
    }
    return sentence;
}

std::string_view verdict_name(Verdict verdict) {
    return verdict == Verdict::Proven   ? "proven"
           : verdict == Verdict::Likely ? "likely"
                                        : "possible";
}

std::string on_thread(std::uint64_t thread) {
    return thread == 0 ? std::string() : fmt::format(", thread {}", thread);
}

// ---- remarks
// --------------------------------------------------------------------

/// The functions that were called, then those that were only looked up; a long list is cut short.
std::string unknown_functions_remark(std::vector<LoggedUnknownFunction> functions) {
    constexpr std::size_t kMostNamed = 8;
    std::stable_partition(functions.begin(), functions.end(),
                          [](const LoggedUnknownFunction& function) { return function.called; });
    std::vector<std::string> names;
    for (const LoggedUnknownFunction& function : functions) {
        names.push_back(function.name + (function.called ? " (called)" : " (looked up)"));
    }
    if (names.size() > kMostNamed) {
        const std::size_t others = names.size() - kMostNamed;
        names.resize(kMostNamed);
        names.push_back(counted(others, "other"));
    }
    return fmt::format(
        "the driver has functions that this version of cuward does not know, and what they do is "
        "not seen: {}",
        fmt::join(names, ", "));
}

}  // namespace

void describe(Finding& finding) {
    Words words = words_for(finding);
    finding.message = capitalized(std::move(words.message));
    finding.suggestion = capitalized(std::move(words.suggestion));
}

std::vector<std::string> remarks_on(const LogModel& log) {
    std::vector<std::string> remarks;
    const LogHealth& health = log.health;
    if (!health.has_header) {
        remarks.emplace_back(
            "the log has no header: it was cut off at its very beginning, or is no log of cuward");
    }
    if (health.cut_mid_line) {
        remarks.emplace_back(
            "the log is cut off in the middle of a line; this report covers what comes before");
    }
    if (!health.ended) {
        remarks.emplace_back(
            "the log has no end: the process was killed, crashed, left by _exit, or is still "
            "running; this report covers it up to there");
    }
    if (health.skipped_lines > 0) {
        remarks.push_back(fmt::format("{} of the log could not be understood and {} skipped",
                                      counted(health.skipped_lines, "line"),
                                      health.skipped_lines == 1 ? "was" : "were"));
    }
    if (log.process.driver_seen && log.process.cupti.empty()) {
        remarks.emplace_back(
            "kernel launches and copies were not watched, as there was no CUPTI: only leaks and "
            "wrong frees can "
            "be found");
    }
    if (!log.unknown_functions.empty()) {
        remarks.push_back(unknown_functions_remark(log.unknown_functions));
    }
    remarks.insert(remarks.end(), log.notes.begin(), log.notes.end());
    return remarks;
}

std::string changed_module_remark(const std::string& module) {
    return fmt::format(
        "{} is not the file that ran (its build id differs), so its frames have no names", module);
}

std::string title(const Finding& finding) {
    if (finding.kind == Kind::Leak) {
        return fmt::format("leak of {}", bytes_text(finding.leaked_bytes));
    }
    const bool is_fact = finding.kind == Kind::OutOfBudget;
    const std::string hazard = finding.hazard.empty() ? "" : finding.hazard + ", ";
    const std::string seen =
        finding.count == 1 ? "" : fmt::format(", seen {}", counted(finding.count, "time"));
    return finding.kind_name +
           (is_fact ? "" : fmt::format(" ({}{})", hazard, verdict_name(finding.verdict))) + seen;
}

std::string access_line(const Finding& finding, const AccessPlace& access) {
    std::string line = access.node ? spoken_node(access) + " in a graph" : spoken_op(access);
    const bool again = finding.kind == Kind::DoubleFree && &access == &finding.accesses.back();
    if (access.op == "free") {
        line += finding.kind == Kind::InvalidFree ? " was asked to free it"
                : again                           ? " freed the block again"
                                                  : " freed the block";
    } else if (access.op == "alloc") {
        line += finding.kind == Kind::OutOfBudget ? " was refused" : " allocated the block";
    } else {
        const std::string_view bound = access.range_exact ? "" : "at most ";
        line += fmt::format(" {} ", past_tense(access));
        line += access.range ? fmt::format("{}bytes [{}, {}) of the block", bound,
                                           access.range->first, access.range->second)
                             : "the block";
    }
    if (access.stream) {
        line += " on " + spoken_stream(access.stream);
    }
    if (access.grid && access.threads) {
        line += fmt::format(", grid {}, blocks of {}", fmt::join(*access.grid, "x"),
                            fmt::join(*access.threads, "x"));
    }
    return line + on_thread(access.thread);
}

std::string node_line(const AccessPlace& access) {
    const NodePlace& node = *access.node;
    const Built built = how_built(node);
    return built == Built::Captured ? "the graph's node was captured"
                                    : fmt::format("the graph's node was {} by {}",
                                                  built == Built::Added ? "added" : "last changed",
                                                  spoken_api(node.api, node.stack));
}

std::string allocation_line(const Finding& finding) {
    const Block& block = *finding.block;
    const std::string device = block.device ? fmt::format(" on device {}", *block.device) : "";
    const std::string_view which =
        finding.kind == Kind::Leak && finding.count > 1 ? "the first of them" : "the block";
    return fmt::format("{}: {} of {}{} at {}, allocated by {} at {}{}", which,
                       bytes_text(block.bytes), memory_kind(block.kind), device, hex(block.ptr),
                       spoken_api(block.allocated.api, block.allocated.stack),
                       seconds_text(block.allocated.time), on_thread(block.allocated.thread));
}

std::string free_line(const Block& block) {
    const Call& freed = *block.freed;
    return fmt::format("freed by {} at {}{}", spoken_api(freed.api, freed.stack),
                       seconds_text(freed.time), on_thread(freed.thread));
}

std::string holder_line(const Holder& holder) {
    return fmt::format("held by then: {} of {}, {}, allocated by {}",
                       counted(holder.blocks, "block"), memory_kind(holder.kind),
                       bytes_text(holder.bytes), spoken_api(holder.api, holder.stack));
}

std::string further_holders_line(const BudgetRefusal& refusal) {
    return fmt::format("and {} allocated at {}", bytes_text(refusal.further_bytes),
                       counted(refusal.further_places, "other place"));
}

std::string repair_line(const Finding& finding) {
    // A free that has no stream of its own is put on one.
    const bool has_stream = !finding.accesses.empty() && finding.accesses.back().stream;
    const std::string how =
        has_stream ? fmt::format("made {} wait", short_stream(finding.accesses.back().stream))
                   : "freed the block behind its uses";
    return fmt::format("repaired: cuward {}, {} of {} times", how, finding.repaired, finding.count);
}

std::string held_line(const Held& held) {
    return fmt::format("held until exit by {}: {}, {}", held.module, counted(held.blocks, "block"),
                       bytes_text(held.bytes));
}

std::string process_name(const Process& process) {
    const std::string program =
        process.program.empty() ? "unknown program" : std::string(base_name(process.program));
    const std::string rank = process.rank ? fmt::format(", rank {}", *process.rank) : "";
    const std::string host = process.host.empty() ? "" : " on " + process.host;
    return fmt::format("{} (pid {}{}{})", program, process.pid, rank, host);
}

std::string verdict_line(const Report& report) {
    const Summary& summary = report.summary;
    std::vector<std::string> parts;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count > 0) {
            parts.push_back(counted(count, what));
        }
    };
    add(summary.races, "race");
    add(summary.lifetime_errors, "lifetime error");
    if (summary.repaired > 0) {
        const std::uint64_t errors = summary.races + summary.lifetime_errors;
        parts.push_back(summary.repaired < errors
                            ? fmt::format("{} of them repaired", summary.repaired)
                        : errors == 1 ? "repaired"
                                      : "all repaired");
    }
    add(summary.other_findings, "other finding");
    if (summary.leaks > 0) {
        const std::string blocks = summary.leaked_blocks == summary.leaks
                                       ? ""
                                       : counted(summary.leaked_blocks, "block") + ", ";
        parts.push_back(fmt::format("{} ({}{})", counted(summary.leaks, "leak"), blocks,
                                    counted(summary.leaked_bytes, "byte")));
    }
    std::string line = parts.empty() ? "nothing found" : fmt::format("{}", fmt::join(parts, ", "));
    parts.clear();
    add(summary.possible_races, "possible race");
    add(summary.possible_lifetime_errors, "possible lifetime error");
    if (!parts.empty()) {
        const bool listed = std::any_of(
            report.findings.begin(), report.findings.end(),
            [](const Finding& finding) { return finding.verdict == Verdict::Possible; });
        line += fmt::format("; also {}{}", fmt::join(parts, ", "),
                            listed ? "" : " (--show-possible lists them)");
    }
    if (summary.budget_refusals > 0) {
        line += fmt::format("; {} had no room in the budget",
                            counted(summary.budget_refusals, "allocation"));
    }
    return line + (report.leak_check ? "" : "; leaks were not looked for");
}

}  // namespace cuward::report
