// How sure a hazard is, and its name.
#pragma once

#include "core/blocks/access_history.hpp"

namespace cuward {

enum class Verdict : std::uint8_t { Possible, Likely, Proven };
enum class Hazard : std::uint8_t { None, RAW, WAR, WAW };

/// Of two overlapping accesses, one of which may write.
Verdict verdict_of(const PastAccess& earlier, const PastAccess& later);
Hazard hazard_of(Access earlier, Access later);

/// Of a single access to memory it should not touch: proven when the bytes are certain, possible
/// when the pointer was found in a structure and may be a leftover.
Verdict certainty_of(const PastAccess& access);

const char* name_of(Verdict verdict);
/// Null for Hazard::None.
const char* name_of(Hazard hazard);
const char* name_of(Access access);

}  // namespace cuward
