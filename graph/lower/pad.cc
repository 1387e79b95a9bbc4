// Lowering of pad. Constant padding uses guarded reads. The other modes select between regions that
// read different elements. Negative pads crop.
#include "graph/lower/lower_node.h"
#include "graph/lower/regions.h"

namespace tunec::lower {
namespace {

// Returns the regions of a mode that repeats the input, along one axis of extent n.
std::vector<Region> RegionsOf(const std::string& mode, const IndexExpr& position, int64_t n) {
  std::vector<Region> regions = ClampedRegions(position, n);
  if (mode == "reflect") {
    regions[1].at = -position;
    regions[2].at = IndexExpr(2 * (n - 1)) - position;
  } else if (mode == "wrap") {
    regions[1].at = position + n;
    regions[2].at = position - n;
  }
  return regions;
}

struct PadOperand {
  Lazy x;
  std::vector<int64_t> begins;
  std::string mode;
};

// Returns the padded element at `index`, which already has input positions for the axes before
// `axis`. Selects the region of each further axis. The selection of the last axis is innermost.
Expr ReadRepeated(StatementBuilder& builder, const PadOperand& pad, Index index, size_t axis) {
  if (axis == index.size()) return pad.x.At(builder, index);
  const std::vector<Region> regions =
      RegionsOf(pad.mode, index[axis] - pad.begins[axis], pad.x.shape[axis]);
  return SelectRegion(builder, regions, [&](const IndexExpr& at) {
    Index moved = index;
    moved[axis] = at;
    return ReadRepeated(builder, pad, moved, axis + 1);
  });
}

Expr ReadConstant(StatementBuilder& builder, const PadOperand& pad, const Index& index,
                  double outside) {
  Index source;
  std::vector<IndexExpr> inside;
  for (size_t d = 0; d < index.size(); ++d) {
    source.push_back(index[d] - pad.begins[d]);
    inside.push_back(source[d]);
    inside.push_back(IndexExpr(pad.x.shape[d] - 1) - source[d]);
  }
  std::erase_if(inside, [&](const IndexExpr& e) { return !builder.CanFail(e); });
  Expr value = builder.EvaluateGuarded(inside, outside, [&] { return pad.x.At(builder, source); });
  if (inside.empty() || builder.IsReadGuardedBy(value, inside)) return value;
  return Expr::Select(Expr::Holds(inside), value, Expr::Constant(outside, value.type()));
}

}  // namespace

Result<Lazy> LowerPad(LowerContext& context, const Node& node) {
  const Lazy& x = context.Input(node, 0);
  const std::vector<int64_t>& pads = node.Ints("pads");
  const size_t rank = x.shape.size();
  const std::string& mode = node.String("mode");
  PadOperand pad{
      .x = x,
      .begins = std::vector<int64_t>(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank)),
      .mode = mode};
  for (size_t d = 0; d < rank && mode != "constant"; ++d) {
    const int64_t reach = x.shape[d] - (mode == "reflect" ? 1 : 0);
    const int64_t most = std::max(pads[d], pads[rank + d]);
    if (most > 0 && (x.shape[d] == 0 || (mode != "edge" && most > reach)))
      return FailAt(node.where, ErrorCode::kUnsupported,
                    "'{}': pads axis {} of extent {} by {} in mode {}, more than once around",
                    node.name, d, x.shape[d], most, mode);
  }
  const double outside = node.Float("value");
  return context.Define(context.OutputType(node), context.OutputShape(node), x.cost + 1,
                        [=](StatementBuilder& builder, const Index& index) {
                          if (pad.mode == "constant")
                            return ReadConstant(builder, pad, index, outside);
                          return ReadRepeated(builder, pad, index, 0);
                        });
}

}  // namespace tunec::lower
