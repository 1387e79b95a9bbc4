#include "jit/cuda/cuda_machine.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "ir/nest/loop_range.h"
#include "ir/nest/visit_loop_nest.h"
#include "jit/cuda/emit_copies.h"
#include "jit/cuda/emit_shuffle.h"
#include "jit/cuda/pending_groups.h"
#include "jit/emit/state.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr unsigned kSharedSpace = 3;
// The alignment of a launch's dynamic shared memory. PlanStorage aligns the offsets of tensors in
// shared memory to the same number.
constexpr uint64_t kSharedAlignment = 128;
constexpr int64_t kVectorBytes = 16;
// The maximum local memory of a thread. Local memory is in device memory: on a GPU that runs
// 132 * 2048 threads, the limit allows about 4 GiB.
constexpr int64_t kMostLocalBytes = 16 << 10;

constexpr std::array<llvm::Intrinsic::ID, 3> kThreadNumbers = {
    llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
    llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};

Error MakeUnsupportedOnCuda(std::string_view what) {
  return MakeError(ErrorCode::kUnsupported, "{} cannot be emitted for cuda", what);
}

// Emits a read of a special register, and returns its value as a nonnegative i64.
IrValue ReadRegister(Builder& builder, llvm::Intrinsic::ID id) {
  llvm::IRBuilderBase& ir = builder.instructions();
  return builder.ZeroExtend(ir.CreateIntrinsic(id, llvm::ArrayRef<llvm::Value*>{}), Element::kI64);
}

void EmitBarrier(EmitState& state) {
  llvm::IRBuilderBase& ir = state.builder.instructions();
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                     llvm::ArrayRef<llvm::Value*>{ir.getInt32(0)});
  state.ForgetLoads();
}

// Returns the launch's dynamic shared memory as a generic address; LLVM infers the address space.
IrValue SharedMemory(Builder& builder) {
  llvm::Module& module = builder.module();
  llvm::GlobalVariable* shared = module.getNamedGlobal(kSharedName);
  if (shared == nullptr) {
    auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
    shared = new llvm::GlobalVariable(module, bytes, /*isConstant=*/false,
                                      llvm::GlobalValue::ExternalLinkage, nullptr, kSharedName,
                                      nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    shared->setAlignment(llvm::Align(kSharedAlignment));
  }
  return llvm::ConstantExpr::getAddrSpaceCast(shared,
                                              llvm::PointerType::get(module.getContext(), 0));
}

// Returns the arguments that vector loops inside `loop` access and whose alignment for vectors is
// unknown. Only the caller's addresses decide about the alignment, so `loop` has two versions.
std::set<TensorId> DoubtfulVectors(const EmitState& state, const Loop& loop) {
  std::set<TensorId> walked;
  ForEach<Loop>(loop.body, [&](const Loop& inner) {
    if (inner.kind != LoopKind::kVector || state.analysis.vector_loops.at(&inner).lanes == 1)
      return;
    VisitNodes(inner.body, [&](const NestNode& node) {
      ForEachAccess(node, [&](TensorId tensor, bool) { walked.insert(tensor); });
    });
  });
  std::erase_if(walked, [&](TensorId tensor) {
    return state.InSlots(tensor) || state.storage[tensor].alignment >= kVectorBytes;
  });
  return walked;
}

}  // namespace

CudaMachine::CudaMachine(const LoopNest& nest, AccessNames names)
    : arguments_(std::ssize(Arguments(nest))),
      local_bytes_(PlanStorage(nest).scratch_bytes),
      names_(names),
      pending_(PendingGroups(nest)),
      tiles_(nest) {}

PhaseEntry CudaMachine::BeginPhase(Builder& builder, const Phase& phase,
                                   const std::string& symbol) {
  std::vector<IrType> types(static_cast<size_t>(arguments_) + 1, IrType{Element::kPointer, 1});
  types.push_back({Element::kI64, 1});
  parameters_ = builder.BeginFunction(symbol, types);
  launch_ = LaunchOf(phase);
  llvm::Function& function = *builder.module().getFunction(symbol);
  function.setCallingConv(llvm::CallingConv::PTX_Kernel);
  builder.AddFunctionAttribute("nvvm.reqntid", fmt::format("{},{},{}", launch_.block[0],
                                                           launch_.block[1], launch_.block[2]));
  for (size_t axis = 0; axis < threads_.size(); ++axis) {
    const bool several = launch_.block.at(axis) > 1;
    threads_.at(axis) = several ? ReadRegister(builder, kThreadNumbers.at(axis)) : builder.I64(0);
  }
  local_ = nullptr;
  const IrValue block = ReadRegister(builder, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  const IrValue first = parameters_.back();
  return {.workspace = parameters_[parameters_.size() - 2], .task = builder.Add(first, block)};
}

IrValue CudaMachine::Argument(Builder&, int64_t number) {
  return parameters_[static_cast<size_t>(number)];
}

Result<IrValue> CudaMachine::Storage(Builder& builder, Scope scope, int64_t offset) {
  if (scope == Scope::kShared) return builder.Offset(SharedMemory(builder), builder.I64(offset));
  if (local_bytes_ > kMostLocalBytes) {
    return Fail(ErrorCode::kResourceLimit,
                "a thread's private storage has {} bytes, expected at most {}", local_bytes_,
                kMostLocalBytes);
  }
  if (local_ == nullptr) local_ = builder.StackBytes(local_bytes_);
  return builder.Offset(local_, builder.I64(offset));
}

void CudaMachine::BeginParts(EmitState& state, const Phase& phase) {
  tiles_.BeginPhase(state, phase, threads_[0]);
}

Status CudaMachine::EmitTile(EmitState& state, const Tile& tile) {
  if (WarpIntrinsicOf(tile) == nullptr)
    return std::unexpected(MakeUnsupportedOnCuda(fmt::format("tile {}", tile.intrinsic)));
  TUNEC_ASSIGN(const TileParts parts, PartsOf(tile, state.nest));
  return tiles_.Emit(state, parts);
}

Status CudaMachine::EmitThreads(EmitState& state, const NestNode& node) {
  if (std::holds_alternative<Roles>(node.value))
    return std::unexpected(MakeUnsupportedOnCuda("warp roles"));
  if (const auto* shuffle = std::get_if<Shuffle>(&node.value)) {
    return EmitShuffle(state, *shuffle, {threads_, launch_});
  }
  if (const auto* copy = std::get_if<AsyncCopy>(&node.value)) return EmitAsyncCopy(state, *copy);
  if (std::holds_alternative<Arrive>(node.value)) {
    EmitCommit(state);
  } else if (const auto* wait = std::get_if<Wait>(&node.value)) {
    EmitWait(state, pending_.at(wait));
  } else {
    TUNEC_CHECK(std::holds_alternative<Barrier>(node.value), "a node that is not for threads");
    EmitBarrier(state);
  }
  return {};
}

int64_t CudaMachine::VectorAlignment() const { return kVectorBytes; }

Status CudaMachine::EmitThreadLoop(EmitState& state, const Loop& loop) {
  const std::set<TensorId> doubtful = DoubtfulVectors(state, loop);
  if (in_version_ || doubtful.empty()) return EmitThreadLoopOnce(state, loop);
  in_version_ = true;
  const Status status = EmitVersions(state, loop, doubtful);
  in_version_ = false;
  return status;
}

Status CudaMachine::EmitVersions(EmitState& state, const Loop& loop,
                                 const std::set<TensorId>& doubtful) {
  Builder& b = state.builder;
  IrValue bits = b.I64(0);
  for (const TensorId tensor : doubtful)
    bits = b.Or(bits, b.PointerToInt(state.storage[tensor].base));
  const IrValue aligned = b.Cmp(Compare::kEq, b.And(bits, b.I64(kVectorBytes - 1)), b.I64(0));
  const auto emit = [&] { return EmitThreadLoopOnce(state, loop); };
  std::map<TensorId, int64_t> known;
  for (const TensorId tensor : doubtful)
    known[tensor] = std::exchange(state.storage[tensor].alignment, kVectorBytes);
  const Status status = EmitWhen(state, aligned, emit);
  for (const auto& [tensor, alignment] : known) state.storage[tensor].alignment = alignment;
  TUNEC_RETURN_IF_ERROR(status);
  return EmitWhen(state, b.Not(aligned), emit);
}

Status CudaMachine::EmitThreadLoopOnce(EmitState& state, const Loop& loop) {
  if (!IsBlock(loop.kind)) return std::unexpected(MakeUnsupportedOnCuda("a loop over warps"));
  const size_t axis = BlockAxis(loop.kind);
  const Interval range = RangeOf(loop);
  if (range.hi < range.lo) return {};
  Builder& b = state.builder;
  const IrValue number = threads_.at(axis);
  const auto emit = [&] {
    LinearIndex value;
    if (range.lo == range.hi) {
      value.constant = range.lo;
    } else {
      value = state.index.NewValue(number, range);
    }
    state.index.Bind(loop.var, value);
    return EmitBody(state, loop.body);
  };
  IrValue condition = nullptr;
  if (range.lo > 0) condition = b.Cmp(Compare::kUge, number, b.I64(range.lo));
  if (range.hi + 1 < launch_.block.at(axis)) {
    const IrValue below = b.Cmp(Compare::kUle, number, b.I64(range.hi));
    condition = condition == nullptr ? below : b.And(condition, below);
  }
  return condition == nullptr ? emit() : EmitWhen(state, condition, emit);
}

Status CudaMachine::CheckScope(Scope scope) {
  if (scope != Scope::kTile && scope != Scope::kFragment) return {};
  return std::unexpected(MakeUnsupportedOnCuda("an alloc of tile or fragment scope"));
}

void CudaMachine::NameAccess(Builder& builder, std::string_view statement,
                             std::string_view tensor) {
  if (names_ == AccessNames::kNone) return;
  llvm::LLVMContext& context = builder.module().getContext();
  llvm::Metadata* names[] = {llvm::MDString::get(context, statement),
                             llvm::MDString::get(context, tensor)};
  // LLVM's builder adds metadata to new instructions only by copying it from another instruction.
  // So a temporary instruction has the metadata.
  auto* named = new llvm::UnreachableInst(context);
  named->setMetadata(kAccessMetadata, llvm::MDNode::get(context, names));
  builder.instructions().CollectMetadataToCopy(named, {context.getMDKindID(kAccessMetadata)});
  named->deleteValue();
}

}  // namespace tunec::jit
