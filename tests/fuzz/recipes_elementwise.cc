#include "tests/fuzz/graph_generator.h"

namespace tunec::fuzz {
namespace {

bool NeedsNonzeroDivisor(Op op, DataType type) {
  return (op == Op::kDiv || op == Op::kMod) && !IsFloat(type);
}

// Returns a divisor without zeros, because integer division by zero is always an error.
ValueId Divisor(GraphGenerator& g, DataType type, const Ints& shape) {
  const ValueId some = g.BroadcastingTo(type, shape);
  if (g.Chance(50))
    if (const Made bounded = g.Try(Op::kMax, {some, g.Scalar(type, 1)})) return *bounded;
  return g.Constant(RandomIntegers(type, g.ShapeOf(some), 1, 5, g.random()));
}

}  // namespace

Made DrawUnary(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain);
  return g.Try(op, {x}, UnaryAttributes(g, op));
}

Made DrawBinary(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(SpecOf(op).domain);
  const DataType type = g.TypeOf(x);
  const Ints shape = g.ShapeOf(x);
  Attributes attributes;
  if (op == Op::kMod) attributes["fmod"] = g.Below(2);
  if (NeedsNonzeroDivisor(op, type)) return g.Try(op, {x, Divisor(g, type, shape)}, attributes);
  if (op == Op::kPrelu) return g.Try(op, {x, g.BroadcastingTo(type, shape)});
  const ValueId y = g.Partner(type, shape);
  return g.Chance(50) ? g.Try(op, {x, y}, attributes) : g.Try(op, {y, x}, attributes);
}

Made DrawWhere(GraphGenerator& g, Op op) {
  const ValueId yes = g.Operand(Domain::kAny);
  const DataType type = g.TypeOf(yes);
  const ValueId no = g.Partner(type, g.ShapeOf(yes));
  const ValueId condition = g.Partner(DataType::kBool, g.ShapeOf(yes));
  return g.Chance(50) ? g.Try(op, {condition, yes, no}) : g.Try(op, {condition, no, yes});
}

}  // namespace tunec::fuzz
