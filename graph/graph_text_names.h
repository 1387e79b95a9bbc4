// What the printer and the parser of .graph share.
#pragma once

#include <string>
#include <string_view>

#include "ir/compute.h"
#include "support/lexer.h"

namespace tunec {

/// The name, quoted where it is a word of the grammar or no identifier.
std::string PrintGraphName(std::string_view name);
/// `layout [37, 2, 8] (i, j) -> [i, floor(j/8), j mod 8]`, as in the text of a Compute.
std::string PrintLayout(const Layout& layout, size_t rank);
/// The same after its first word.
Result<Layout> ParseLayout(Lexer& lexer);

}  // namespace tunec
