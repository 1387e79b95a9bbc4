// Parser that converts the JSON options of tunec_compile to settings.
#pragma once

#include <string_view>

#include "compiler/options/settings.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Parses the object that tunec.h describes; an empty text means no options. Fails with
/// kInvalidArgument for an unknown key or a wrong value, which the message names with the expected
/// values. Fails with kParse, and the byte of the error, for malformed JSON.
Result<Settings> ParseApiOptions(std::string_view json);

/// Parses a JSON object that has the form of the value of "layouts".
Result<EdgeLayouts> ParseApiLayouts(std::string_view json);

}  // namespace tunec
