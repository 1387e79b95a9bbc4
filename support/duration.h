// Durations as people write them.
#pragma once

#include <string_view>

#include "support/error.h"

namespace tunec {

/// Seconds of "90s", "10m", "1.5h", or of a number alone. kInvalidArgument for anything else, for
/// 0 and for what is not finite.
Result<double> ParseDuration(std::string_view text);

}  // namespace tunec
