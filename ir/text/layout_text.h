// The texts of shapes and layouts, shared by Compute, LoopNest and .graph.
#pragma once

#include <string>
#include <vector>

#include "ir/compute.h"
#include "support/lexer.h"

namespace tunec {

/// Parses `[37, 45]`; `[]` for a scalar.
Result<std::vector<int64_t>> ParseShape(Lexer& lexer);

/// Returns the name of a logical dimension in texts: i, j, ..., then d6, d7, ...
std::string LogicalName(VarId dimension);

/// Returns `layout [37, 2, 8] (i, j) -> [i, floor(j/8), j mod 8]` of a tensor with `rank`
/// dimensions.
std::string PrintLayout(const Layout& layout, size_t rank);
/// Parses PrintLayout's text after its first word.
Result<Layout> ParseLayout(Lexer& lexer);

}  // namespace tunec
