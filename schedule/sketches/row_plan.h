// The plan for statements that share outer iterators, which are the rows. For each row the
// statements run in turn, with reductions along the row. The plan does not depend on the target.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

/// A statement of a RowPlan, and how it processes a row.
struct RowStatement {
  std::string name;
  bool reduces = false;
  bool split = false;        // the schedule splits the reduction by lanes
  bool reorderable = false;  // the reduction is reorderable
  /// The contiguous iterator along the row. Empty for a statement without one, such as a statement
  /// with one value per row.
  std::optional<VarId> walks;
  /// For a split reduction: the name of the iterator `walks`. For any other statement with `walks`:
  /// the name of its loop, without the statement's name. Joining the row loop may change this name.
  std::string along;
  int64_t length = 1;  // number of iterations along the row
};

/// The plan of a Compute whose statements process rows.
struct RowPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  std::vector<RowStatement> statements;
  std::string pivot;  // the first reduction; the other statements join its loops over rows
  std::vector<std::string> row_loops;  // names of the pivot's iterators over rows, outermost first
  std::vector<int64_t> row_extents;
  std::vector<std::pair<std::string, bool>> staged;  // tensor; true for a buffer of a row
};

/// The way in which a row is reduced.
enum class RowReductions {
  kSplit,  // into one partial result per lane, if the reduction allows it
  kWhole,  // without partial results
};

/// Returns the plan. Returns nothing without a reduction, or if some statement does not fit.
std::optional<RowPlan> MakeRowPlan(const NamedCompute& lowering, RowReductions reductions);

/// Returns the names of the statements that the schedule makes of this statement, in the order in
/// which they join the row loop.
std::vector<std::string> PartsOf(const RowStatement& statement);
/// Returns the name of the statement whose loops over rows the other statements join.
std::string PivotOf(const RowPlan& plan);

/// Returns the names of each statement's loops after the `parts` have joined a loop of the first
/// part, one after the other. A joining part takes the names of corresponding loops from the most
/// closely related part that joined before.
std::map<std::string, IdVector<VarId, std::string>> JoinedLoopNames(
    const Compute& compute, const std::vector<std::string>& parts);

/// Checks that a row has several elements of the tensor, a workspace of the plan. Dimensions of one
/// element are ignored, because a scalar per row may be `f32[1, 128, 1]`.
bool HasElementsOfRow(const RowPlan& plan, const Tensor& tensor);

/// Return the number of rows, and the largest number of iterations of a statement along a row.
int64_t CountRows(const RowPlan& plan);
int64_t LongestRow(const RowPlan& plan);

}  // namespace tunec
