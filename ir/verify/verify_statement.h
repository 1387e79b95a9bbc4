// The checks that the verifiers of Compute and LoopNest share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/text/print_statement.h"

namespace tunec {

/// Checks the invariants of tensors listed in verify.cc.
Status VerifyTensors(const Tensors& tensors);

/// The tensors and variables that an assignment may use, with the properties of the variables.
struct VerifyContext {
  const Tensors& tensors;
  std::function<bool(VarId)> in_scope;
  IntervalOf intervals;
  /// `exact` returns whether the variable takes every value of its interval. `visits_every_point`
  /// is true if the assignment runs for each combination of values of exact variables. An index of
  /// exact variables that leaves its tensor for some combination is then certainly an error.
  std::function<bool(VarId)> exact;
  bool visits_every_point = true;
};

/// Checks that variables are in scope and that the index uses only loaded slots below `slots`.
Status VerifyIndex(const IndexExpr& index, const VerifyContext& context, size_t slots);
/// Checks that the tensor exists and the rank matches, and checks each index by VerifyIndex. Also
/// rejects an index that is certainly outside the tensor, unless `guarded`.
Status VerifyAccess(TensorId tensor, const std::vector<IndexExpr>& index,
                    const VerifyContext& context, size_t slots, bool guarded);
/// Checks a read's access and its guard.
Status VerifyRead(const Read& read, const VerifyContext& context, size_t slots);
/// Checks every invariant of an assignment listed in verify.cc.
Status VerifyAssignment(const Assignment& assignment, const VerifyContext& context);

}  // namespace tunec
