#include "jit/cuda/emit_copies.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "ir/nest/visit_loop_nest.h"

namespace tunec::jit {
namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kSharedSpace = 3;

// Returns the intrinsic that copies 4, 8 or 16 bytes. Copies of 16 bytes bypass the first-level
// cache, since shared memory has the data. The filling variant has the number of bytes to read as
// an operand, and fills the rest with zeros.
llvm::Intrinsic::ID CopyOf(int64_t bytes, bool fills) {
  switch (bytes) {
    case 4:
      return fills ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s
                   : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4;
    case 8:
      return fills ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                   : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8;
    default:
      return fills ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                   : llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16;
  }
}

class CopyEmitter {
 public:
  CopyEmitter(EmitState& state, const AsyncCopy& copy)
      : state_(state),
        copy_(copy),
        size_(static_cast<int64_t>(SizeOf(state.tensor(copy.to.tensor).type))) {}

  Status Emit() {
    state_.statement = "async_copy";
    if (!FindGuard()) return EmitAtOnce();
    from_ = EmitOffset(state_, copy_.from.tensor, state_.analysis.offsets.at(&copy_.from));
    to_ = EmitOffset(state_, copy_.to.tensor, state_.analysis.offsets.at(&copy_.to));
    const std::optional<int64_t> piece = PieceElements();
    if (!piece) return EmitAtOnce();
    state_.ForgetLoadsOf(state_.Root(copy_.to.tensor));
    state_.machine.NameAccess(state_.builder, state_.statement,
                              state_.tensor(copy_.to.tensor).name);
    const int64_t lanes = *LanesToCopy();
    for (int64_t lane = 0; lane < lanes; lane += *piece) EmitPiece(lane, *piece * size_);
    return {};
  }

 private:
  // Evaluates the guard. Returns false if no instruction supports the guard: it differs between
  // lanes, always fails, or can fail although the value outside is not +0.
  bool FindGuard() {
    if (!copy_.from.guard) return true;
    const Condition condition = EmitCondition(state_, copy_.from.guard->nonnegative);
    guard_ = condition.value;
    if (condition.kind == Condition::Kind::kAlways) guard_ = nullptr;
    const double outside = copy_.from.guard->outside;
    const bool zero = outside == 0 && !std::signbit(outside);
    return condition.kind == Condition::Kind::kAlways ||
           (condition.kind == Condition::Kind::kUniform && zero);
  }

  // Returns the number of leading lanes that copy; nullopt if it is known only at run time.
  std::optional<int64_t> LanesToCopy() const {
    const LaneContext& lanes = state_.lanes;
    if (lanes.mask == nullptr) return lanes.width;
    if (lanes.active > 0) return lanes.active;
    return std::nullopt;
  }

  bool IsInOrder(const LinearIndex& offset) const {
    return state_.lanes.width == 1 || (offset.lane_factor == 1 && offset.per_lane == nullptr);
  }

  // Returns the number of elements of the largest piece that the lanes and both ends allow; nullopt
  // if no piece fits.
  std::optional<int64_t> PieceElements() {
    const std::optional<int64_t> lanes = LanesToCopy();
    if (!lanes || from_.per_lane != nullptr || to_.per_lane != nullptr) return std::nullopt;
    const bool in_order = IsInOrder(from_) && IsInOrder(to_);
    for (const int64_t bytes : {16, 8, 4}) {
      const int64_t elements = bytes / size_;
      if (elements == 0 || *lanes % elements != 0 || (elements > 1 && !in_order)) continue;
      // An element is always aligned to its size.
      const bool aligned =
          elements == 1 || (AlignmentOf(state_, copy_.from.tensor, from_) % bytes == 0 &&
                            AlignmentOf(state_, copy_.to.tensor, to_) % bytes == 0);
      if (aligned) return elements;
    }
    return std::nullopt;
  }

  IrValue Address(TensorId tensor, LinearIndex offset, int64_t lane, unsigned space) {
    offset.constant += offset.lane_factor * lane;
    offset.lane_factor = 0;
    const IrValue address = state_.index.Address(state_.storage[tensor].base, offset, size_);
    llvm::IRBuilderBase& ir = state_.builder.instructions();
    return ir.CreateAddrSpaceCast(address, llvm::PointerType::get(ir.getContext(), space));
  }

  void EmitPiece(int64_t lane, int64_t bytes) {
    llvm::IRBuilderBase& ir = state_.builder.instructions();
    llvm::SmallVector<llvm::Value*, 3> operands = {
        Address(copy_.to.tensor, to_, lane, kSharedSpace),
        Address(copy_.from.tensor, from_, lane, kGlobalSpace)};
    const bool fills = guard_ != nullptr;
    if (fills)
      operands.push_back(
          ir.CreateSelect(guard_, ir.getInt32(static_cast<uint32_t>(bytes)), ir.getInt32(0)));
    ir.CreateIntrinsic(CopyOf(bytes, fills), operands);
  }

  Status EmitAtOnce() {
    TUNEC_ASSIGN(const IrValue value, EmitRead(state_, copy_.from));
    return EmitWrite(state_, copy_.to, value, /*non_temporal=*/false);
  }

  EmitState& state_;
  const AsyncCopy& copy_;
  const int64_t size_;       // bytes of an element
  IrValue guard_ = nullptr;  // true: there is something to read; null: always
  LinearIndex from_;
  LinearIndex to_;
};

}  // namespace

std::set<int> TokensOfCpAsync(const LoopNest& nest) {
  std::map<TensorId, Scope> scopes;
  ForEach<Alloc>(nest, [&](const Alloc& alloc) { scopes[alloc.tensor] = alloc.scope; });
  std::set<int> tokens;
  std::set<int> others;
  ForEach<AsyncCopy>(nest, [&](const AsyncCopy& copy) {
    const auto to = scopes.find(copy.to.tensor);
    const bool to_shared = to != scopes.end() && to->second == Scope::kShared;
    const bool from_global = nest.tensors[copy.from.tensor].role != TensorRole::kLocal;
    (to_shared && from_global ? tokens : others).insert(copy.token);
  });
  for (const int token : others) tokens.erase(token);
  return tokens;
}

Status EmitAsyncCopy(EmitState& state, const AsyncCopy& copy) {
  return CopyEmitter(state, copy).Emit();
}

void EmitCommit(EmitState& state) {
  state.builder.instructions().CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group,
                                               llvm::ArrayRef<llvm::Value*>{});
}

void EmitWait(EmitState& state, int pending) {
  llvm::IRBuilderBase& ir = state.builder.instructions();
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group,
                     llvm::ArrayRef<llvm::Value*>{ir.getInt32(static_cast<uint32_t>(pending))});
  state.ForgetLoads();
}

}  // namespace tunec::jit
