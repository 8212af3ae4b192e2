#include "cupti/decode.hpp"

#include <array>

#include "cupti/decode_families.hpp"
#include "cupti/decode_graphs.hpp"
#include "cupti/decode_memory.hpp"
#include "cupti/decode_values.hpp"
#include "cupti/driver_params.hpp"

namespace cuward::cupti {
namespace {

struct Function {
    const char* api = nullptr;  ///< null: the table does not have it
    void (*decode)(const Decoder&, const DriverCall&, Call&) = nullptr;  ///< null: not decoded
    StreamId default_stream = kLegacyStream;  ///< what stream handle 0, or none, means here
};

using Table = std::array<Function, CUPTI_DRIVER_TRACE_CBID_SIZE>;

// Families by the names that the table knows them by.
using AddRecordNode = AddEventNode<true>;
using AddWaitNode = AddEventNode<false>;
using AwaitSemaphores = Semaphores<ValueKind::WaitGreaterOrEqual>;
using AwaitValue = OneValue<awaited_value>;
using BeginCapture = OnStream<Effect::CaptureBegins>;
using ChangeRecordNode = ChangeEventNode<true>;
using ChangeWaitNode = ChangeEventNode<false>;
using ContextWait = OnContextAndEvent<Effect::ContextWaitsEvent>;
using CreateSurface = CreateObject<ObjectKind::Surface>;
using CreateTexture = CreateObject<ObjectKind::Texture>;
using DestroyEvent = OnEvent<Effect::EventDestroyed>;
using DestroyStream = OnStream<Effect::StreamDestroyed>;
using EventComplete = OnEvent<Effect::EventsComplete>;
using DestroySurface = DestroyObject<ObjectKind::Surface>;
using DestroyTexture = DestroyObject<ObjectKind::Texture>;
using FindManagedVariable = FindVariable<BlockKind::ManagedGlobal>;
using FindGlobalVariable = FindVariable<BlockKind::Global>;
using HostFunction = QueueOnly<OperationKind::HostFunction>;
using LoadCode = OnContext<Effect::CodeLoaded>;
using LoseCode = OnContext<Effect::CodeGone>;
using Migration = QueueOnly<OperationKind::Copy>;
using PreparedLaunch = QueueOnly<OperationKind::Kernel>;  // its arguments were set before
using RecordContext = OnContextAndEvent<Effect::ContextRecorded>;
using RecordEvent = OnStreamAndEvent<Effect::EventRecorded>;
using SignalSemaphores = Semaphores<ValueKind::Write>;
using StreamComplete = OnStream<Effect::StreamComplete>;
using WaitEvent = OnStreamAndEvent<Effect::StreamWaitsEvent>;
using WriteValue = OneValue<written_value>;

// What the table says of streams: "_ptds" and "_ptsz" entry points are what the program calls when
// it is compiled with --default-stream per-thread.
constexpr StreamId kNone = kLegacyStream;
constexpr StreamId kLegacy = kLegacyStream;
constexpr StreamId kPerThread = kPerThreadStream;

template <typename Family, typename Params>
void decode_as(const Decoder& decoder, const DriverCall& driver_call, Call& call) {
    // Where a function has no parameters there may be no struct of them.
    static constexpr Params kNoParams{};
    const auto* const params = static_cast<const Params*>(driver_call.params);
    Family::decode(decoder, driver_call, params != nullptr ? *params : kNoParams, call);
}

constexpr Table make_table() {
    Table table{};
#define FUNCTION(symbol, base) table[CUPTI_DRIVER_TRACE_CBID_##symbol].api = base;
#include "driver_api/functions.inc"
#undef FUNCTION
#define DECODED(symbol, base, streams, family)                                            \
    table[CUPTI_DRIVER_TRACE_CBID_##symbol] = {base, &decode_as<family, symbol##_params>, \
                                               k##streams};
#include "driver_api/decoders.inc"
#undef DECODED
    return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::vector<std::uint32_t> Decoder::functions() {
    std::vector<std::uint32_t> decoded;
    for (std::uint32_t function = 0; function < kTable.size(); ++function) {
        if (kTable[function].decode != nullptr) {
            decoded.push_back(function);
        }
    }
    return decoded;
}

bool Decoder::knows(std::uint32_t function) {
    return function < kTable.size() && kTable[function].api != nullptr;
}

void Decoder::decode(const DriverCall& driver_call, Call& call) const {
    const bool decoded =
        driver_call.function < kTable.size() && kTable[driver_call.function].decode != nullptr;
    const Function function = decoded ? kTable[driver_call.function] : Function{};
    call.begin(decoded ? function.api : "", driver_call.context, function.default_stream);
    if (decoded) {
        function.decode(*this, driver_call, call);
    }
}

}  // namespace cuward::cupti
