// Where what a statement reads is 0, and whether its value is 0 then: what `pad` asks before it
// lets a statement run where it did not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Whether the statement's writes are the planes of the tensor, by its first dimension, and alike
/// in the others.
bool WritesPlanes(const Statement& statement, const Tensor& tensor);

/// The conditions of a read's guard; none without one.
std::vector<IndexExpr> ConditionsOf(const Read& read);

/// Conditions that all hold exactly where the index is inside of the shape. Those that the box
/// proves are left out.
std::vector<IndexExpr> InsideOf(const std::vector<IndexExpr>& index,
                                const std::vector<int64_t>& shape, const IntervalOf& box);

/// What a statement's read finds: elements of a tensor, and 0 outside of it. Where the read is of a
/// copy that the Compute makes, these are the elements of the copy's source.
struct ReadOperand {
  std::vector<IndexExpr> index;  // over the statement's iterators
  std::vector<int64_t> shape;
  std::vector<IndexExpr> conditions;  // of the copy itself: 0 where one fails
  std::optional<StatementId> copy;    // which makes the copy and nothing else

  /// All of which hold where the operand may be other than 0. The reader's guard is not among them.
  std::vector<IndexExpr> NonZeroConditions() const;
};

/// A copy is workspace that one statement writes, each element from one of another tensor, as 0
/// where that is 0: what `pack`, `copy` and `widen` make, and `precision`. A guard of its own has
/// the value 0. Copies of windows end where the tensor does: what is beyond, which nobody reads
/// yet, counts as 0.
ReadOperand OperandOf(const Compute& compute, const Read& read);

/// Whether one of `conditions` fails wherever `condition` does.
bool FailWith(const std::vector<IndexExpr>& conditions, const IndexExpr& condition,
              const IntervalOf& box);

/// What is known of the operands that are not 0.
enum class OtherOperands : uint8_t { kAnything, kFinite };

/// Whether an expression is 0 where these reads are, by slot.
bool IsZero(const Expr& expr, const std::vector<bool>& zero_reads, OtherOperands others);

}  // namespace tunec
