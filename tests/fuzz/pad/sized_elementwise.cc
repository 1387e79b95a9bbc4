// Recipes that add element-wise operators to a model.
#include "tests/fuzz/graph_generator.h"
#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

// Returns the operators whose GraphGenerator recipe uses this draw function.
std::vector<Op> OpsDrawnBy(Made (*draw)(GraphGenerator&, Op)) {
  std::vector<Op> ops;
  for (const Recipe& recipe : Recipes())
    if (recipe.draw == draw) ops.push_back(recipe.op);
  return ops;
}

Op OneOfOps(SizedGenerator& g, const std::vector<Op>& ops) { return ops[g.Below(std::ssize(ops))]; }

Drawn Unary(SizedGenerator& g) {
  static const std::vector<Op> kOps = OpsDrawnBy(DrawUnary);
  const Op op = g.Chance(15) ? Op::kCast : OneOfOps(g, kOps);
  return g.Try(op, {g.Operand(SpecOf(op).domain)}, UnaryAttributes(g, op));
}

// Returns a divisor whose exact elements are not zero, because integer division by zero is an
// error. Its padded elements may be zero.
ValueId Divisor(SizedGenerator& g, DataType type, const SizedShape& shape) {
  if (g.Chance(30)) return g.Scalar(type, 3);
  SizedShape own(shape.begin() + g.Below(std::ssize(shape) + 1), shape.end());
  return g.Input(type, own, "positive");
}

Drawn Binary(SizedGenerator& g) {
  static const std::vector<Op> kOps = OpsDrawnBy(DrawBinary);
  const Op op = OneOfOps(g, kOps);
  const ValueId x = g.Operand(SpecOf(op).domain);
  const DataType type = g.TypeOf(x);
  Attributes attributes;
  if (op == Op::kMod) attributes["fmod"] = g.Below(2);
  if ((op == Op::kDiv || op == Op::kMod) && !IsFloat(type))
    return g.Try(op, {x, Divisor(g, type, g.ShapeOf(x))}, attributes);
  const ValueId y =
      op == Op::kPrelu ? g.BroadcastingTo(type, g.ShapeOf(x)) : g.Partner(type, g.ShapeOf(x));
  const bool swapped = op != Op::kPrelu && g.Chance(50);
  return swapped ? g.Try(op, {y, x}, attributes) : g.Try(op, {x, y}, attributes);
}

Drawn Where(SizedGenerator& g) {
  const ValueId yes = g.Operand(Domain::kAny);
  const ValueId no = g.Partner(g.TypeOf(yes), g.ShapeOf(yes));
  const ValueId condition = g.Partner(DataType::kBool, g.ShapeOf(yes));
  return g.Chance(50) ? g.Try(Op::kWhere, {condition, yes, no})
                      : g.Try(Op::kWhere, {condition, no, yes});
}

// Combines an operand with a number that depends on a dimension's size, such as the inverse or the
// last index.
Drawn WithSize(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kNumber);
  const DataType type = g.TypeOf(x);
  const bool last = g.Chance(30);
  Drawn number = g.SizedScalar(type, g.Dimension() - (last ? 1 : 0));
  if (IsFloat(type) && !last && g.Chance(40))
    number = g.Try(Op::kDiv, {g.Scalar(type, 1), *number});
  const Op op = g.OneOf({Op::kMul, Op::kAdd, Op::kSub, Op::kLt, Op::kMin});
  return number ? g.Try(op, {x, *number}) : Drawn();
}

constexpr SizedRecipe kElementwise[] = {{Unary, 6}, {Binary, 8}, {Where, 3}, {WithSize, 2}};

}  // namespace

std::span<const SizedRecipe> SizedElementwise() { return kElementwise; }

}  // namespace tunec::fuzz
