// The roles that statements and iterators play where two products follow each other row by row,
// with work on the rows between them (stream.cc).
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
  SharedDimensions shared;  // of the Compute
  StatementId first;        // the product whose results the second one sums up
  StatementId last;         // the second
  /// Dimensions, each walked by one iterator of every statement that knows it.
  std::vector<int> outer;    // tasks: batches, heads, blocks of rows
  std::optional<int> chunk;  // one chunk of columns after the other
  int column = 0;            // of the first product; the second sums over them
  int row = 0;               // the lanes of the first product
  int width = 0;             // the lanes of the second
  int depth = 0;             // the first sums over it
  int64_t rows = 1, columns = 1, widths = 1, depths = 1;
  int64_t chunks = 1, tasks = 1;
  bool partial_columns = false;  // a condition on them
  bool bounded_columns = false;  // one that depends on the block of rows: a causal mask
  bool skips_chunks = false;     // those above a diagonal: about half
  double visited = 1;            // the share of chunks and columns that are in the domain

  const Statement& statement(StatementId id) const { return compute->statements[id]; }
  std::optional<VarId> IteratorOf(StatementId id, int dimension) const {
    return shared.IteratorOf(id, dimension);
  }
  /// What the loops over the dimension are called behind their statement once all have joined those
  /// of the first product: as it calls its iterator, else as the first statement that has one (`e`,
  /// or `e_` where the first product's rows or columns are called `e`).
  std::string NameOf(int dimension) const;
};

/// The plan for a Compute of that form.
std::optional<StreamPlan> MakeStreamPlan(const NamedCompute& lowering);

}  // namespace tunec
