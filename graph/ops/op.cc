#include "graph/ops/op.h"

#include <algorithm>

namespace tunec {
namespace {

struct OpRow {
  std::string_view name;
  OpKind kind;
  OpPattern pattern;
  RowAxes rows;
  ImageUse images;
};

constexpr OpRow kRows[] = {
#define TUNEC_ROW(id, name, kind, pattern, operands, cost, repeats, rows, images, ...) \
  {name, OpKind::k##kind, OpPattern::k##pattern, RowAxes::k##rows, ImageUse::k##images},
    TUNEC_OPS(TUNEC_ROW)
#undef TUNEC_ROW
};

const OpRow& RowOf(Op op) { return kRows[static_cast<size_t>(op)]; }

}  // namespace

std::string_view Name(Op op) { return RowOf(op).name; }
OpKind KindOf(Op op) { return RowOf(op).kind; }
OpPattern PatternOf(Op op) { return RowOf(op).pattern; }
RowAxes RowAxesOf(Op op) { return RowOf(op).rows; }
ImageUse ImageUseOf(Op op) { return RowOf(op).images; }

std::optional<Op> ParseOp(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &OpRow::name);
  if (row == std::end(kRows)) return std::nullopt;
  return static_cast<Op>(row - std::begin(kRows));
}

}  // namespace tunec
