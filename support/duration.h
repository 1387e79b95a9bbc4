// Parser of durations such as "90s", the notation in options and files.
#pragma once

#include <string_view>

#include "support/error.h"

namespace tunec {

/// Parses "90s", "10m", "1.5h" or a plain number, and returns seconds. Errors: kInvalidArgument for
/// any other text, and for durations that are not positive and finite.
Result<double> ParseDuration(std::string_view text);

}  // namespace tunec
