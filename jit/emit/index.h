// Index arithmetic of the emitter. An index is kept as a linear form over live values plus a
// constant, so that unrolled iterations differ in the constant alone, which becomes the
// displacement of a memory operand. Parts of an address that do not change in a loop are computed
// before it (LLVM's loop passes do not run): every live value knows the scope it lives in, and
// sums are built from the outermost scope inwards, each part cached where it is computed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/expr/index_expr.h"
#include "jit/builder/builder.h"

namespace tunec::jit {

/// constant + sum of factor * value + lane_factor * lane + per_lane. Values are numbers that
/// IndexEmitter hands out; terms are sorted by them.
struct LinearIndex {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;
  int64_t lane_factor = 0;
  IrValue per_lane = nullptr;  // a vector of i64, or none

  bool IsConstant() const { return terms.empty() && IsUniform(); }
  /// The same in every lane.
  bool IsUniform() const { return lane_factor == 0 && per_lane == nullptr; }
};

class IndexEmitter {
 public:
  explicit IndexEmitter(Builder& builder) : builder_(builder) {}

  // --- scopes: a loop body or a conditional body each ---
  /// Begins a function: one scope, no values.
  void Reset();
  /// Enters a scope. `before` is the finished block that leads into it and belongs to the scope
  /// around it.
  void Enter(IrBlock before);
  void Leave();
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  /// The block at whose end code of scope `depth` goes; nullptr when that is where we are.
  IrBlock EndOf(int depth) const;

  // --- variables ---
  /// A new live value of the current scope; all it can be lies in `interval`, and it is a
  /// multiple of `multiple`.
  LinearIndex NewValue(IrValue value, Interval interval, int64_t multiple = 1);
  void Bind(VarId variable, LinearIndex value);
  const LinearIndex& ValueOf(VarId variable) const;
  Interval IntervalOfVar(VarId variable) const;
  /// The values of the reads made so far by the store being emitted: scalars or vectors of i64.
  void SetLoaded(std::vector<std::pair<IrValue, Interval>> loaded) { loaded_ = std::move(loaded); }
  /// The lanes of the vector loop being emitted, 1 outside.
  void SetLanes(int lanes) { lanes_ = lanes; }
  int lanes() const { return lanes_; }

  // --- evaluation ---
  LinearIndex Evaluate(const IndexExpr& expr);
  LinearIndex Sum(const LinearIndex& a, const LinearIndex& b, int64_t factor_of_b = 1);
  LinearIndex Scaled(const LinearIndex& a, int64_t factor);
  /// Every value of it, over all lanes.
  Interval Bounds(const LinearIndex& index) const;
  /// Tighter: also uses the expression's own structure.
  Interval Bounds(const IndexExpr& expr, const LinearIndex& value) const;
  /// The greatest known divisor of lane 0's value (0 for the constant 0).
  int64_t Multiple(const LinearIndex& index) const;

  /// A uniform index as i64.
  IrValue Scalar(const LinearIndex& index);
  /// Any index as a vector of `element` (i32 or i64) over the lanes.
  IrValue Vector(const LinearIndex& index, Element element);
  /// Only what differs between lanes: lane_factor * lane + per_lane, i64; for non-uniform ones.
  IrValue LanePart(const LinearIndex& index);
  /// pointer + scale * (uniform part of index), in bytes.
  IrValue Address(IrValue pointer, const LinearIndex& index, int64_t scale);

 private:
  struct LiveValue {
    IrValue value;
    Interval interval;
    int64_t multiple;
    int depth;
  };
  using Terms = std::vector<std::pair<int, int64_t>>;
  struct Scope {
    IrBlock before = nullptr;
    std::map<std::pair<IrValue, Terms>, IrValue> sums;  // pointer (or none) + terms
    std::map<std::tuple<Terms, int64_t, int64_t>, LinearIndex> divisions;
  };
  /// Sum of the terms, on top of `start` when given, each part in its own scope.
  IrValue SumOfTerms(IrValue start, const Terms& terms, int64_t scale);
  IrValue AddTerms(IrValue start, const Terms& terms, int depth);
  LinearIndex FloorDivide(const LinearIndex& numerator, int64_t divisor);
  LinearIndex DivideUniform(const LinearIndex& numerator, int64_t divisor);
  LinearIndex DivideLanes(const LinearIndex& numerator, int64_t divisor);
  LinearIndex LoadedValue(int slot);
  int DepthOf(const LinearIndex& index) const;
  Builder& builder_;
  std::vector<Scope> scopes_;
  std::vector<LiveValue> values_;
  std::map<VarId, LinearIndex> bindings_;
  std::vector<std::pair<IrValue, Interval>> loaded_;
  int lanes_ = 1;
};

}  // namespace tunec::jit
