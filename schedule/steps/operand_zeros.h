// Analysis of the positions where a statement's operands are 0, and of the statement's value there.
// `pad` depends on it before it adds instances to a statement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Checks that the statement writes the planes of the tensor, by its first dimension, with equal
/// indices in the other dimensions.
bool WritesPlanes(const Statement& statement, const Tensor& tensor);

/// Returns the conditions of a read's guard; empty without a guard.
std::vector<IndexExpr> ConditionsOf(const Read& read);

/// Returns conditions that all hold exactly if the index is inside the shape. Omits conditions that
/// `box` proves.
std::vector<IndexExpr> InsideOf(const std::vector<IndexExpr>& index,
                                const std::vector<int64_t>& shape, const IntervalOf& box);

/// The operand of a statement's read: elements of a tensor, and 0 outside of it. If the Compute
/// makes the read tensor as a copy, the elements are those of the copy's source.
struct ReadOperand {
  std::vector<IndexExpr> index;  // over the statement's iterators
  std::vector<int64_t> shape;
  std::vector<IndexExpr> conditions;  // conditions of the copy: the element is 0 if one fails
  std::optional<StatementId> copy;    // the statement that makes only this copy

  /// Returns conditions that all hold wherever the operand may be nonzero. The reader's guard is
  /// not included.
  std::vector<IndexExpr> NonZeroConditions() const;
};

/// Returns the operand of a read. A copy is workspace written by one statement, each element from
/// one element of another tensor, with 0 copied as 0. `pack`, `copy`, `widen` and `precision` make
/// such copies. A guard of a copy has the value 0. Copies of windows end where the tensor ends:
/// elements beyond count as 0, because no statement reads them yet.
ReadOperand OperandOf(const Compute& compute, const Read& read);

/// Checks that one of `conditions` fails wherever `condition` fails.
bool FailWith(const std::vector<IndexExpr>& conditions, const IndexExpr& condition,
              const IntervalOf& box);

/// The known facts about the operands that are not 0.
enum class OtherOperands : uint8_t { kAnything, kFinite };

/// Checks that an expression is 0 if these reads, by slot, are 0.
bool IsZero(const Expr& expr, const std::vector<bool>& zero_reads, OtherOperands others);

}  // namespace tunec
