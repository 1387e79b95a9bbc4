// What the printer and the parser of .graph share.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// The name, quoted where it is a word of the grammar or no identifier.
std::string PrintGraphName(std::string_view name);
}  // namespace tunec
