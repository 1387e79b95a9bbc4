// Statements that share outer iterators and walk one row after the other, with reductions along the
// row: what sketches for them know of a Compute, for any machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

/// How one statement takes part.
struct RowStatement {
  std::string name;
  bool reduces = false;
  bool split = false;  // the reduction: by lanes. Of several values at once (argmax): in order
  bool reorderable = false;  // the reduction
  /// The iterator that walks the row; none: a scalar per row.
  std::optional<VarId> walks;
  /// What it is called; of one that is not split, what its loop is called behind the statement once
  /// it has joined the others.
  std::string along;
  int64_t length = 1;  // of the row
};

/// All of them.
struct RowPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  std::vector<RowStatement> statements;
  std::string pivot;                   // the first reduction: the others join its row loop
  std::vector<std::string> row_loops;  // of the pivot, outermost first
  std::vector<int64_t> row_extents;
  std::vector<std::pair<std::string, bool>> staged;  // tensor, and whether it is a row buffer
};

/// How a row is reduced.
enum class RowReductions {
  kSplit,  // into partial results, one for each lane, wherever that is possible
  kWhole,  // as written
};

/// None where the statements are no rows.
std::optional<RowPlan> MakeRowPlan(const NamedCompute& lowering, RowReductions reductions);

/// The statements that the schedule makes of one, in the order in which they join the row loop.
std::vector<std::string> PartsOf(const RowStatement& statement);
/// The statement whose loops are the rows.
std::string PivotOf(const RowPlan& plan);

/// What the loops of each statement are called once the parts have joined a loop of the first one
/// of them, in this order: what joins gets copies of the loops of the statement there that is
/// related most, by their names.
std::map<std::string, IdVector<VarId, std::string>> JoinedLoopNames(
    const Compute& compute, const std::vector<std::string>& parts);

/// Returns whether a row has several elements of the tensor, which is a workspace of the plan. Axes
/// of one element do not count: a scalar of each row may be `f32[1, 128, 1]`.
bool HasElementsOfRow(const RowPlan& plan, const Tensor& tensor);

/// Rows that there are, and elements of the longest walk along one.
int64_t CountRows(const RowPlan& plan);
int64_t LongestRow(const RowPlan& plan);

}  // namespace tunec
