// The emission of vector loops. A loop runs in chunks of lanes, and statements compute whole
// vectors. A chunk that may exceed the loop's end has a mask, which is constant if the number of
// iterations is constant.
#include <algorithm>

#include "ir/nest/visit_loop_nest.h"
#include "jit/emit/state.h"
#include "jit/scalar_code.h"

namespace tunec::jit {
namespace {

class VectorLoop {
 public:
  VectorLoop(EmitState& state, const Loop& loop)
      : state_(state), loop_(loop), plan_(state.analysis.vector_loops.at(&loop)) {}

  Status Emit() {
    if (state_.lanes.width != 1)
      return Fail(ErrorCode::kUnsupported, "vector loop {} is inside another vector loop",
                  state_.nest.variables[loop_.var]);
    lower_ = EmitGreatest(state_, loop_.lower);
    extent_ = ExtentFrom(state_, lower_, loop_.upper);
    upper_ = state_.index.Sum(lower_, extent_);
    length_ = state_.index.Bounds(extent_);
    length_.hi = std::min(length_.hi, plan_.most_iterations);
    if (length_.hi <= 0) return {};
    if (length_.lo > 0) return EmitNonEmpty();
    const Condition runs =
        EmitNonNegative(state_, Plus(extent_, -1), {length_.lo - 1, length_.hi - 1});
    return EmitWhen(state_, runs.value, [&] { return EmitNonEmpty(); });
  }

 private:
  static LinearIndex Plus(LinearIndex index, int64_t constant) {
    index.constant += constant;
    return index;
  }

  Status EmitNonEmpty() {
    const int copies =
        plan_.unrolled ? static_cast<int>(CeilDivide(length_.hi, plan_.lanes)) : CopiesPerTrip();
    BeginLaneReductions(state_, loop_, plan_.lanes, copies);
    TUNEC_RETURN_IF_ERROR(plan_.unrolled ? EmitUnrolledChunks() : EmitChunkLoops(copies));
    return EndLaneReductions(state_, loop_, plan_.lanes);
  }

  /// Emits one chunk from `base`. `left` is the number of iterations from `base` to the end; any
  /// number of at least plan_.lanes means a whole chunk.
  Status EmitChunk(const LinearIndex& base, const LinearIndex& left, Interval left_bounds,
                   int copy) {
    if (left_bounds.hi <= 0) return {};
    LaneContext lanes;
    lanes.width = plan_.lanes;
    lanes.var = loop_.var;
    lanes.copy = copy;
    state_.index.SetLanes(plan_.lanes);
    if (left_bounds.lo < plan_.lanes) {
      if (left_bounds.lo == left_bounds.hi) {
        lanes.active = static_cast<int>(left_bounds.lo);
        lanes.mask = state_.builder.MaskOfFirst(lanes.active, plan_.lanes);
      } else {
        LinearIndex inside = Plus(left, -1);  // left - 1 - lane >= 0
        inside.lane_factor = -1;
        lanes.mask =
            EmitNonNegative(state_, inside, {left_bounds.lo - plan_.lanes, left_bounds.hi - 1})
                .value;
      }
    }
    LinearIndex variable = base;
    variable.lane_factor = 1;
    state_.index.Bind(loop_.var, variable);
    state_.lanes = lanes;
    const Status status = EmitBody(state_, loop_.body);
    state_.lanes = LaneContext{};
    state_.index.SetLanes(1);
    return status;
  }

  Status EmitUnrolledChunks() {
    const int64_t chunks = CeilDivide(length_.hi, plan_.lanes);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t done = chunk * plan_.lanes;
      TUNEC_RETURN_IF_ERROR(EmitChunk(Plus(lower_, done), Plus(extent_, -done),
                                      {length_.lo - done, length_.hi - done},
                                      static_cast<int>(chunk)));
    }
    return {};
  }

  /// Emits whole chunks, which need no mask.
  Status EmitWhole(const LinearIndex& base, int copies) {
    for (int copy = 0; copy < copies; ++copy) {
      LinearIndex left;
      left.constant = plan_.lanes;
      TUNEC_RETURN_IF_ERROR(EmitChunk(Plus(base, int64_t{copy} * plan_.lanes), left,
                                      {plan_.lanes, plan_.lanes}, copy));
    }
    return {};
  }

  /// Returns the end of the last whole step from `from`: from + floor(l / step) * step, where l is
  /// max(upper - from, 0).
  LinearIndex WholeEnd(const LinearIndex& from, int64_t step) {
    const LinearIndex left = state_.index.Sum(upper_, from, -1);
    if (left.IsConstant())
      return Plus(from, FloorDivide(std::max<int64_t>(left.constant, 0), step) * step);
    Builder& b = state_.builder;
    const Interval bounds = state_.index.Bounds(left);
    const IrValue length = b.SMax(state_.index.Scalar(left), b.I64(0));
    const IrValue whole = b.Sub(length, b.URem(length, b.I64(step)));
    return state_.index.Sum(
        from, state_.index.NewValue(whole, {0, std::max<int64_t>(bounds.hi, 0)}, step));
  }

  Status EmitChunkLoops(int copies) {
    const int64_t lanes = plan_.lanes;
    LinearIndex at = lower_;
    if (copies > 1) {
      const LinearIndex end = WholeEnd(at, lanes * copies);
      TUNEC_RETURN_IF_ERROR(
          EmitCountedLoop(state_, at, end, lanes * copies,
                          [&](const LinearIndex& base) { return EmitWhole(base, copies); }));
      at = end;
    }
    const LinearIndex end = WholeEnd(at, lanes);
    TUNEC_RETURN_IF_ERROR(EmitCountedLoop(
        state_, at, end, lanes, [&](const LinearIndex& base) { return EmitWhole(base, 1); }));
    const LinearIndex left = state_.index.Sum(upper_, end, -1);
    if (left.IsConstant()) return EmitChunk(end, left, {left.constant, left.constant}, 0);
    const Interval bounds{0, lanes - 1};
    const Condition some = EmitNonNegative(state_, Plus(left, -1), {-1, lanes - 2});
    return EmitWhen(state_, some.value, [&] { return EmitChunk(end, left, {1, bounds.hi}, 0); });
  }

  /// Returns the number of chunks per trip. Small bodies and reductions gain from several chunks in
  /// flight; large bodies already use all execution units.
  int CopiesPerTrip() const {
    int operations = 0;
    bool inner_loops = false;
    bool reduces = false;
    VisitNodes(loop_.body, [&](const NestNode& node) {
      inner_loops |= std::holds_alternative<Loop>(node.value);
      const auto* store = std::get_if<Store>(&node.value);
      if (store == nullptr) return;
      reduces |= store->reducer.has_value();
      for (const Expr& value : store->values)
        Visit(value, [&](const Expr& expr) { operations += Cost(expr); });
    });
    if (inner_loops) return 1;
    if (operations <= 8) return 4;
    return reduces || operations <= 40 ? 2 : 1;
  }

  static int Cost(const Expr& expr) {
    return expr.kind() == ExprKind::kApply ? CodeOf(expr.node().op).operations : 0;
  }

  EmitState& state_;
  const Loop& loop_;
  const VectorPlan& plan_;
  LinearIndex lower_;
  LinearIndex upper_;
  LinearIndex extent_;
  Interval length_;
};

}  // namespace

Status EmitVectorLoop(EmitState& state, const Loop& loop) {
  if (state.analysis.vector_loops.at(&loop).lanes > 1) return VectorLoop(state, loop).Emit();
  // At most one iteration runs, so no loop is emitted: register tensors need a constant index.
  const LinearIndex lower = EmitGreatest(state, loop.lower);
  LinearIndex last = ExtentFrom(state, lower, loop.upper);
  last.constant -= 1;
  const Condition runs = EmitNonNegative(state, last, state.index.Bounds(last));
  const auto once = [&] {
    state.index.Bind(loop.var, lower);
    return EmitBody(state, loop.body);
  };
  if (runs.kind == Condition::Kind::kNever) return {};
  if (runs.kind == Condition::Kind::kAlways) return once();
  return EmitWhen(state, runs.value, once);
}

}  // namespace tunec::jit
