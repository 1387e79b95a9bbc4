// A parser that converts the JSON options of the tunec_compile functions to settings.
#pragma once

#include <string_view>

#include "compiler/options/settings.h"
#include "graph/edge_layouts.h"
#include "support/error.h"

namespace tunec {

/// Parses the object that tunec.h describes. An empty text gives the default settings. Fails with
/// kInvalidArgument for JSON that is not an object, for an unknown key, for a value of a wrong
/// form, and for a value rejected by Setting::check. Fails with kParse for malformed JSON; the
/// message has the position in bytes.
Result<Settings> ParseApiOptions(std::string_view json);

/// Parses a JSON object that has the form of the value of "layouts". Fails with kInvalidArgument
/// for another value, and with kParse for malformed JSON, including an empty text.
Result<EdgeLayouts> ParseApiLayouts(std::string_view json);

}  // namespace tunec
