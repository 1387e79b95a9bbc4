// The emission of warp tiles. The owner maps of ir/tile_intrinsic.cc assign an operand's elements
// to the registers of lanes. A 32-bit register holds consecutive elements along the reduced axis.
// Four lanes together hold a row (or column) of 16 bytes. The eight groups of four lanes thus hold
// a matrix of ldmatrix.
#include "jit/cuda/warp_tiles.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "ir/nest/visit_loop_nest.h"
#include "jit/cuda/warp_instructions.h"
#include "support/check.h"

namespace tunec::jit {
namespace {

constexpr unsigned kSharedSpace = 3;
constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kMatrixRowBytes = 16;

const WarpInstruction& InstructionOf(const TileIntrinsic& intrinsic) {
  const auto found = std::ranges::find(WarpInstructions(), intrinsic.name, &WarpInstruction::tile);
  TUNEC_CHECK(found != WarpInstructions().end(), "tile {} has no instruction on cuda",
              intrinsic.name);
  return *found;
}

int64_t SizeOfElement(const TileOperand& operand) {
  return static_cast<int64_t>(SizeOf(operand.type));
}

// Returns the number of elements in a register.
int64_t GroupOf(const TileOperand& operand) { return kRegisterBytes / SizeOfElement(operand); }

std::vector<IrValue> Unpacked(llvm::IRBuilderBase& ir, llvm::Value* registers, int64_t count) {
  std::vector<IrValue> values;
  for (unsigned r = 0; r < static_cast<unsigned>(count); ++r)
    values.push_back(ir.CreateExtractValue(registers, {r}));
  return values;
}

// Returns the intrinsic ldmatrix for this number of matrices, two or four.
llvm::Intrinsic::ID LoadInstruction(int64_t matrices, bool transposed) {
  const auto loads = [&](const MatrixLoadInstruction& load) {
    return load.matrices == matrices && load.transposed == transposed;
  };
  const auto found = std::ranges::find_if(MatrixLoadInstructions(), loads);
  TUNEC_CHECK(found != MatrixLoadInstructions().end(), "an operand of {} matrices", matrices);
  return found->id;
}

// Converts an operand's register to the type that the instruction requires. Rounds the value to
// tf32 if the intrinsic has rounds_operands.
IrValue AsOperand(Builder& builder, const TileIntrinsic& intrinsic, IrValue bits) {
  llvm::IRBuilderBase& ir = builder.instructions();
  if (intrinsic.rounds_operands) {
    return ir.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna,
                              {builder.Bitcast(bits, Element::kF32)});
  }
  if (!InstructionOf(intrinsic).of_halves) return bits;
  return ir.CreateBitCast(bits, llvm::FixedVectorType::get(ir.getHalfTy(), 2));
}

}  // namespace

WarpTiles::WarpTiles(const LoopNest& nest) {
  ForEach<Alloc>(nest, [&](const Alloc& alloc) {
    if (alloc.scope == Scope::kShared) shared_.insert(alloc.tensor);
  });
}

void WarpTiles::BeginPhase(EmitState& state, const Phase& phase, IrValue thread) {
  fragments_.clear();
  if (!HoldsWarpTile(phase.body)) return;
  Builder& b = state.builder;
  const auto digit = [&](int64_t weight, int64_t extent) {
    const IrValue value = b.URem(b.UDiv(thread, b.I64(weight)), b.I64(extent));
    return state.index.NewValue(value, {0, extent - 1});
  };
  of_four_ = digit(1, 4);
  group_ = digit(4, 8);
  of_eight_ = digit(1, 8);
  matrix_ = {digit(8, 2), digit(16, 2)};
}

Status WarpTiles::Emit(EmitState& state, const TileParts& parts) {
  const TileIntrinsic& intrinsic = *parts.intrinsic;
  const Write& write = parts.store->writes[0];
  if (!state.InSlots(write.tensor)) {
    return Fail(ErrorCode::kUnsupported,
                "fragment {}: the loops around its tiles must be unrolled, and its registers few",
                state.tensor(write.tensor).name);
  }
  state.statement = parts.store->statement;
  for (const Loop* loop : parts.loops)
    if (loop != nullptr) state.index.Bind(loop->var, LinearIndex{});
  const std::vector<Read>& reads = parts.store->reads;
  const Location left = Locate(state, parts, reads[parts.left], TileAxis::kRow, TileAxis::kReduced);
  const Location right =
      Locate(state, parts, reads[parts.right], TileAxis::kReduced, TileAxis::kColumn);
  std::vector<llvm::Value*> operands = Fragment(state, parts, intrinsic.left, left);
  const std::vector<IrValue> more = Fragment(state, parts, intrinsic.right, right);
  operands.insert(operands.end(), more.begin(), more.end());
  std::vector<IndexExpr> location = write.index;
  const int64_t registers = ElementsOfLane(*intrinsic.accumulator.owners);
  for (int64_t r = 0; r < registers; ++r) {
    location.back() = r;
    operands.push_back(ReadSlots(state, write.tensor, location));
  }
  llvm::IRBuilderBase& ir = state.builder.instructions();
  llvm::Value* sums = ir.CreateIntrinsic(InstructionOf(intrinsic).id, operands);
  const std::vector<IrValue> values = Unpacked(ir, sums, registers);
  for (int64_t r = 0; r < registers; ++r) {
    location.back() = r;
    WriteSlots(state, write.tensor, location, values[static_cast<size_t>(r)]);
  }
  return {};
}

WarpTiles::Location WarpTiles::Locate(EmitState& state, const TileParts& parts, const Read& read,
                                      TileAxis rows, TileAxis columns) const {
  const IndexExpr& offset = state.analysis.offsets.at(&read);
  const auto stride = [&](TileAxis axis) {
    return offset.Coefficient(parts.loops[static_cast<int>(axis)]->var);
  };
  return {.tensor = read.tensor,
          .offset = state.index.Evaluate(offset),
          .row_stride = stride(rows),
          .column_stride = stride(columns)};
}

std::vector<IrValue> WarpTiles::Fragment(EmitState& state, const TileParts& parts,
                                         const TileOperand& operand, const Location& location) {
  const Key key = {&operand,
                   state.Root(location.tensor),
                   location.offset.terms,
                   location.offset.constant,
                   location.row_stride,
                   location.column_stride};
  const auto [found, is_new] = fragments_.try_emplace(key);
  if (is_new) {
    state.machine.NameAccess(state.builder, state.statement, state.tensor(location.tensor).name);
    found->second = Load(state, operand, location);
    for (IrValue& value : found->second) value = AsOperand(state.builder, *parts.intrinsic, value);
  }
  return found->second;
}

std::vector<IrValue> WarpTiles::Load(EmitState& state, const TileOperand& operand,
                                     const Location& location) const {
  const std::optional<Matrices> order = AsMatrices(state, operand, location);
  if (order) return LoadMatrices(state, operand, location, *order);
  return LoadElements(state, operand, location);
}

// Returns the order in which ldmatrix can load the operand, or nullopt. The operand must consist of
// matrices of eight rows of 16 contiguous, aligned bytes in shared memory. With elements of two
// bytes, the transposed operand may consist of such matrices instead.
std::optional<WarpTiles::Matrices> WarpTiles::AsMatrices(EmitState& state,
                                                         const TileOperand& operand,
                                                         const Location& location) const {
  const int64_t size = SizeOfElement(operand);
  const int64_t reduced = location.StrideOf(operand.owners->element[0]);
  const int64_t across = location.StrideOf(operand.owners->lane[1]);
  const bool aligned = AlignmentOf(state, location.tensor, location.offset) % kMatrixRowBytes == 0;
  if (!aligned || !shared_.contains(state.Root(location.tensor))) return std::nullopt;
  if (reduced == 1 && across * size % kMatrixRowBytes == 0) return Matrices::kByRows;
  const bool turned = size == 2 && across == 1 && reduced * size % kMatrixRowBytes == 0;
  return turned ? std::optional(Matrices::kTransposed) : std::nullopt;
}

// Loads an operand by ldmatrix and returns its registers. Lane l supplies the address of row `l mod
// 8` of matrix `floor(l/8) mod matrices`; register r is part of matrix r.
std::vector<IrValue> WarpTiles::LoadMatrices(EmitState& state, const TileOperand& operand,
                                             const Location& location, Matrices order) const {
  const OwnerMap& map = *operand.owners;
  const bool transposed = order == Matrices::kTransposed;
  const int64_t next = location.StrideOf(transposed ? map.element[0] : map.lane[1]);
  LinearIndex row = state.index.Sum(location.offset, of_eight_, next);
  for (size_t bit = 0; bit + 1 < map.element.size(); ++bit)
    row = state.index.Sum(row, matrix_[bit], location.StrideOf(map.element[bit + 1]));
  // A row of 16 bytes stays contiguous in swizzled storage.
  row = EmitOffset(state, location.tensor, row);
  const IrValue generic =
      state.index.Address(state.storage[location.tensor].base, row, SizeOfElement(operand));
  llvm::IRBuilderBase& ir = state.builder.instructions();
  llvm::Type* pointer = llvm::PointerType::get(ir.getContext(), kSharedSpace);
  const int64_t matrices = ElementsOfLane(map) / GroupOf(operand);
  llvm::Value* registers = ir.CreateIntrinsic(LoadInstruction(matrices, transposed), {pointer},
                                              {ir.CreateAddrSpaceCast(generic, pointer)});
  return Unpacked(ir, registers, matrices);
}

std::vector<IrValue> WarpTiles::LoadElements(EmitState& state, const TileOperand& operand,
                                             const Location& location) const {
  const OwnerMap& map = *operand.owners;
  const int64_t size = SizeOfElement(operand);
  const int64_t group = GroupOf(operand);
  const TensorStorage& storage = state.storage[location.tensor];
  Builder& b = state.builder;
  LinearIndex first = state.index.Sum(location.offset, of_four_, location.StrideOf(map.lane[0]));
  first = state.index.Sum(first, group_, location.StrideOf(map.lane[1]));
  const auto load = [&](int64_t element, Element type, int64_t bytes) {
    const MatrixPosition at = tunec::Locate(map, {.lane = 0, .element = element});
    LinearIndex index = first;
    index.constant += at.row * location.row_stride + at.column * location.column_stride;
    index = EmitOffset(state, location.tensor, index);
    const int64_t alignment = std::min(AlignmentOf(state, location.tensor, index), bytes);
    return b.Load({type, 1}, state.index.Address(storage.base, index, size), alignment,
                  storage.invariant);
  };
  const bool whole = group == 1 || (location.StrideOf(map.element[0]) == 1 &&
                                    AlignmentOf(state, location.tensor, first) >= kRegisterBytes);
  std::vector<IrValue> registers;
  for (int64_t r = 0; r < ElementsOfLane(map) / group; ++r) {
    if (whole) {
      registers.push_back(load(r * group, Element::kI32, kRegisterBytes));
      continue;
    }
    IrValue bits = nullptr;
    for (int64_t e = 0; e < group; ++e) {
      const Element type = size == 1 ? Element::kI8 : Element::kI16;
      const IrValue one = b.ZeroExtend(load(r * group + e, type, size), Element::kI32);
      const IrValue shifted = b.Shl(one, b.Int(Element::kI32, 8 * size * e));
      bits = bits == nullptr ? shifted : b.Or(bits, shifted);
    }
    registers.push_back(bits);
  }
  return registers;
}

}  // namespace tunec::jit
