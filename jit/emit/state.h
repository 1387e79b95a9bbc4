// The state that the parts of the emitter share while one LoopNest is emitted, and the entry points
// of the parts. Values are in compute form: f16 and bf16 as f32, bool as i1, all other types
// unchanged. Inside a vector loop, a scalar is a value that is equal in all lanes.
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
  IrValue base = nullptr;            // base address of a tensor in memory
  int64_t alignment = 1;             // number of bytes that the base is a multiple of
  bool invariant = false;            // true: the memory does not change while the kernel runs
  Swizzle swizzle;                   // swizzle of the current Alloc
  int64_t touched = 0;               // NestAnalysis::touched of the current Alloc
  std::map<int64_t, IrValue> slots;  // slots of a register tensor, by slot number
};

/// The chunk of a vector loop, or the vector tile, that is being emitted.
struct LaneContext {
  int width = 1;             // 1: not in a vector loop
  VarId var{-1};             // -1: none
  IrValue mask = nullptr;    // lanes that run; null: all
  int active = 0;            // number of leading lanes if exactly these run, else 0
  bool conditional = false;  // true: the mask may be empty although the loop runs
  int copy = 0;              // number of the chunk, which selects an accumulator
};

/// An unrolled loop that is being emitted and whose copies all run.
struct UnrolledLoop {
  VarId var{-1};    // -1: none
  int64_t at = 0;   // current copy
  int64_t end = 0;  // copy after the last one
  int depth = 0;    // depth of the scope that contains the copies
};

/// The vector accumulators of a horizontal reduction. Each row of `slots` has one slot per write of
/// the store. The copies of the code use the rows in turn.
struct LaneAccumulators {
  std::vector<std::vector<IrValue>> slots;
  IrType type;
};

/// A key of a loaded value: loads with equal keys have equal values if no write is between them.
struct LoadKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // like LinearIndex::terms
  int64_t constant = 0;
  int64_t lane_factor = 0;
  IrValue per_lane = nullptr;
  IrValue guard = nullptr;
  IrValue mask = nullptr;
  double outside = 0;  // value of elements that the guard excludes
  int lanes = 1;
  bool groups = false;  // true: each lane is a group of consecutive elements, as bits
  auto operator<=>(const LoadKey&) const = default;
};

/// A key of a prefetched line of 64 bytes. Only the constant part of the offset is divided into
/// lines.
struct PrefetchKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // like LinearIndex::terms
  int64_t line = 0;
  int level = 1;
  auto operator<=>(const PrefetchKey&) const = default;
};

/// A key of an offset in swizzled storage of a tensor: the offset before swizzling.
struct SwizzleKey {
  TensorId root;
  std::vector<std::pair<int, int64_t>> terms;  // like LinearIndex::terms
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
  std::map<LoadKey, IrValue> loads;            // values read in this block that are still valid
  std::map<SwizzleKey, LinearIndex> swizzled;  // offsets computed in this block
  std::set<PrefetchKey> prefetched;            // lines prefetched in this block
  std::string_view statement;                  // statement whose instance is being emitted
  std::map<const Store*, LaneAccumulators> accumulators;
  std::map<std::tuple<DataType, double>, IrValue> safe_addresses;
  int64_t target_alignment =
      0;  // alignment of non-temporal targets in this version of a part; 0: unknown
  bool non_temporal = false;  // true: some store bypassed the caches, so a fence is due
  int64_t stores_emitted = 0;

  const Tensor& tensor(TensorId id) const { return nest.tensors[id]; }
  /// Returns the tensor whose memory the tensor `id` uses; `id` itself if it is not an alias.
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
/// Returns the greatest of the lower bounds.
LinearIndex EmitGreatest(EmitState& state, const std::vector<IndexExpr>& bounds);
/// Returns the least of the upper bounds, minus `lower`. Common terms cancel, so that the result
/// for min(32*t + 32, N) - 32*t is known to be at most 32.
LinearIndex ExtentFrom(EmitState& state, const LinearIndex& lower,
                       const std::vector<IndexExpr>& upper);
/// Emits for (i = lower; i < upper; i += step) body(i), in a separate scope unless exactly one
/// iteration is known to run.
Status EmitCountedLoop(EmitState& state, const LinearIndex& lower, const LinearIndex& upper,
                       int64_t step, const std::function<Status(const LinearIndex&)>& body);
/// Emits if (condition) body(), in a separate scope.
Status EmitWhen(EmitState& state, IrValue condition, const std::function<Status()>& body);

// --- conditions (condition.cc) ---
struct Condition {
  enum class Kind : uint8_t { kAlways, kNever, kUniform, kLanes };
  Kind kind = Kind::kAlways;
  IrValue value = nullptr;  // kUniform: an i1; kLanes: a mask
};
/// Returns the condition that all expressions are >= 0.
Condition EmitCondition(EmitState& state, const std::vector<IndexExpr>& nonnegative);
Condition EmitNonNegative(EmitState& state, const LinearIndex& value, Interval bounds);

// --- stores (store.cc, reduce.cc) ---
Status EmitStore(EmitState& state, const Store& store);
/// Sets up the accumulators of a vector loop. EndLaneReductions combines the accumulators into the
/// targets after the loop.
void BeginLaneReductions(EmitState& state, const Loop& loop, int lanes, int copies);
Status EndLaneReductions(EmitState& state, const Loop& loop, int lanes);
/// Emits an instance of a horizontal reduction, which combines values into targets that all lanes
/// share. A null value is a product that may be fused into the sum.
Status EmitLaneReduction(EmitState& state, const Store& store, const std::vector<IrValue>& values,
                         const std::vector<IrValue>& reads);
/// Emits the reducer's combine and fuses a float product into the sum if the nest allows fusing.
/// `values` are the store's values or partial results, and `reads` are the inputs of the store's
/// values. If `reads` is null, nothing is fused.
std::vector<IrValue> EmitCombine(EmitState& state, const Store& store,
                                 const std::vector<IrValue>& old_values,
                                 const std::vector<IrValue>& values,
                                 const std::vector<IrValue>* reads);

// --- tensors (access.cc, swizzle.cc, register.cc) ---
/// Returns the offset of an element in the tensor's storage, in elements. `offset` is the offset by
/// the tensor's layout, before swizzling.
LinearIndex EmitOffset(EmitState& state, TensorId tensor, const IndexExpr& offset);
LinearIndex EmitOffset(EmitState& state, TensorId tensor, const LinearIndex& offset);
/// Returns a power of two, at most 64, that divides the address of lane 0.
int64_t AlignmentOf(EmitState& state, TensorId tensor, const LinearIndex& offset);
Result<IrValue> EmitRead(EmitState& state, const Read& read);
/// Returns the value of an element that is about to be updated.
Result<IrValue> EmitOldValue(EmitState& state, const Write& write);
Status EmitWrite(EmitState& state, const Write& write, IrValue value, bool non_temporal);
IrValue ReadSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index);
void WriteSlots(EmitState& state, TensorId tensor, const std::vector<IndexExpr>& index,
                IrValue value);
/// Discards the values of a register tensor at the start of its lifetime.
void StartSlots(EmitState& state, TensorId tensor);

// --- expressions (expr.cc, op.cc, cast.cc) ---
/// The values of an expression's leaves. A list may be null if the expression has no such leaf.
struct ExprInputs {
  const std::vector<IrValue>* reads = nullptr;
  const std::vector<IrValue>* accumulators = nullptr;
  const std::vector<IrValue>* incoming = nullptr;
};
IrValue EmitExpr(EmitState& state, const Expr& expr, const ExprInputs& inputs);
IrValue EmitOp(Builder& builder, ScalarOp op, DataType type, const std::vector<IrValue>& operands);
/// Emits a conversion. `range` contains `value` if `value` is a float.
IrValue EmitCast(Builder& builder, IrValue value, DataType from, DataType to,
                 const FloatRange& range = {});
IrValue EmitConstant(Builder& builder, const ExprNode& node);
/// Rounds an f32 to f16 or bf16 and back; other types pass unchanged.
IrValue RoundToType(Builder& builder, IrValue value, DataType type);

Element ComputeElement(DataType type);
Element MemoryElement(DataType type);
/// Converts a value to its memory form. A float32 that is stored as bfloat16 must have been rounded
/// to bfloat16.
IrValue ToMemory(Builder& builder, IrValue value, DataType type);
IrValue FromMemory(Builder& builder, IrValue value, DataType type);
IrValue MemoryConstant(Builder& builder, DataType type, double value);

}  // namespace tunec::jit
