// Printing of names in the text format .graph.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the name, quoted if it is a reserved word or not an identifier.
std::string PrintGraphName(std::string_view name);
}  // namespace tunec
