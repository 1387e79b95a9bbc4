// Parsers of shapes and layouts, and a printer of layouts. The texts of Compute, LoopNest and
// graphs use them.
#pragma once

#include <string>
#include <vector>

#include "ir/compute.h"
#include "support/lexer.h"

namespace tunec {

/// Parses a shape such as `[37, 45]`. The shape of a scalar is `[]`.
Result<std::vector<int64_t>> ParseShape(Lexer& lexer);

/// Returns the name of a logical dimension in texts: i, j, ..., then d6, d7, ...
std::string LogicalName(VarId dimension);

/// Returns the text of a layout of a tensor with `rank` dimensions, such as
/// `layout [37, 2, 8] (i, j) -> [i, floor(j/8), j mod 8]`.
std::string PrintLayout(const Layout& layout, size_t rank);
/// Parses the text of a layout after the word `layout`.
Result<Layout> ParseLayout(Lexer& lexer);

}  // namespace tunec
