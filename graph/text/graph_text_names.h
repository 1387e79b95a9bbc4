// Printing of names in the text format .graph.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the name, quoted if it is a word of the grammar or not an identifier.
std::string PrintGraphName(std::string_view name);
}  // namespace tunec
