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

}  // namespace

CompiledTile::CompiledTile(const Storage& storage, const TileParts& parts, RaceDetector& races)
    : parts_(parts),
      races_(races),
      name_("tile " + std::string(parts.intrinsic->name)),
      left_(AccessOf(storage, parts.store->reads[parts.left])),
      right_(AccessOf(storage, parts.store->reads[parts.right])),
      accumulator_(storage, parts.store->writes[0].tensor, parts.store->writes[0].index) {}

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
  TUNEC_RETURN_IF_ERROR(AtElement(access, races_.Read(access.tensor(), offset, name_)));
  return access.buffer().Get(offset);
}

Status CompiledTile::Store(std::span<const int64_t> point, const Scalar& value) {
  TUNEC_ASSIGN(const int64_t offset, accumulator_.Locate(point, {}));
  TUNEC_RETURN_IF_ERROR(
      AtElement(accumulator_, races_.Write(accumulator_.tensor(), offset, name_)));
  accumulator_.buffer().Set(offset, value);
  return {};
}

Status CompiledTile::RunElement(std::span<int64_t> point) {
  left_values_.clear();
  right_values_.clear();
  for (int64_t reduced = 0; reduced < Extent(TileAxis::kReduced); ++reduced) {
    for (int64_t member = 0; member < Extent(TileAxis::kGroup); ++member) {
      Set(point, TileAxis::kReduced, reduced);
      Set(point, TileAxis::kGroup, member);
      TUNEC_ASSIGN(const Scalar left, Load(left_, point));
      TUNEC_ASSIGN(const Scalar right, Load(right_, point));
      left_values_.push_back(left);
      right_values_.push_back(right);
    }
  }
  TUNEC_ASSIGN(const Scalar old_value, Load(accumulator_, point));
  return Store(point, parts_.intrinsic->meaning(old_value, left_values_, right_values_));
}

Status CompiledTile::Run(std::span<int64_t> point) {
  for (int64_t row = 0; row < Extent(TileAxis::kRow); ++row) {
    for (int64_t column = 0; column < Extent(TileAxis::kColumn); ++column) {
      Set(point, TileAxis::kRow, row);
      Set(point, TileAxis::kColumn, column);
      TUNEC_RETURN_IF_ERROR(RunElement(point));
    }
  }
  return {};
}

}  // namespace tunec
