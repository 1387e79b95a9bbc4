// Parser of the options of tunec_compile: a JSON object to settings.
#pragma once

#include <string_view>

#include "compiler/settings.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Parses the object that tunec.h describes; an empty text means no options. Errors name the key,
/// its value and the expected value: kInvalidArgument, or kParse for malformed JSON.
Result<Settings> ParseApiOptions(std::string_view json);

/// Parses the value of "layouts" alone.
Result<EdgeLayouts> ParseApiLayouts(std::string_view json);

}  // namespace tunec
