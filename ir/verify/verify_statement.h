// The checks that Compute's and LoopNest's verifiers share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/text/print_statement.h"

namespace tunec {

/// Tensors have different names, countable shapes, matching layouts and valid aliases.
Status VerifyTensors(const Tensors& tensors);

/// What is known where an assignment stands.
struct VerifyContext {
  const Tensors& tensors;
  std::function<bool(VarId)> in_scope;
  IntervalOf intervals;
  /// Whether every point of the box of intervals is executed, so that an index that leaves
  /// its tensor anywhere in the box is certainly wrong.
  std::function<bool(VarId)> exact;
  bool whole_box = true;
};

/// Variables are in scope; loaded slots are below `slots`.
Status VerifyIndex(const IndexExpr& index, const VerifyContext& context, size_t slots);
/// The tensor exists, the rank matches, the index may lie inside.
Status VerifyAccess(TensorId tensor, const std::vector<IndexExpr>& index,
                    const VerifyContext& context, size_t slots, bool guarded);
/// A read's access and its guard.
Status VerifyRead(const Read& read, const VerifyContext& context, size_t slots);
/// Every invariant of an assignment listed in verify.cc.
Status VerifyAssignment(const Assignment& assignment, const VerifyContext& context);

}  // namespace tunec
