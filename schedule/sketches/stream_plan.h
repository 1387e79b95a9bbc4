// The roles that statements and iterators play where two products follow each other row by row,
// with work on the rows between them (stream.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "schedule/sketch.h"

namespace tunec {

struct StreamPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  StatementId first = 0;  // the product whose results the second one sums up
  StatementId last = 0;   // the second
  /// Iterators by name; a name means the same in all statements.
  std::vector<std::string> outer;    // tasks: batches, heads, blocks of rows
  std::optional<std::string> chunk;  // one chunk of columns after the other
  std::string column;                // of the first product; the second sums over them
  std::string row;                   // the lanes of the first product
  std::string width;                 // the lanes of the second
  std::string depth;                 // the first sums over it
  int64_t rows = 1, columns = 1, widths = 1, depths = 1;
  int64_t chunks = 1, tasks = 1;
  bool partial_columns = false;  // a condition on them
  bool skips_chunks = false;     // those above a diagonal: about half

  const Statement& statement(StatementId id) const { return compute->statements[id]; }
};

/// The plan for a Compute of that form.
std::optional<StreamPlan> MakeStreamPlan(const NamedCompute& lowering);

/// The iterator of that name, if the statement has it.
std::optional<VarId> IteratorNamed(const Statement& statement, std::string_view name);

}  // namespace tunec
