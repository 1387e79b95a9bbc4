// Functions that the printer and the parser of .graph share.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the name, quoted if it is a word of the grammar or not an identifier.
std::string PrintGraphName(std::string_view name);
}  // namespace tunec
