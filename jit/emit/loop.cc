#include <algorithm>
#include <numeric>

#include "ir/tile_intrinsic.h"
#include "jit/emit/state.h"

namespace tunec::jit {
namespace {

Error Unbounded(const EmitState& state, const Loop& loop) {
  return MakeError(ErrorCode::kUnsupported, "unrolled loop {} has bounds that are not constant",
                   state.nest.variables[loop.var]);
}

/// Emits one copy of the loop's body, for one value of its variable.
Status EmitCopy(EmitState& state, const Loop& loop, const LinearIndex& value) {
  state.index.Bind(loop.var, value);
  return EmitBody(state, loop.body);
}

/// Emits a copy of the body of a loop whose copies all run. A read in this copy may also load the
/// elements that the next copies read.
Status EmitCertainCopy(EmitState& state, const Loop& loop, const LinearIndex& value, int64_t end) {
  state.unrolled.push_back(
      {.var = loop.var, .at = value.constant, .end = end, .depth = state.index.depth()});
  const Status status = EmitCopy(state, loop, value);
  state.unrolled.pop_back();
  return status;
}

/// Starts a new basic block without cached loads. LLVM schedules within a block and groups loads of
/// neighbouring addresses. Over several copies of a register tile's step, the grouped loads need
/// too many registers. Caching one copy's loads for the next copy costs registers too, for example
/// where the windows of a convolution overlap.
void StartBlock(EmitState& state) {
  state.loads.clear();
  const IrBlock next = state.builder.NewBlock("copy");
  state.builder.Branch(next);
  state.builder.SetBlock(next);
}

/// Returns whether the body is one tile without rows that one thread executes: a single vector
/// instruction.
bool IsVectorTile(const Body& body) {
  const auto* tile = body.size() == 1 ? std::get_if<Tile>(&body.front().value) : nullptr;
  const TileIntrinsic* intrinsic = tile ? FindTileIntrinsic(tile->intrinsic) : nullptr;
  return intrinsic != nullptr && !intrinsic->IsOfWarp() && intrinsic->Extent(TileAxis::kRow) == 1;
}

/// Returns whether the body contains an unrolled loop outside of allocs. A copy of such a body may
/// be a whole step of a register tile. A loop over the vector tiles of one row does not count,
/// because these tiles use values that other rows have loaded.
bool HoldsUnrolled(const Body& body) {
  return std::ranges::any_of(body, [](const NestNode& node) {
    if (const auto* choice = std::get_if<If>(&node.value)) return HoldsUnrolled(choice->body);
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr || IsVectorTile(loop->body)) return false;
    return loop->kind == LoopKind::kUnrolled || HoldsUnrolled(loop->body);
  });
}

/// Returns an interval of the loop's variable. Each bound holds by itself, so a constant bound
/// narrows the interval even if other bounds are wider.
Interval ValuesOf(EmitState& state, const Loop& loop) {
  const auto bounds = [&](const IndexExpr& bound) {
    return state.index.Bounds(bound, state.index.Evaluate(bound));
  };
  Interval values{-kUnbounded, kUnbounded};
  for (const IndexExpr& bound : loop.lower) values.lo = std::max(values.lo, bounds(bound).lo);
  for (const IndexExpr& bound : loop.upper) values.hi = std::min(values.hi, bounds(bound).hi - 1);
  return values;
}

/// Emits a copy of the body for each possible value of the variable. A copy that does not always
/// run has a condition. Fails with kUnsupported if there are too many values.
Status EmitUnrolled(EmitState& state, const Loop& loop) {
  const LinearIndex lower = EmitGreatest(state, loop.lower);
  const LinearIndex upper = state.index.Sum(lower, ExtentFrom(state, lower, loop.upper));
  const Interval from = state.index.Bounds(lower);
  const Interval to = state.index.Bounds(upper);
  const Interval values = ValuesOf(state, loop);
  constexpr int64_t kMostCopies = 4096;
  if (values.hi - values.lo >= kMostCopies) return std::unexpected(Unbounded(state, loop));
  const bool separate = HoldsUnrolled(loop.body);
  const bool certain = from.lo == from.hi && to.lo == to.hi && !separate;
  for (int64_t i = values.lo; i <= values.hi; ++i) {
    LinearIndex value;
    value.constant = i;
    const LinearIndex above = state.index.Sum(value, lower, -1);  // i - lower >= 0
    LinearIndex below = state.index.Sum(upper, value, -1);        // upper - 1 - i >= 0
    below.constant -= 1;
    const Condition a = EmitNonNegative(state, above, state.index.Bounds(above));
    const Condition b = EmitNonNegative(state, below, state.index.Bounds(below));
    if (a.kind == Condition::Kind::kNever || b.kind == Condition::Kind::kNever) continue;
    IrValue condition = a.value;
    if (b.value != nullptr)
      condition = condition == nullptr ? b.value : state.builder.And(condition, b.value);
    if (separate && i > values.lo) StartBlock(state);
    if (condition == nullptr) {
      TUNEC_RETURN_IF_ERROR(certain ? EmitCertainCopy(state, loop, value, to.hi)
                                    : EmitCopy(state, loop, value));
    } else {
      TUNEC_RETURN_IF_ERROR(
          EmitWhen(state, condition, [&] { return EmitCopy(state, loop, value); }));
    }
  }
  return {};
}

LinearIndex Plus(LinearIndex index, int64_t constant) {
  index.constant += constant;
  return index;
}

/// Emits a loop of `unroll` copies, then a loop of single iterations for the remainder. A loop that
/// certainly has no iterations is omitted.
Status EmitSerial(EmitState& state, const Loop& loop) {
  const LinearIndex lower = EmitGreatest(state, loop.lower);
  const LinearIndex extent = ExtentFrom(state, lower, loop.upper);
  const LinearIndex upper = state.index.Sum(lower, extent);
  if (!lower.IsUniform() || !upper.IsUniform())
    return Fail(ErrorCode::kUnsupported,
                "loop {} in a vector loop has bounds that differ between lanes",
                state.nest.variables[loop.var]);
  const int64_t unroll = std::max(loop.unroll, 1);
  const auto copies = [&](int64_t count) {
    return [&state, &loop, count](const LinearIndex& first) -> Status {
      for (int64_t copy = 0; copy < count; ++copy) {
        if (copy > 0) StartBlock(state);
        TUNEC_RETURN_IF_ERROR(EmitCopy(state, loop, Plus(first, copy)));
      }
      return {};
    };
  };
  if (extent.IsConstant()) {
    const int64_t trips = std::max<int64_t>(extent.constant, 0);
    const int64_t whole = trips / unroll * unroll;
    const int64_t left = trips - whole;
    if (whole > 0)
      TUNEC_RETURN_IF_ERROR(
          EmitCountedLoop(state, lower, Plus(lower, whole), unroll, copies(unroll)));
    if (left > 0)
      TUNEC_RETURN_IF_ERROR(
          EmitCountedLoop(state, Plus(lower, whole), Plus(lower, trips), 1, copies(1)));
    return {};
  }
  if (unroll == 1) return EmitCountedLoop(state, lower, upper, 1, copies(1));
  // The unrolled loop ends at lower + floor(length / unroll) * unroll.
  Builder& b = state.builder;
  const IrValue length = b.SMax(state.index.Scalar(extent), b.I64(0));
  const Interval trips = state.index.Bounds(extent);
  const IrValue whole = b.Sub(length, b.URem(length, b.I64(unroll)));
  const LinearIndex middle = state.index.Sum(
      lower, state.index.NewValue(whole, {0, std::max<int64_t>(trips.hi, 0)}, unroll));
  TUNEC_RETURN_IF_ERROR(EmitCountedLoop(state, lower, middle, unroll, copies(unroll)));
  return EmitCountedLoop(state, middle, upper, 1, copies(1));
}

LinearIndex Extreme(EmitState& state, const std::vector<LinearIndex>& values, bool greatest) {
  IndexEmitter& index = state.index;
  LinearIndex best = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    const LinearIndex& other = values[i];
    const Interval by = index.Bounds(index.Sum(other, best, -1));
    if (greatest ? by.hi <= 0 : by.lo >= 0) continue;
    if (greatest ? by.lo >= 0 : by.hi <= 0) {
      best = other;
      continue;
    }
    const IrValue a = index.Scalar(best);
    const IrValue b = index.Scalar(other);
    const Interval x = index.Bounds(best);
    const Interval y = index.Bounds(other);
    best = greatest ? index.NewValue(state.builder.SMax(a, b),
                                     {std::max(x.lo, y.lo), std::max(x.hi, y.hi)})
                    : index.NewValue(state.builder.SMin(a, b),
                                     {std::min(x.lo, y.lo), std::min(x.hi, y.hi)});
  }
  return best;
}

}  // namespace

LinearIndex EmitGreatest(EmitState& state, const std::vector<IndexExpr>& bounds) {
  std::vector<LinearIndex> values;
  for (const IndexExpr& bound : bounds) values.push_back(state.index.Evaluate(bound));
  return Extreme(state, values, true);
}

LinearIndex ExtentFrom(EmitState& state, const LinearIndex& lower,
                       const std::vector<IndexExpr>& upper) {
  std::vector<LinearIndex> values;
  for (const IndexExpr& bound : upper)
    values.push_back(state.index.Sum(state.index.Evaluate(bound), lower, -1));
  return Extreme(state, values, false);
}

Status EmitCountedLoop(EmitState& state, const LinearIndex& lower, const LinearIndex& upper,
                       int64_t step, const std::function<Status(const LinearIndex&)>& body) {
  IndexEmitter& index = state.index;
  const LinearIndex extent = index.Sum(upper, lower, -1);
  const Interval trips = index.Bounds(extent);
  if (trips.hi <= 0) return {};
  if (trips.lo > 0 && trips.hi <= step) return body(lower);
  Builder& b = state.builder;
  const IrValue first = index.Scalar(lower);
  const IrValue end = index.Scalar(upper);
  const IrBlock before = b.CurrentBlock();
  const IrBlock loop = b.NewBlock("loop");
  const IrBlock after = b.NewBlock("exit");
  if (trips.lo > 0) {
    b.Branch(loop);
  } else {
    b.CondBranch(b.Cmp(Compare::kSlt, first, end), loop, after);
  }
  b.SetBlock(loop);
  const IrValue phi = b.Phi({Element::kI64, 1});
  b.AddIncoming(phi, first, before);
  state.EnterScope(before);
  const Interval range{index.Bounds(lower).lo, index.Bounds(upper).hi - 1};
  const int64_t multiple = std::gcd(index.Multiple(lower), step);
  TUNEC_RETURN_IF_ERROR(body(index.NewValue(phi, range, multiple)));
  const IrValue next = b.Add(phi, b.I64(step));
  b.AddIncoming(phi, next, b.CurrentBlock());
  b.CondBranch(b.Cmp(Compare::kSlt, next, end), loop, after);
  state.LeaveScope();
  b.SetBlock(after);
  return {};
}

Status EmitLoop(EmitState& state, const Loop& loop) {
  switch (loop.kind) {
    case LoopKind::kVector:
      return EmitVectorLoop(state, loop);
    case LoopKind::kUnrolled:
      return EmitUnrolled(state, loop);
    case LoopKind::kSerial:
      if (state.analysis.fully_unrolled.at(&loop)) return EmitUnrolled(state, loop);
      return state.machine.EmitSerialLoop(state, loop, [&] { return EmitSerial(state, loop); });
    case LoopKind::kParallel:
    case LoopKind::kWave:
      return EmitSerial(state, loop);  // inside a task it is an ordinary loop
    case LoopKind::kGridX:
    case LoopKind::kGridY:
    case LoopKind::kGridZ:
    case LoopKind::kBlockX:
    case LoopKind::kBlockY:
    case LoopKind::kBlockZ:
    case LoopKind::kWarp:
      break;
  }
  return state.machine.EmitThreadLoop(state, loop);
}

}  // namespace tunec::jit
