// The options of tunec_compile: a JSON object to settings.
#pragma once

#include <string_view>

#include "compiler/settings.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Reads the object that tunec.h describes; empty text is no options. Errors (kInvalidArgument,
/// kParse for malformed JSON) name the key, its value and what was wanted.
Result<Settings> ParseApiOptions(std::string_view json);

/// The same for the value of "layouts" alone.
Result<EdgeLayouts> ParseApiLayouts(std::string_view json);

}  // namespace tunec
