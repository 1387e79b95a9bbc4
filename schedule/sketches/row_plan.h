// Statements that share outer iterators and process rows one after the other, with reductions along
// the row. The plan does not depend on the machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

/// The role of one statement.
struct RowStatement {
  std::string name;
  bool reduces = false;
  bool split = false;  // the reduction is split by lanes; one of several values (argmax) runs in
                       // order
  bool reorderable = false;  // the reduction is reorderable
  /// The iterator along the row; none for one scalar per row.
  std::optional<VarId> walks;
  /// Name of the iterator. For a reduction that is not split: the suffix of its loop's name after
  /// joining the others.
  std::string along;
  int64_t length = 1;  // length of the row
};

/// The statements of a Compute that process rows.
struct RowPlan {
  std::string lowering;
  std::shared_ptr<const Compute> compute;
  std::vector<RowStatement> statements;
  std::string pivot;                   // the first reduction; the other statements join its row
                                       // loop
  std::vector<std::string> row_loops;  // loops of the pivot, outermost first
  std::vector<int64_t> row_extents;
  std::vector<std::pair<std::string, bool>> staged;  // tensor, and true if it is a row buffer
};

/// The method of reducing a row.
enum class RowReductions {
  kSplit,  // into one partial result per lane, if possible
  kWhole,  // in the written order
};

/// Returns nothing if the statements do not process rows.
std::optional<RowPlan> MakeRowPlan(const NamedCompute& lowering, RowReductions reductions);

/// Returns the statements that the schedule makes of one, in the order in which they join the row
/// loop.
std::vector<std::string> PartsOf(const RowStatement& statement);
/// Returns the statement whose loops are the rows.
std::string PivotOf(const RowPlan& plan);

/// Returns the names of each statement's loops after the parts have joined a loop of the first
/// part, in this order. A joining part gets copies of the loops of the most closely related
/// statement, with their names.
std::map<std::string, IdVector<VarId, std::string>> JoinedLoopNames(
    const Compute& compute, const std::vector<std::string>& parts);

/// Checks that a row has several elements of the tensor, a workspace of the plan. Axes of one
/// element are ignored: a scalar per row may be `f32[1, 128, 1]`.
bool HasElementsOfRow(const RowPlan& plan, const Tensor& tensor);

/// Return the number of rows, and the elements of the longest walk along one.
int64_t CountRows(const RowPlan& plan);
int64_t LongestRow(const RowPlan& plan);

}  // namespace tunec
