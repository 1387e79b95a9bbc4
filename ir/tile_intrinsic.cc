#include "ir/tile_intrinsic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "ir/emulated_amx.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

// --- meanings ---

// Flushes a denormal to zero: VDPBF16PS and TDPBF16PS do so for operands and results.
float Flushed(float value) {
  return std::abs(value) < 0x1p-126F ? std::copysign(0.F, value) : value;
}

float FlushedFma(double a, double b, float accumulator) {
  return Flushed(std::fma(Flushed(static_cast<float>(a)), Flushed(static_cast<float>(b)),
                          Flushed(accumulator)));
}

// Returns a sum of fused multiply-adds, as FMA instructions of CPUs compute it. The exact results
// of a GPU's tensor cores are not documented, so this sum also stands for them. The accuracy
// contract bounds the difference between this sum and other roundings.
Scalar SumOfFmas(const Scalar& accumulator, std::span<const Scalar> left,
                 std::span<const Scalar> right) {
  auto sum = static_cast<float>(accumulator.real);
  for (size_t i = 0; i < left.size(); ++i) {
    sum = std::fma(static_cast<float>(left[i].real), static_cast<float>(right[i].real), sum);
  }
  return Scalar::Real(sum);
}

// Computes the result of VDPBF16PS, which adds the product of the odd elements first, and rounds to
// float32 after each addition.
Scalar DotOfPair(const Scalar& accumulator, std::span<const Scalar> left,
                 std::span<const Scalar> right) {
  auto sum = static_cast<float>(accumulator.real);
  for (size_t i = left.size(); i-- > 0;) sum = FlushedFma(left[i].real, right[i].real, sum);
  return Scalar::Real(sum);
}

// Computes the result of TDPBF16PS, which sums odd and even products separately. At the end, the
// instruction adds the total of both sums to the accumulator.
Scalar DotOfPairs(const Scalar& accumulator, std::span<const Scalar> left,
                  std::span<const Scalar> right) {
  float sums[2] = {0, 0};
  for (size_t i = 0; i < left.size(); ++i) {
    sums[i % 2] = FlushedFma(left[i].real, right[i].real, sums[i % 2]);
  }
  const float sum = Flushed(sums[0] + sums[1]);
  return Scalar::Real(Flushed(Flushed(static_cast<float>(accumulator.real)) + sum));
}

Scalar IntegerDot(const Scalar& accumulator, std::span<const Scalar> left,
                  std::span<const Scalar> right) {
  int64_t sum = accumulator.integer;
  for (size_t i = 0; i < left.size(); ++i) sum += left[i].integer * right[i].integer;
  return Scalar::Integer(WrapTo(sum, DataType::kI32));
}

// Rounds the operands as cvt.rna.tf32 does, and computes a sum of fused multiply-adds. The rounding
// is to the nearest number with a 10-bit fraction, with ties away from 0.
Scalar SumOfTf32(const Scalar& accumulator, std::span<const Scalar> left,
                 std::span<const Scalar> right) {
  const auto tf32 = [](const Scalar& value) {
    const auto number = static_cast<float>(value.real);
    const auto bits = std::bit_cast<uint32_t>(number);
    return std::isfinite(number) ? std::bit_cast<float>((bits + 0x1000U) & 0xffffe000U) : number;
  };
  auto sum = static_cast<float>(accumulator.real);
  for (size_t i = 0; i < left.size(); ++i) sum = std::fma(tf32(left[i]), tf32(right[i]), sum);
  return Scalar::Real(sum);
}

// --- entries ---

const std::vector<Scope> kCpuScopes = {Scope::kGlobal, Scope::kPacked, Scope::kRegister};
const std::vector<Scope> kMemory = {Scope::kGlobal, Scope::kPacked};

// Returns an intrinsic that multiplies one left element by a vector of right elements.
TileIntrinsic VectorFma(std::string name, int64_t lanes, std::vector<std::string> features) {
  return {.name = std::move(name),
          .extents = {1, 1, 1, lanes},
          .left = {DataType::kF32, {0, 0, 0, 0}, kCpuScopes},
          .right = {DataType::kF32, {0, 0, 0, 1}, kCpuScopes},
          .accumulator = {DataType::kF32, {0, 0, 0, 1}, kCpuScopes},
          .meaning = SumOfFmas,
          .target = "cpu",
          .features = std::move(features)};
}

// Returns an intrinsic that multiplies one left group by a vector of right groups; a group has two
// or four elements.
TileIntrinsic VectorDot(std::string name, int64_t group, const DataType types[3],
                        TileMeaning meaning, std::string feature) {
  return {.name = std::move(name),
          .extents = {1, 1, group, 16},
          .left = {types[0], {0, 0, 1, 0}, kMemory},
          .right = {types[1], {0, 0, 1, group}, kMemory},
          .accumulator = {types[2], {0, 0, 0, 1}, kCpuScopes},
          .meaning = meaning,
          .target = "cpu",
          .features = {"avx512f", std::move(feature)}};
}

// Returns an intrinsic on sixteen rows of 64 bytes of each operand and of the accumulator.
TileIntrinsic Amx(std::string name, int64_t group, const DataType types[3], TileMeaning meaning,
                  std::string feature) {
  return {.name = std::move(name),
          .extents = {16, 16, group, 16},
          .left = {types[0], {kAnyStride, group, 1, 0}, kMemory},
          .right = {types[1], {0, kAnyStride, 1, group}, kMemory},
          .accumulator = {types[2], {kAnyStride, 0, 0, 1}, kMemory},
          .meaning = meaning,
          .target = "cpu",
          .features = {"amx-tile", std::move(feature)}};
}

// --- fragments of warps ---
//
// PTX ISA 9.2, 9.7.14.5 "Matrix Fragments". lane / 4 is the row of the left operand, or the column
// of the right one. lane % 4 counts groups of consecutive elements along the reduced dimension; a
// 32-bit register holds one group. The other registers are 16 bytes later along that dimension, or
// 8 rows below (left operand only), or both. This rule covers mma.m16n8k16 with .bf16 and .f16,
// .m16n8k8 with .tf32 and .m16n8k32 with .s8.

constexpr int64_t kRegisterBytes = 4;

// Return the maps of the operands. `group` is the number of elements in a register.
OwnerMap LeftFragment(int64_t group) {
  return {.lane = {{4, 0, group}, {8, 1, 0}},
          .element = {{group, 0, 1}, {2, 8, 0}, {2, 0, 4 * group}}};
}
OwnerMap RightFragment(int64_t group) {
  return {.lane = {{4, group, 0}, {8, 0, 1}}, .element = {{group, 1, 0}, {2, 4 * group, 0}}};
}
// Returns the map of an accumulator of 16 rows and 8 columns, with one element per register.
OwnerMap AccumulatorFragment() {
  return {.lane = {{4, 0, 2}, {8, 1, 0}}, .element = {{2, 0, 1}, {2, 8, 0}}};
}

// Returns an intrinsic of mma.sync, by which a warp multiplies 16 rows by 8 columns. Each row and
// each column has 32 bytes along the reduced dimension.
TileIntrinsic WarpMma(std::string name, DataType type, DataType accumulator, TileMeaning meaning) {
  const auto group = kRegisterBytes / static_cast<int64_t>(SizeOf(type));
  const std::vector<Scope> memory = {Scope::kGlobal, Scope::kShared};
  return {.name = std::move(name),
          .extents = {16, 8 * group, 1, 8},
          .left = {type, {kAnyStride, kAnyStride, 0, 0}, memory, LeftFragment(group)},
          .right = {type, {0, kAnyStride, 0, kAnyStride}, memory, RightFragment(group)},
          .accumulator = {accumulator,
                          {kByOwner, 0, 0, kByOwner},
                          {Scope::kFragment},
                          AccumulatorFragment()},
          .meaning = meaning,
          .rounds_operands = type == DataType::kF32,
          .target = "cuda",
          .features = {"sm_80"}};
}

// Returns an intrinsic of wgmma, an instruction of four warps. Rows of the left and columns of the
// right operand are contiguous. No code generator emits wgmma yet, so there are no owner maps.
TileIntrinsic Wgmma(int64_t columns) {
  return {.name = fmt::format("wgmma.m64n{}k16.bf16", columns),
          .extents = {64, 16, 1, columns},
          .left = {DataType::kBF16, {kAnyStride, 1, 0, 0}, {Scope::kShared}},
          .right = {DataType::kBF16, {0, 1, 0, kAnyStride}, {Scope::kShared}},
          .accumulator = {DataType::kF32, {kAnyStride, 0, 0, 1}, {Scope::kFragment}},
          .meaning = SumOfFmas,
          .target = "cuda",
          .features = {"sm_90a"}};
}

std::vector<TileIntrinsic> MakeTable() {
  constexpr DataType kBFloat16[] = {DataType::kBF16, DataType::kBF16, DataType::kF32};
  constexpr DataType kBytes[] = {DataType::kU8, DataType::kI8, DataType::kI32};
  std::vector<TileIntrinsic> table = {
      VectorFma("fma.avx2", 8, {"avx2", "fma"}),
      VectorFma("fma.avx512", 16, {"avx512f"}),
      VectorDot("dpbf16.avx512", 2, kBFloat16, DotOfPair, "avx512bf16"),
      VectorDot("vnni.avx512", 4, kBytes, IntegerDot, "avx512vnni"),
      Amx("amx.bf16", 2, kBFloat16, DotOfPairs, "amx-bf16"),
      Amx("amx.int8", 4, kBytes, IntegerDot, "amx-int8"),
  };
  table.push_back(WarpMma("mma.m16n8k8.tf32", DataType::kF32, DataType::kF32, SumOfTf32));
  table.push_back(WarpMma("mma.m16n8k16.bf16", DataType::kBF16, DataType::kF32, SumOfFmas));
  table.push_back(WarpMma("mma.m16n8k16.f16", DataType::kF16, DataType::kF32, SumOfFmas));
  table.push_back(WarpMma("mma.m16n8k32.s8", DataType::kI8, DataType::kI32, IntegerDot));
  for (int64_t columns = 8; columns <= 256; columns += 8) table.push_back(Wgmma(columns));
  return table;
}

// --- the parts of a tile ---

std::unexpected<Error> Wrong(std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "{}", why);
}

bool IsFrom0To(const Loop& loop, int64_t extent) {
  return loop.lower == std::vector<IndexExpr>{IndexExpr(0)} &&
         loop.upper == std::vector<IndexExpr>{IndexExpr(extent)};
}

// Returns the slot if the operand is a read or a conversion of a read, and nothing otherwise.
std::optional<int> SlotOf(const Expr& operand) {
  const Expr& read = operand.kind() == ExprKind::kCast ? operand.operands()[0] : operand;
  if (read.kind() != ExprKind::kRead) return std::nullopt;
  return read.node().slot;
}

// Returns the reason why the reads `parts.left` and `parts.right` and the write cannot be the
// operands and the accumulator of the entry. Returns an empty string if they can.
std::string Mismatch(const TileParts& parts, const LoopNest& nest) {
  std::optional<VarId> variables[kTileAxes];
  for (int axis = 0; axis < kTileAxes; ++axis) {
    if (parts.loops[axis] != nullptr) variables[axis] = parts.loops[axis]->var;
  }
  const auto ranges = [&](VarId v) {
    for (int axis = 0; axis < kTileAxes; ++axis) {
      if (variables[axis] == v) return Interval{0, parts.intrinsic->extents[axis] - 1};
    }
    return kUnknownInterval;
  };
  const auto check = [&](const TileOperand& operand, TensorId id,
                         const std::vector<IndexExpr>& index, std::string_view what) {
    const Tensor& tensor = nest.tensors[id];
    if (tensor.type != operand.type) {
      return fmt::format("{} is {} of {}, expected {}", what, tensor.name, Name(tensor.type),
                         Name(operand.type));
    }
    return DescribeMisplacement(operand, *parts.intrinsic,
                                Simplify(StorageOffset(tensor, index), ranges), variables,
                                fmt::format("{} {}", what, tensor.name));
  };
  const Read& left = parts.store->reads[parts.left];
  const Read& right = parts.store->reads[parts.right];
  const Write& write = parts.store->writes[0];
  if (left.guard || right.guard) return "an operand is guarded";
  std::string why = check(parts.intrinsic->left, left.tensor, left.index, "left operand");
  if (why.empty()) {
    why = check(parts.intrinsic->right, right.tensor, right.index, "right operand");
  }
  if (!why.empty()) return why;
  return check(parts.intrinsic->accumulator, write.tensor, write.index, "accumulator");
}

}  // namespace

std::string_view Name(TileAxis axis) {
  constexpr std::array<std::string_view, kTileAxes> kNames = {"rows", "reduced", "group",
                                                              "columns"};
  return kNames[static_cast<size_t>(axis)];
}

std::span<const TileIntrinsic> TileIntrinsics() {
  static const std::vector<TileIntrinsic> table = MakeTable();
  return table;
}

const TileIntrinsic* FindTileIntrinsic(std::string_view name) {
  const auto found = std::ranges::find(TileIntrinsics(), name, &TileIntrinsic::name);
  return found == TileIntrinsics().end() ? nullptr : &*found;
}

std::vector<std::string> MissingFeatures(const TileIntrinsic& intrinsic, const Target& target) {
  if (intrinsic.target != target.Kind()) return {"a " + intrinsic.target};
  const bool emulates = target.Has(kAmxEmulated);
  std::vector<std::string> missing = intrinsic.features;
  std::erase_if(missing, [&](const std::string& feature) {
    return target.Has(feature) || (emulates && feature.starts_with("amx-"));
  });
  return missing;
}

std::vector<std::string> MissingFeatures(const LoopNest& nest, const Target& target) {
  std::vector<std::string> missing;
  ForEach<Tile>(nest, [&](const Tile& tile) {
    const auto* intrinsic = FindTileIntrinsic(tile.intrinsic);
    if (intrinsic == nullptr) return;
    for (std::string& feature : MissingFeatures(*intrinsic, target)) {
      if (std::ranges::find(missing, feature) == missing.end()) {
        missing.push_back(std::move(feature));
      }
    }
  });
  return missing;
}

std::string DescribeMisplacement(const TileOperand& operand, const TileIntrinsic& intrinsic,
                                 const IndexExpr& offset,
                                 std::span<const std::optional<VarId>> variables,
                                 std::string_view what) {
  for (int axis = 0; axis < kTileAxes; ++axis) {
    if (!variables[axis] || intrinsic.extents[axis] == 1) continue;
    const int64_t expected = operand.strides[axis];
    if (expected == kByOwner) continue;
    const VarId variable = *variables[axis];
    const int64_t stride = offset.Coefficient(variable);
    const std::string_view along = Name(static_cast<TileAxis>(axis));
    if ((offset - IndexExpr::Var(variable) * stride).Uses(variable)) {
      return fmt::format("{}: neighbours along {} are not evenly spaced", what, along);
    }
    if (expected != kAnyStride && stride != expected) {
      return fmt::format("{}: neighbours along {} are {} apart, expected {}", what, along, stride,
                         expected);
    }
  }
  return {};
}

Result<TileParts> MatchTile(const Tile& tile, const LoopNest& nest) {
  TileParts parts{.intrinsic = FindTileIntrinsic(tile.intrinsic)};
  if (parts.intrinsic == nullptr) return Wrong("there is no such intrinsic");
  const Body* body = &tile.body;
  for (int axis = 0; axis < kTileAxes; ++axis) {
    const int64_t extent = parts.intrinsic->extents[axis];
    if (extent == 1) continue;
    const Loop* loop = body->size() == 1 ? std::get_if<Loop>(&body->front().value) : nullptr;
    if (loop == nullptr || !IsFrom0To(*loop, extent)) {
      return Wrong(fmt::format("expected a loop over {} of {} iterations",
                               Name(static_cast<TileAxis>(axis)), extent));
    }
    parts.loops[axis] = loop;
    body = &loop->body;
  }
  parts.store = body->size() == 1 ? std::get_if<Store>(&body->front().value) : nullptr;
  if (parts.store == nullptr) return Wrong("expected one statement inside its loops");
  const Store& store = *parts.store;
  const bool sums = store.writes.size() == 1 && store.values.size() == 1 &&
                    store.reducer == Reducer::Sum(parts.intrinsic->accumulator.type) &&
                    store.values[0].Is(ScalarOp::kMul);
  if (!sums) return Wrong("expected a sum of products");
  const std::optional<int> first = SlotOf(store.values[0].operands()[0]);
  const std::optional<int> second = SlotOf(store.values[0].operands()[1]);
  const auto is_read = [&](const std::optional<int>& slot) {
    return slot && *slot >= 0 && *slot < std::ssize(store.reads);
  };
  if (!is_read(first) || !is_read(second)) return Wrong("expected products of elements");
  parts.left = *first;
  parts.right = *second;
  const std::string why = Mismatch(parts, nest);
  if (why.empty()) return parts;
  std::swap(parts.left, parts.right);
  if (Mismatch(parts, nest).empty()) return parts;
  return Wrong(why);
}

const TileIntrinsic* WarpIntrinsicOf(const Tile& tile) {
  const TileIntrinsic* intrinsic = FindTileIntrinsic(tile.intrinsic);
  return intrinsic != nullptr && intrinsic->IsOfWarp() ? intrinsic : nullptr;
}

bool HoldsWarpTile(const Body& body) {
  bool holds = false;
  ForEach<Tile>(body, [&](const Tile& tile) { holds |= WarpIntrinsicOf(tile) != nullptr; });
  return holds;
}

Result<TileParts> PartsOf(const Tile& tile, const LoopNest& nest) {
  Result<TileParts> parts = MatchTile(tile, nest);
  if (parts) return parts;
  Error error = std::move(parts).error();
  error.message = fmt::format("tile {}: {}", tile.intrinsic, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace tunec
