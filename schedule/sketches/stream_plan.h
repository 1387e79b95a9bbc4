// The roles of statements and iterators in flash attention: two products, with work on the rows of
// the first product's results between them (stream.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/relations.h"
#include "schedule/sketch.h"

namespace tunec {

struct StreamPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  SharedDimensions shared;  // dimensions that the Compute's statements share
  StatementId first;        // the product whose results the second product sums
  StatementId last;         // the second product
  /// The fields from `outer` to `depth` are numbers of dimensions in `shared`.
  std::vector<int> outer;    // tasks: batches, heads, blocks of rows
  std::optional<int> chunk;  // KV blocks, processed one after the other; empty if there is only one
  int column = 0;            // the columns of the first product, over which the second product sums
  int row = 0;               // the rows, which are lanes in the first product
  int width = 0;             // the columns of the second product, which are its lanes
  int depth = 0;             // the dimension that the first product sums over
  int64_t rows = 1, columns = 1, widths = 1, depths = 1;
  int64_t chunks = 1, tasks = 1;
  bool partial_columns = false;  // a condition of the domain uses the columns
  bool bounded_columns = false;  // a condition uses the columns and the block of rows (causal mask)
  bool skips_chunks = false;     // KV blocks above a diagonal are skipped, about half of all
  double visited = 1;            // fraction of KV blocks and columns that are in the domain

  const Statement& statement(StatementId id) const { return compute->statements[id]; }
  std::optional<VarId> IteratorOf(StatementId id, int dimension) const {
    return shared.IteratorOf(id, dimension);
  }
  /// Returns the suffix of the names of loops over the dimension after all statements have joined
  /// the first product's loops. This is the name of the first product's iterator, else that of the
  /// first statement with such an iterator. In the latter case, `_` is appended if the first
  /// product's rows or columns have the name. Returns an empty string without such a statement.
  std::string NameOf(int dimension) const;
};

/// Returns the plan. Returns nothing if the Compute does not have the form of flash attention.
std::optional<StreamPlan> MakeStreamPlan(const NamedCompute& lowering);

}  // namespace tunec
