// Index arithmetic of the emitter. An index is stored as a linear form over live values and the
// lane. Unrolled iterations then often differ in a constant alone, which becomes the displacement
// of a memory operand. Uniform address parts that do not change in a loop are computed before the
// loop. For this purpose, every live value has a scope. Sums are built from the outermost scope
// inwards, and each part is cached in the scope where the part is computed.
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

/// A linear form: constant + sum of factor * value + lane_factor * lane + per_lane. IndexEmitter
/// numbers the values; the terms are sorted by these numbers.
struct LinearIndex {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;
  int64_t lane_factor = 0;
  IrValue per_lane = nullptr;  // a vector of i64, or null

  bool IsConstant() const { return terms.empty() && IsUniform(); }
  /// Returns whether the index is known to be the same in every lane.
  bool IsUniform() const { return lane_factor == 0 && per_lane == nullptr; }
};

class IndexEmitter {
 public:
  explicit IndexEmitter(Builder& builder) : builder_(builder) {}

  // --- scopes, such as the body of an emitted loop or of a condition ---
  /// Begins a function, with one scope and no values.
  void Reset();
  /// Enters a scope. `before` is the finished block that leads into the scope; the block belongs to
  /// the enclosing scope.
  void Enter(IrBlock before);
  void Leave();
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  /// Returns the block at whose end code of scope `depth` is inserted; nullptr if the builder
  /// already inserts there.
  IrBlock EndOf(int depth) const;

  // --- variables ---
  /// Creates a live value in the current scope. The value must be within `interval` and a multiple
  /// of `multiple`.
  LinearIndex NewValue(IrValue value, Interval interval, int64_t multiple = 1);
  void Bind(VarId variable, LinearIndex value);
  const LinearIndex& ValueOf(VarId variable) const;
  Interval IntervalOfVar(VarId variable) const;
  /// Sets the values of the current store's reads so far, as scalars or vectors of i64. The entries
  /// of floats are not used.
  void SetLoaded(std::vector<std::pair<IrValue, Interval>> loaded) { loaded_ = std::move(loaded); }
  /// Sets the number of lanes of the code that is being emitted; 1 for scalar code.
  void SetLanes(int lanes) { lanes_ = lanes; }
  int lanes() const { return lanes_; }

  // --- evaluation ---
  LinearIndex Evaluate(const IndexExpr& expr);
  LinearIndex Sum(const LinearIndex& a, const LinearIndex& b, int64_t factor_of_b = 1);
  LinearIndex Scaled(const LinearIndex& a, int64_t factor);
  /// Returns an interval that contains the index in all lanes.
  Interval Bounds(const LinearIndex& index) const;
  /// Returns bounds of `value`, the value of `expr`. The structure of `expr` may narrow the bounds.
  Interval Bounds(const IndexExpr& expr, const LinearIndex& value) const;
  /// Returns the greatest known divisor of lane 0's value (0 for the constant 0).
  int64_t Multiple(const LinearIndex& index) const;

  /// Emits a uniform index as i64.
  IrValue Scalar(const LinearIndex& index);
  /// Emits any index as a vector of `element` (i32 or i64) over the lanes.
  IrValue Vector(const LinearIndex& index, Element element);
  /// Emits only the part that differs between lanes: lane_factor * lane + per_lane, i64. The index
  /// must not be uniform.
  IrValue LanePart(const LinearIndex& index);
  /// Emits pointer + scale * (uniform part of index), in bytes.
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
    std::map<std::pair<IrValue, Terms>, IrValue> sums;  // keyed by pointer (or null) and terms
    std::map<std::tuple<Terms, int64_t, int64_t>, LinearIndex> divisions;
  };
  /// Emits start + scale * (sum of the terms); `start` may be null. Each term is added in the scope
  /// of its value.
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
