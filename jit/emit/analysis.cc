#include "jit/emit/analysis.h"

#include <algorithm>
#include <bit>
#include <set>

#include "ir/nest/loop_range.h"
#include "ir/nest/visit_loop_nest.h"

namespace tunec::jit {
namespace {

constexpr int64_t kMostUnrolledChunks = 4;  // for a loop without register tensors
constexpr int64_t kMostRegisterChunks = 64;
constexpr int64_t kMostSlots = 512;

class Analyzer {
 public:
  Analyzer(const LoopNest& nest, const Machine& machine)
      : nest_(nest),
        machine_(machine),
        intervals_(nest.variables.size(), kUnknownInterval),
        constant_(nest.variables.size(), false) {
    result_.registers.resize(nest.tensors.size());
    touched_.resize(nest.tensors.size());
  }

  NestAnalysis Run() {
    for (const Phase& phase : nest_.phases) Walk(phase.body);
    for (const TensorId t : nest_.tensors.ids()) LimitSlots(t);
    return std::move(result_);
  }

 private:
  IntervalOf Intervals() const {
    return [this](VarId v) { return intervals_[v]; };
  }

  void Walk(const Body& body) {
    for (const NestNode& node : body) {
      const auto inside = [&] { ForEachBody(node, [&](const Body& inner) { Walk(inner); }); };
      Visit(
          node, [&](const Loop& loop) { WalkLoop(loop); },
          [&](const Alloc& alloc) {
            EnterAlloc(alloc);
            inside();
            result_.touched[&alloc] = touched_[alloc.tensor];
          },
          [&](const If&) { inside(); }, [&](const Tile&) { inside(); },
          [&](const Roles&) { inside(); }, [&](const Store& store) { WalkStore(store); },
          [&](const Prefetch& prefetch) {
            AddOffset(&prefetch.address, prefetch.address.tensor, prefetch.address.index);
          },
          [&](const AsyncCopy& copy) {
            AddOffset(&copy.from, copy.from.tensor, copy.from.index);
            AddOffset(&copy.to, copy.to.tensor, copy.to.index);
          },
          [&](const Shuffle& shuffle) {
            WalkRead(shuffle.from);
            WalkWrite(shuffle.to);
          },
          [](const LeafNode auto&) {});
    }
  }

  void EnterAlloc(const Alloc& alloc) {
    RegisterPlan& plan = result_.registers[alloc.tensor];
    // A split loop may have an Alloc of the tensor in each part. All parts share one form.
    const bool seen = plan.form != RegisterForm::kNone;
    if (alloc.scope == Scope::kRegister && !seen) plan.form = RegisterForm::kSlots;
    touched_[alloc.tensor] = 0;
  }

  void WalkLoop(const Loop& loop) {
    const Interval range = RangeOf(loop);
    const Interval saved = intervals_[loop.var];
    intervals_[loop.var] = range;
    constant_[loop.var] = BecomesConstant(loop);
    result_.fully_unrolled[&loop] = constant_[loop.var];
    const Loop* const outer = vector_;
    if (loop.kind == LoopKind::kVector) {
      vector_ = &loop;
      PlanVectorLoop(loop);
    }
    Walk(loop.body);
    vector_ = outer;
    intervals_[loop.var] = saved;
    constant_[loop.var] = false;
  }

  /// Returns the interval of the loop's variable; an empty interval becomes its first point.
  Interval RangeOf(const Loop& loop) const {
    Interval range = tunec::RangeOf(loop, Intervals());
    if (range.hi < range.lo) range.hi = range.lo;
    return range;
  }

  bool BecomesConstant(const Loop& loop) const {
    if (loop.kind == LoopKind::kUnrolled) return true;
    if (loop.kind != LoopKind::kSerial) return false;
    const auto constant = [](const IndexExpr& bound) { return bound.IsConstant(); };
    if (!std::ranges::all_of(loop.lower, constant) || !std::ranges::all_of(loop.upper, constant))
      return false;
    const int64_t trips = RangeOf(loop).hi - RangeOf(loop).lo + 1;
    return trips <= std::max(loop.unroll, 1);
  }

  /// Returns whether the value is a constant once the enclosing loops are unrolled.
  bool IsConstantAfterUnrolling(const IndexExpr& expr) const {
    if (expr.UsesLoaded()) return false;
    std::vector<VarId> variables;
    expr.CollectVars(variables);
    return std::ranges::all_of(variables, [&](VarId v) { return bool{constant_[v]}; });
  }

  // --- vector loops ---

  int64_t MostIterations(const Loop& loop) const {
    int64_t most = kUnbounded;
    for (const IndexExpr& upper : loop.upper)
      for (const IndexExpr& lower : loop.lower)
        most = std::min(most, BoundsOf(upper - lower, Intervals()).hi);
    return std::max<int64_t>(most, 0);
  }

  void PlanVectorLoop(const Loop& loop) {
    VectorPlan plan;
    plan.most_iterations = MostIterations(loop);
    int lanes = machine_.Lanes(WidestElement(loop.body));
    if (plan.most_iterations < lanes)
      lanes = static_cast<int>(
          std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(plan.most_iterations, 1))));
    plan.lanes = LanesWithinBlocks(loop, lanes);
    const int64_t chunks = CeilDivide(plan.most_iterations, plan.lanes);
    const bool registers = UsesRegisters(loop);
    plan.unrolled = chunks <= (registers ? kMostRegisterChunks : kMostUnrolledChunks);
    result_.vector_loops[&loop] = plan;
  }

  int WidestElement(const Body& body) const {
    int widest = 1;
    const auto see = [&](DataType type) { widest = std::max(widest, ComputeBytes(type)); };
    VisitNodes(body, [&](const NestNode& node) {
      // A copy does not compute with its elements: only their size in memory counts.
      if (const auto* copy = std::get_if<AsyncCopy>(&node.value)) {
        const size_t bytes = SizeOf(nest_.tensors[copy->to.tensor].type);
        widest = std::max(widest, static_cast<int>(bytes));
        return;
      }
      ForEachAccess(node, [&](TensorId tensor, bool) { see(nest_.tensors[tensor].type); });
      const auto* store = std::get_if<Store>(&node.value);
      if (store == nullptr) return;
      for (const Expr& value : store->values)
        Visit(value, [&](const Expr& expr) {
          if (expr.kind() != ExprKind::kIndex) see(expr.type());
        });
    });
    return widest;
  }

  /// Returns the number of lanes of a chunk, at most `lanes`. A storage offset with
  /// floor((lane + ...) / d), d a power of two of at least 4, limits a chunk to d lanes. The
  /// elements of a chunk can then be contiguous.
  int LanesWithinBlocks(const Loop& loop, int lanes) {
    const auto see = [&](TensorId tensor, const std::vector<IndexExpr>& index) {
      lanes = NarrowestBlock(StorageOffset(nest_.tensors[tensor], index), loop.var, lanes);
    };
    ForEach<Store>(loop.body, [&](const Store& store) {
      for (const Read& read : store.reads) see(read.tensor, read.index);
      for (const Write& write : store.writes) see(write.tensor, write.index);
    });
    ForEach<AsyncCopy>(loop.body, [&](const AsyncCopy& copy) {
      see(copy.from.tensor, copy.from.index);
      see(copy.to.tensor, copy.to.index);
    });
    return lanes;
  }

  int NarrowestBlock(const IndexExpr& offset, VarId lane, int lanes) const {
    for (const IndexTerm& term : offset.terms()) {
      if (term.atom.kind != IndexAtom::Kind::kFloorDiv) continue;
      const IndexExpr& numerator = *term.atom.numerator;
      const int64_t block = term.atom.divisor;
      const bool power_of_two = (block & (block - 1)) == 0;
      if (numerator.Coefficient(lane) == 1 && power_of_two && block >= 4 && block < lanes)
        lanes = static_cast<int>(block);
      lanes = NarrowestBlock(numerator, lane, lanes);
    }
    return lanes;
  }

  /// Returns whether the last index of a register tensor in slots depends on the lane.
  bool UsesRegisters(const Loop& loop) const {
    bool uses = false;
    const auto see = [&](TensorId tensor, const std::vector<IndexExpr>& index) {
      uses |= result_.registers[tensor].form == RegisterForm::kSlots && !index.empty() &&
              index.back().Uses(loop.var);
    };
    ForEach<Store>(loop.body, [&](const Store& store) {
      for (const Read& read : store.reads) see(read.tensor, read.index);
      for (const Write& write : store.writes) see(write.tensor, write.index);
    });
    return uses;
  }

  // --- accesses ---

  void WalkStore(const Store& store) {
    for (const Read& read : store.reads) WalkRead(read);
    for (const Write& write : store.writes) WalkWrite(write);
  }

  void WalkRead(const Read& read) {
    AddOffset(&read, read.tensor, read.index);
    SeeRegister(read.tensor, read.index);
  }

  void WalkWrite(const Write& write) {
    AddOffset(&write, write.tensor, write.index);
    SeeRegister(write.tensor, write.index);
  }

  void AddOffset(const void* access, TensorId tensor, const std::vector<IndexExpr>& index) {
    result_.offsets[access] = Simplify(StorageOffset(nest_.tensors[tensor], index), Intervals());
  }

  void SeeRegister(TensorId tensor, const std::vector<IndexExpr>& index) {
    RegisterPlan& plan = result_.registers[tensor];
    if (plan.form != RegisterForm::kSlots) return;
    if (!index.empty()) {
      touched_[tensor] = std::max(touched_[tensor], BoundsOf(index.back(), Intervals()).hi + 1);
    }
    for (size_t d = 0; d < index.size(); ++d) {
      if (IsConstantAfterUnrolling(index[d])) continue;
      if (d + 1 == index.size() && IsLane(index[d])) {
        plan.slot_lanes = std::max(plan.slot_lanes, result_.vector_loops[vector_].lanes);
        continue;
      }
      plan.form = RegisterForm::kStack;
    }
  }

  /// Returns whether the index is lane + constant, once the vector loop's chunks are unrolled.
  bool IsLane(const IndexExpr& index) const {
    if (vector_ == nullptr || index.Coefficient(vector_->var) != 1) return false;
    if (!result_.vector_loops.at(vector_).unrolled || vector_->lower.size() != 1) return false;
    return IsConstantAfterUnrolling(vector_->lower[0]) &&
           IsConstantAfterUnrolling(index - IndexExpr::Var(vector_->var));
  }

  void LimitSlots(TensorId tensor) {
    RegisterPlan& plan = result_.registers[tensor];
    const std::vector<int64_t>& shape = nest_.tensors[tensor].shape;
    if (plan.form != RegisterForm::kSlots) return;
    int64_t slots = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      slots *= d + 1 == shape.size() ? CeilDivide(shape[d], plan.slot_lanes) : shape[d];
    if (slots > kMostSlots) plan.form = RegisterForm::kStack;
  }

  const LoopNest& nest_;
  const Machine& machine_;
  IdVector<VarId, Interval> intervals_;
  IdVector<VarId, bool> constant_;
  const Loop* vector_ = nullptr;
  IdVector<TensorId, int64_t> touched_;  // NestAnalysis::touched of each current Alloc
  NestAnalysis result_;
};

}  // namespace

int ComputeBytes(DataType type) {
  if (type == DataType::kF16 || type == DataType::kBF16) return 4;
  return static_cast<int>(SizeOf(type));
}

NestAnalysis Analyze(const LoopNest& nest, const Machine& machine) {
  return Analyzer(nest, machine).Run();
}

}  // namespace tunec::jit
