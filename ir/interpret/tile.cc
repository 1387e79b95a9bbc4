#include "ir/interpret/tile.h"

namespace tunec {
namespace {

Status AtElement(const ElementAccess& access, Status status) {
  if (!status) status.error().message = access.Element() + ": " + status.error().message;
  return status;
}

ElementAccess AccessOf(const Storage& storage, const Read& read) {
  return ElementAccess(storage, read.tensor, read.index);
}

// Returns the accumulator plus the products of `left` and `right`, computed in float64.
Scalar ExactSum(const Scalar& accumulator, std::span<const Scalar> left,
                std::span<const Scalar> right) {
  double sum = accumulator.real;
  for (size_t i = 0; i < left.size(); ++i) sum += left[i].real * right[i].real;
  return Scalar::Real(sum);
}

TileMeaning MeaningOf(const TileIntrinsic& intrinsic, Precision precision) {
  const bool exact = precision == Precision::kFloat64 && IsFloat(intrinsic.accumulator.type);
  return exact ? ExactSum : intrinsic.meaning;
}

std::vector<Owner> OwnersOf(const TileIntrinsic& intrinsic) {
  if (!intrinsic.IsOfWarp()) return {};
  return OwnersOf(*intrinsic.accumulator.owners, intrinsic.Extent(TileAxis::kRow),
                  intrinsic.Extent(TileAxis::kColumn));
}

// Returns the index of an element of the accumulator. If each lane has its own accumulator, the
// variable of the row loop is added to the last index. SetAccumulator sets this variable to the
// number of the element in the lane.
std::vector<IndexExpr> AccumulatorIndex(const TileParts& parts, bool of_lane) {
  std::vector<IndexExpr> index = parts.store->writes[0].index;
  if (of_lane) {
    index.back() += IndexExpr::Var(parts.loops[static_cast<int>(TileAxis::kRow)]->var);
  }
  return index;
}

}  // namespace

CompiledTile::CompiledTile(const Storage& storage, const TileParts& parts, Precision precision,
                           BlockThread& thread)
    : parts_(parts),
      meaning_(MeaningOf(*parts.intrinsic, precision)),
      owners_(OwnersOf(*parts.intrinsic)),
      thread_(thread),
      name_("tile " + std::string(parts.intrinsic->name)),
      left_(AccessOf(storage, parts.store->reads[parts.left])),
      right_(AccessOf(storage, parts.store->reads[parts.right])),
      of_lane_(storage.IsPerThread(parts.store->writes[0].tensor)),
      accumulator_(storage, parts.store->writes[0].tensor, AccumulatorIndex(parts, of_lane_)) {}

void CompiledTile::SetAccumulator(std::span<int64_t> point, const Owner& owner) const {
  thread_.SetNumber(/*axis=*/0, owner.lane);
  if (of_lane_) Set(point, TileAxis::kRow, owner.element);
}

void CompiledTile::Set(std::span<int64_t> point, TileAxis axis, int64_t value) const {
  const Loop* loop = parts_.loops[static_cast<int>(axis)];
  if (loop != nullptr) point[loop->var.index()] = value;
}

Result<Scalar> CompiledTile::Load(ElementAccess& access, std::span<const int64_t> point) const {
  TUNEC_ASSIGN(const int64_t offset, access.Locate(point, {}));
  if (!access.buffer().Written(offset)) {
    return Fail(ErrorCode::kInvalidArgument, "{}: read of {}, which nothing wrote", name_,
                access.Element());
  }
  TUNEC_RETURN_IF_ERROR(AtElement(access, thread_.races().Read(access.tensor(), offset, name_)));
  return access.buffer().Get(offset);
}

// Loads an operand. If a warp executes the tile, records the load for two lanes, because all lanes
// load. Whichever lane wrote the element, at least one of the two lanes is another lane.
Result<Scalar> CompiledTile::LoadOperand(ElementAccess& access,
                                         std::span<const int64_t> point) const {
  if (owners_.empty()) return Load(access, point);
  thread_.SetNumber(/*axis=*/0, kWarpThreads - 1);
  TUNEC_RETURN_IF_ERROR(Load(access, point));
  thread_.SetNumber(/*axis=*/0, 0);
  return Load(access, point);
}

Status CompiledTile::Store(std::span<const int64_t> point, const Scalar& value) {
  TUNEC_ASSIGN(const int64_t offset, accumulator_.Locate(point, {}));
  TUNEC_RETURN_IF_ERROR(
      AtElement(accumulator_, thread_.races().Write(accumulator_.tensor(), offset, name_)));
  accumulator_.buffer().Set(offset, value);
  return {};
}

Status CompiledTile::RunElement(std::span<int64_t> point, const Owner* owner) {
  left_values_.clear();
  right_values_.clear();
  for (int64_t reduced = 0; reduced < Extent(TileAxis::kReduced); ++reduced) {
    for (int64_t member = 0; member < Extent(TileAxis::kGroup); ++member) {
      Set(point, TileAxis::kReduced, reduced);
      Set(point, TileAxis::kGroup, member);
      TUNEC_ASSIGN(const Scalar left, LoadOperand(left_, point));
      TUNEC_ASSIGN(const Scalar right, LoadOperand(right_, point));
      left_values_.push_back(left);
      right_values_.push_back(right);
    }
  }
  if (owner != nullptr) SetAccumulator(point, *owner);
  TUNEC_ASSIGN(const Scalar old_value, Load(accumulator_, point));
  return Store(point, meaning_(old_value, left_values_, right_values_));
}

Status CompiledTile::Run(std::span<int64_t> point) {
  for (int64_t row = 0; row < Extent(TileAxis::kRow); ++row) {
    for (int64_t column = 0; column < Extent(TileAxis::kColumn); ++column) {
      Set(point, TileAxis::kRow, row);
      Set(point, TileAxis::kColumn, column);
      const auto number = static_cast<size_t>(row * Extent(TileAxis::kColumn) + column);
      const Owner* owner = owners_.empty() ? nullptr : &owners_[number];
      TUNEC_RETURN_IF_ERROR(RunElement(point, owner));
    }
  }
  if (!owners_.empty()) thread_.SetNumber(/*axis=*/0, 0);
  return {};
}

}  // namespace tunec
