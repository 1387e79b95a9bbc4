#include "graph/ops/op.h"

#include <array>

namespace tunec {
namespace {

struct OpRow {
  std::string_view name;
  OpKind kind;
  OpPattern pattern;
};

constexpr OpRow kRows[] = {
#define TUNEC_ROW(id, name, kind, pattern) {name, OpKind::kind, OpPattern::pattern},
    TUNEC_OPS(TUNEC_ROW)
#undef TUNEC_ROW
};

const OpRow& RowOf(Op op) { return kRows[static_cast<size_t>(op)]; }

}  // namespace

std::string_view Name(Op op) { return RowOf(op).name; }
OpKind KindOf(Op op) { return RowOf(op).kind; }
OpPattern PatternOf(Op op) { return RowOf(op).pattern; }

std::optional<Op> ParseOp(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

}  // namespace tunec
