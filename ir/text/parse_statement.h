// Parsers of tensors and assignments, shared by the text forms of Compute and LoopNest.
#pragma once

#include <optional>
#include <vector>

#include "ir/compute.h"
#include "ir/text/parse_expr.h"
#include "support/lexer.h"

namespace tunec {

/// Parses all tensor declarations that follow the opening brace of a Compute or a LoopNest. An
/// alias may name a tensor that is declared later.
Result<Tensors> ParseTensors(Lexer& lexer);

/// The parsed parts that a Statement and a Store have in common: writes, reads, values, reducer.
struct ParsedAssignment {
  std::vector<Read> reads;
  std::vector<Write> writes;
  std::vector<Expr> values;
  std::optional<Reducer> reducer;
};

/// Parses the lines that PrintAssignment returns: optional lines of a reducer and of reads, then
/// the line of the writes and values.
Result<ParsedAssignment> ParseAssignment(Lexer& lexer, const Tensors& tensors,
                                         const ExprParser::Variables& variables);

}  // namespace tunec
