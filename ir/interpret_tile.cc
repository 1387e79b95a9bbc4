#include "ir/interpret_tile.h"

namespace tunec {
namespace {

Access AccessOf(const Storage& storage, const Read& read) {
  return Access(storage, read.tensor, read.index);
}

}  // namespace

CompiledTile::CompiledTile(const Storage& storage, const TileParts& parts)
    : parts_(parts),
      left_(AccessOf(storage, parts.store->reads[parts.left])),
      right_(AccessOf(storage, parts.store->reads[parts.right])),
      accumulator_(storage, parts.store->writes[0].tensor, parts.store->writes[0].index) {}

void CompiledTile::Set(std::span<int64_t> point, TileAxis axis, int64_t value) const {
  const Loop* loop = parts_.loops[static_cast<int>(axis)];
  if (loop != nullptr) point[loop->var] = value;
}

Result<Scalar> CompiledTile::Load(Access& access, std::span<const int64_t> point) const {
  TUNEC_ASSIGN(const int64_t offset, access.Locate(point, {}));
  if (access.buffer().Written(offset)) return access.buffer().Get(offset);
  return Fail(ErrorCode::kInvalidArgument, "tile {}: read of {}, which nothing wrote",
              parts_.intrinsic->name, access.Element());
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
  TUNEC_ASSIGN(const int64_t offset, accumulator_.Locate(point, {}));
  accumulator_.buffer().Set(offset,
                            parts_.intrinsic->meaning(old_value, left_values_, right_values_));
  return {};
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
