// Lowering of rotary embeddings. A rotated element is computed from two elements of the input: the
// element at the same index and the partner of that element.
#include "graph/lower/lower_node.h"

namespace tunec::lower {
namespace {

struct Rotation {
  Lazy x;
  Lazy cos;
  Lazy sin;
  int64_t pairs = 0;
  bool for_each = false;  // an angle for each element instead of each pair

  // Returns the element at `index` rotated with its partner at `other`. The angle is that of
  // `pair`, or of `index` if `for_each`.
  Expr Turned(StatementBuilder& builder, const Index& index, const IndexExpr& other,
              const IndexExpr& pair, const std::function<Expr(const Expr&)>& sign) const {
    Index partner = index;
    partner.back() = other;
    Index angle = index;
    if (!for_each) angle.back() = pair;
    return x.At(builder, index) * cos.Broadcast(builder, angle) +
           x.At(builder, partner) * sign(sin.Broadcast(builder, angle));
  }
};

Expr Same(const Expr& e) { return e; }
Expr Negated(const Expr& e) { return -e; }

// Returns the element at `index` after the rotation of its pair, whose elements are `pairs` apart.
// A half that the bounds of `index` exclude is left out.
Expr Halves(const Rotation& r, StatementBuilder& builder, const Index& index) {
  const IndexExpr& i = index.back();
  const IndexExpr in_first = IndexExpr(r.pairs - 1) - i;
  const auto first = [&] {
    return builder.EvaluateGuarded(
        {in_first}, 0, [&] { return r.Turned(builder, index, i + r.pairs, i, Negated); });
  };
  const auto second = [&] {
    return builder.EvaluateGuarded(
        {i - r.pairs}, 0, [&] { return r.Turned(builder, index, i - r.pairs, i - r.pairs, Same); });
  };
  if (builder.Bounds(in_first).hi < 0) return second();
  if (!builder.CanFail(in_first)) return first();
  return Expr::Select(Expr::Holds({in_first}), first(), second());
}

Expr Pairs(const Rotation& r, StatementBuilder& builder, const Index& index) {
  const IndexExpr& i = index.back();
  const IndexExpr odd = IndexExpr::Mod(i, 2);
  return r.Turned(builder, index, i + 1 - odd * 2, IndexExpr::FloorDiv(i, 2),
                  [&](const Expr& sin) { return Expr::Select(Expr::Holds({-odd}), -sin, sin); });
}

}  // namespace

Result<Lazy> LowerRotaryEmbedding(LowerContext& context, const Node& node) {
  const Lazy x = context.Input(node, 0);
  const int64_t size = x.shape.back();
  Rotation rotation{.x = x, .cos = context.Input(node, 1), .sin = context.Input(node, 2)};
  const int64_t angles = rotation.cos.shape.back();
  rotation.for_each = angles == size;
  rotation.pairs = rotation.for_each ? size / 2 : angles;
  const bool interleaved = node.Int("interleaved") != 0;
  const int cost = 2 * x.cost + rotation.cos.cost + rotation.sin.cost + 4;
  return context.Define(
      context.OutputType(node), x.shape, cost, [=](StatementBuilder& builder, const Index& index) {
        const auto turned = [&] {
          return interleaved ? Pairs(rotation, builder, index) : Halves(rotation, builder, index);
        };
        const IndexExpr in_pairs = IndexExpr(2 * rotation.pairs - 1) - index.back();
        if (!builder.CanFail(in_pairs)) return turned();
        if (builder.Bounds(in_pairs).hi < 0) return x.At(builder, index);
        const Expr inside = builder.EvaluateGuarded({in_pairs}, 0, turned);
        return Expr::Select(Expr::Holds({in_pairs}), inside, x.At(builder, index));
      });
}

}  // namespace tunec::lower
