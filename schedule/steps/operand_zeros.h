// Analysis of the instances in which operands of a statement are 0, and of the statement's value in
// these instances. `pad` uses the analysis before the step adds instances to a statement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// Checks that write p of the statement is to plane p of the tensor, for all planes. The planes are
/// numbered by the first dimension. The other indices must be equal for all planes.
bool WritesPlanes(const Statement& statement, const Tensor& tensor);

/// Returns the conditions of a read's guard; empty without a guard.
std::vector<IndexExpr> ConditionsOf(const Read& read);

/// Returns conditions that all hold exactly if the index is inside the shape. Omits conditions that
/// always hold for iterators in `intervals`.
std::vector<IndexExpr> ConditionsInside(const std::vector<IndexExpr>& index,
                                        const std::vector<int64_t>& shape,
                                        const IntervalOf& intervals);

/// The operand that a statement reads: elements of a tensor, and 0 outside of the tensor. If the
/// read tensor is a copy made by the Compute, the elements are those of the copy's source.
struct ReadOperand {
  std::vector<IndexExpr> index;  // over the statement's iterators
  std::vector<int64_t> shape;
  std::vector<IndexExpr> conditions;  // conditions of the copy: the element is 0 if one fails
  std::optional<StatementId> copy;    // statement that makes the read copy, if there is one

  /// Returns conditions that all hold wherever the operand may be nonzero, apart from those of the
  /// reader's guard.
  std::vector<IndexExpr> NonZeroConditions() const;
};

/// Returns the operand of a read. A copy is workspace that only one statement writes, each element
/// from one element of another tensor, with 0 copied as 0. `pack`, `copy`, `widen` and `precision`
/// make such copies. A guard of the copy has the value 0. Elements of a copied window outside of
/// the source count as 0, because no statement reads them yet.
ReadOperand OperandOf(const Compute& compute, const Read& read);

/// Checks that one of `conditions` fails wherever `condition` fails.
bool CoverFailures(const std::vector<IndexExpr>& conditions, const IndexExpr& condition,
                   const IntervalOf& intervals);

/// The assumption about the operands that are not known to be 0.
enum class OtherOperands : uint8_t { kAnything, kFinite };

/// Checks that an expression is 0 if the reads with a true flag in `zero_reads` are 0. There is a
/// flag for each slot.
bool IsZero(const Expr& expr, const std::vector<bool>& zero_reads, OtherOperands others);

}  // namespace tunec
