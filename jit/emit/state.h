// What the parts of the emitter share while one LoopNest is emitted, and their entry points.
// Values are kept in their compute form: f16 and bf16 as f32, bool as i1, everything else as
// itself; inside a vector loop a value is a scalar when all lanes agree, else a vector.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/expr/value_range.h"
#include "ir/loop_nest.h"
#include "jit/builder/builder.h"
#include "jit/emit/analysis.h"
#include "jit/emit/index.h"
#include "jit/emit/machine.h"
#include "support/error.h"

namespace tunec::jit {

struct TensorStorage {
  IrValue base = nullptr;            // of a tensor in memory
  int64_t alignment = 1;             // bytes the base is a multiple of
  bool invariant = false;            // nothing writes it while the kernel runs
  Swizzle swizzle;                   // of the present Alloc
  int64_t touched = 0;               // the same: NestAnalysis::touched
  std::map<int64_t, IrValue> slots;  // of a register tensor, by slot number
};

/// The chunk of a vector loop that is being emitted.
struct LaneContext {
  int width = 1;             // 1: no vector loop
  VarId var{-1};             // none
  IrValue mask = nullptr;    // lanes to run; null: all
  int active = 0;            // when the first `active` lanes are those, else 0
  bool conditional = false;  // the mask may be empty though the loop runs
  int copy = 0;              // number of the chunk, for choosing an accumulator
};

/// An unrolled loop whose copies are being emitted and all run.
struct UnrolledLoop {
  VarId var{-1};    // none
  int64_t at = 0;   // the copy
  int64_t end = 0;  // after the last
  int depth = 0;    // of the scope that the copies are in
};

/// Vector accumulators of a horizontal reduction: [copy][write].
struct LaneAccumulators {
  std::vector<std::vector<IrValue>> slots;
  IrType type;
};

/// What was loaded: equal keys, equal values.
struct LoadKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // of the offset, as LinearIndex has them
  int64_t constant = 0;
  int64_t lane_factor = 0;
  IrValue per_lane = nullptr;
  IrValue guard = nullptr;
  IrValue mask = nullptr;
  double outside = 0;  // what the guard keeps from memory reads as
  int lanes = 1;
  bool groups = false;  // lanes are groups of neighbours, as bits
  auto operator<=>(const LoadKey&) const = default;
};

/// A line that was asked for: in 64 bytes, but for the terms, as they may be.
struct PrefetchKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // as LinearIndex has them
  int64_t line = 0;
  int level = 1;
  auto operator<=>(const PrefetchKey&) const = default;
};

/// An offset in the storage of a tensor whose chunks have changed places.
struct SwizzleKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // as LinearIndex has them
  int64_t constant = 0;
  int64_t lane_factor = 0;
  IrValue per_lane = nullptr;
  int lanes = 1;
  auto operator<=>(const SwizzleKey&) const = default;
};

struct EmitState {
  EmitState(const LoopNest& nest_in, Machine& machine_in, Builder& builder_in)
      : nest(nest_in),
        analysis(Analyze(nest_in, machine_in)),
        machine(machine_in),
        builder(builder_in),
        index(builder_in),
        storage(nest_in.tensors.size()) {}

  const LoopNest& nest;
  const NestAnalysis analysis;
  Machine& machine;
  Builder& builder;
  IndexEmitter index;
  IdVector<TensorId, TensorStorage> storage;
  LaneContext lanes;
  std::vector<UnrolledLoop> unrolled;          // outermost first
  std::map<LoadKey, IrValue> loads;            // values read in this block and still valid
  std::map<SwizzleKey, LinearIndex> swizzled;  // computed in this block
  std::set<PrefetchKey> prefetched;            // in this block
  std::string_view statement;                  // whose instance is being emitted
  std::map<const Store*, LaneAccumulators> accumulators;
  std::map<std::tuple<DataType, double>, IrValue> safe_addresses;
  int64_t target_alignment = 0;  // of non-temporal targets, in this version of a part; 0: unknown
  bool non_temporal = false;     // some store bypassed the caches: a fence is due
  int64_t stores_emitted = 0;

  const Tensor& tensor(TensorId id) const { return nest.tensors[id]; }
  /// The tensor whose bytes it uses.
  TensorId Root(TensorId id) const {
    while (nest.tensors[id].alias) id = *nest.tensors[id].alias;
    return id;
  }
  bool InSlots(TensorId id) const { return analysis.registers[id].form == RegisterForm::kSlots; }
  void EnterScope(IrBlock before) {
    index.Enter(before);
    swizzled.clear();
    prefetched.clear();
    ForgetLoads();
  }
  void LeaveScope() {
    index.Leave();
    swizzled.clear();
    prefetched.clear();
    ForgetLoads();
  }
  void ForgetLoads() {
    loads.clear();
    machine.ForgetOperands();
  }
  void ForgetLoadsOf(TensorId root) {
    std::erase_if(loads, [&](const auto& entry) { return entry.first.root == root; });
  }
};

// --- bodies and loops (body.cc, loop.cc, vector.cc) ---
Status EmitBody(EmitState& state, const Body& body);
Status EmitNode(EmitState& state, const NestNode& node);
Status EmitLoop(EmitState& state, const Loop& loop);
Status EmitVectorLoop(EmitState& state, const Loop& loop);
/// The greatest of the lower bounds.
LinearIndex GreatestOf(EmitState& state, const std::vector<IndexExpr>& bounds);
/// The least of the upper bounds, minus `lower`: what they have in common cancels, so that
/// min(32*t + 32, N) - 32*t is known to be at most 32.
LinearIndex ExtentFrom(EmitState& state, const LinearIndex& lower,
                       const std::vector<IndexExpr>& upper);
/// for (i = lower; i < upper; i += step) body(i), in a scope of its own.
Status EmitCountedLoop(EmitState& state, const LinearIndex& lower, const LinearIndex& upper,
                       int64_t step, const std::function<Status(const LinearIndex&)>& body);
/// if (condition) body(), in a scope of its own.
Status EmitWhen(EmitState& state, IrValue condition, const std::function<Status()>& body);

// --- conditions (condition.cc) ---
struct Condition {
  enum class Kind : uint8_t { kAlways, kNever, kUniform, kLanes };
  Kind kind = Kind::kAlways;
  IrValue value = nullptr;  // kUniform: an i1; kLanes: a mask
};
/// Whether all are >= 0.
Condition EmitCondition(EmitState& state, const std::vector<IndexExpr>& nonnegative);
Condition NonNegative(EmitState& state, const LinearIndex& value, Interval bounds);

// --- stores (store.cc, reduce.cc) ---
Status EmitStore(EmitState& state, const Store& store);
/// Sets up, and after the loop folds in, the accumulators of the horizontal reductions in a
/// vector loop's body.
void BeginLaneReductions(EmitState& state, const Loop& loop, int lanes, int copies);
Status EndLaneReductions(EmitState& state, const Loop& loop, int lanes);
/// One horizontal instance: values are combined into targets that all lanes share.
Status EmitLaneReduction(EmitState& state, const Store& store, const std::vector<IrValue>& values,
                         const std::vector<IrValue>& reads);
/// The reducer's combine, fusing a product into the sum where the nest allows: `values` are the
/// store's, `reads` what they were computed from (null: values are partial results, no fusing).
std::vector<IrValue> EmitCombine(EmitState& state, const Store& store,
                                 const std::vector<IrValue>& old_values,
                                 const std::vector<IrValue>& values,
                                 const std::vector<IrValue>* reads);

// --- tensors (access.cc, swizzle.cc, register.cc) ---
/// Where an element lies in the tensor's storage, in elements; `offset` is where its layout says.
LinearIndex EmitOffset(EmitState& state, TensorId tensor, const IndexExpr& offset);
LinearIndex EmitOffset(EmitState& state, TensorId tensor, const LinearIndex& offset);
/// The greatest power of two that the address of lane 0 is known to be a multiple of.
int64_t AlignmentOf(EmitState& state, TensorId tensor, const LinearIndex& offset);
Result<IrValue> EmitRead(EmitState& state, const Read& read);
/// The value of an element that is about to be updated.
Result<IrValue> EmitOldValue(EmitState& state, const Write& write);
Status EmitWrite(EmitState& state, const Write& write, IrValue value, bool non_temporal);
IrValue ReadSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index);
void WriteSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index,
                IrValue value);
/// Forgets the values of a register tensor whose life begins.
void StartSlots(EmitState& state, TensorId tensor);

// --- expressions (expr.cc, op.cc, cast.cc) ---
/// The arguments of the leaves of an expression.
struct ExprInputs {
  const std::vector<IrValue>* reads = nullptr;
  const std::vector<IrValue>* accumulators = nullptr;
  const std::vector<IrValue>* incoming = nullptr;
};
IrValue EmitExpr(EmitState& state, const Expr& expr, const ExprInputs& inputs);
IrValue EmitOp(Builder& builder, ScalarOp op, DataType type, const std::vector<IrValue>& operands);
/// `range` is of the value when it is a float.
IrValue EmitCast(Builder& builder, IrValue value, DataType from, DataType to,
                 const FloatRange& range = {});
IrValue EmitConstant(Builder& builder, const ExprNode& node);
/// Rounds an f32 to f16 or bf16 and back; other types pass.
IrValue RoundToType(Builder& builder, IrValue value, DataType type);

Element ComputeElement(DataType type);
Element MemoryElement(DataType type);
/// `value` is one of the type: a float32 that is to be a bfloat16 has been rounded.
IrValue ToMemory(Builder& builder, IrValue value, DataType type);
IrValue FromMemory(Builder& builder, IrValue value, DataType type);
IrValue MemoryConstant(Builder& builder, DataType type, double value);

}  // namespace tunec::jit
