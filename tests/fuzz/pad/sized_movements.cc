// Recipes that add operators such as reshape, slice and gather to a model.
#include <algorithm>
#include <numeric>

#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

Drawn Transpose(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  return g.Try(Op::kTranspose, {x}, {{"perm", AnyPermutation(g, g.RankOf(x))}});
}

// Joins two axes, splits an axis that a dimension or a constant divides, adds an axis of size 1, or
// does nothing.
void RegroupOnce(SizedGenerator& g, SizedShape& shape) {
  const int64_t at = g.Below(std::ssize(shape) + 1);
  if (at + 1 < std::ssize(shape) && g.Chance(50)) {
    shape[at] = shape[at] * shape[at + 1];
    shape.erase(shape.begin() + at + 1);
    return;
  }
  if (at < std::ssize(shape)) {
    const Dim factor = g.Chance(60) ? g.Dimension() : g.Between(2, 4);
    if (!g.Divides(factor, shape[at])) return;
    const Dim rest = Dim::FloorDiv(shape[at], factor);
    const bool outer = g.Chance(50);
    shape[at] = outer ? factor : rest;
    shape.insert(shape.begin() + at + 1, outer ? rest : factor);
    return;
  }
  if (shape.size() < 4) shape.insert(shape.begin() + g.Below(at + 1), 1);
}

Drawn Reshape(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  SizedShape shape = g.ShapeOf(x);
  for (int64_t times = g.Between(1, 3); times > 0; --times) RegroupOnce(g, shape);
  if (g.Chance(15)) {
    Dim all = 1;
    for (const Dim& size : g.ShapeOf(x)) all = all * size;
    shape = {all};
  }
  return g.Reshape(x, shape);
}

// Joins two axes, applies an operator if the type is a float, and splits the axis again.
Drawn ReshapeAndBack(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 2);
  const SizedShape shape = g.ShapeOf(x);
  SizedShape merged = shape;
  const int64_t at = g.Below(std::ssize(shape) - 1);
  merged[at] = merged[at] * merged[at + 1];
  merged.erase(merged.begin() + at + 1);
  const Drawn flat = g.Reshape(x, merged);
  if (!flat) return {};
  Drawn work = flat;
  if (IsFloat(g.TypeOf(x)))
    work = g.Chance(50) ? g.Try(Op::kSoftmax, {*flat}, {{"axis", g.AnyAxis(*flat)}})
                        : g.Try(Op::kTanh, {*flat});
  return work ? g.Reshape(*work, shape) : Drawn();
}

Drawn Expand(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 0, 3);
  SizedShape shape = g.ShapeOf(x);
  for (Dim& size : shape)
    if (size == 1 && g.Chance(60)) size = g.Axis();
  if (g.Chance(40)) shape.insert(shape.begin(), g.Axis());
  return g.Try(Op::kExpand, {x}, {{"shape", SizesAttribute(shape)}});
}

struct Range {
  Dim start, end;
  int64_t step = 1;
};

Range DrawRange(SizedGenerator& g, const Dim& size) {
  if (g.Chance(45)) return {0, size};
  const int64_t a = g.Below(g.Least(size)), b = g.Between(1, 3);
  switch (g.Below(13)) {
    case 0:
      return {0, a};
    case 1:
      return {a, size};
    case 2:
      return {0, size - a};
    case 3:
      return {size - 1, size};
    case 4:
      return {size - a, size};
    case 5:
      return {size - 1, -1, -1};
    case 6:
      return {0, size, b + 1};
    case 7:
      return {a, a + b};
    case 8:
      return {a, size - b};
    case 9:
      return {0, g.Dimension()};
    case 10:
      return {0, Dim::FloorDiv(size, 2)};
    case 11:
      return {Dim::FloorDiv(size, 2), size};
    default:
      return {size - 1, -1, -b - 1};
  }
}

Drawn Slice(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  SizedShape starts, ends;
  Ints steps;
  for (const Dim& size : g.ShapeOf(x)) {
    const Range range = DrawRange(g, size);
    starts.push_back(range.start);
    ends.push_back(range.end);
    steps.push_back(range.step);
  }
  return g.Try(
      Op::kSlice, {x},
      {{"starts", SizesAttribute(starts)}, {"ends", SizesAttribute(ends)}, {"steps", steps}});
}

Drawn Concat(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const SizedShape shape = g.ShapeOf(x);
  const int64_t axis = g.AnyAxis(x);
  std::vector<ValueId> inputs = {x};
  for (int64_t more = g.Between(0, 2); more > 0; --more) {
    SizedShape other = shape;
    if (g.Chance(60)) other[axis] = g.Axis();
    const ValueId next = g.Chance(10) ? x : g.OfType(g.TypeOf(x), other);
    inputs.insert(inputs.begin() + g.Below(std::ssize(inputs) + 1), next);
  }
  return g.Try(Op::kConcat, inputs, {{"axis", axis}});
}

// Pads or crops some axes by constants, and pads some axes to a constant size or to a dimension.
Drawn Pad(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  const SizedShape shape = g.ShapeOf(x);
  const bool constant = g.Chance(65);
  const char* mode = constant ? "constant" : g.OneOf({"reflect", "edge", "wrap"});
  const size_t rank = shape.size();
  SizedShape pads(2 * rank, 0);
  for (size_t a = 0; a < rank; ++a) {
    const int64_t most = constant ? 3 : std::clamp<int64_t>(g.Least(shape[a]) - 1, 0, 3);
    for (const size_t end : {a, a + rank})
      if (g.Chance(40)) pads[end] = g.Between(g.Chance(20) ? -1 : 0, most);
    if (!constant || !g.Chance(20)) continue;
    const Dim whole = g.Chance(30) ? g.Dimension() : g.Most(shape[a]) + g.Below(3);
    pads[a + rank] = whole - shape[a] - pads[a];
  }
  return g.Try(Op::kPad, {x},
               {{"pads", SizesAttribute(pads)},
                {"mode", std::string(mode)},
                {"value", g.OneOf({0.0, 0.0, 1.0, 2.0})}});
}

Drawn Tile(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  SizedShape repeats;
  for (int64_t a = 0; a < g.RankOf(x); ++a)
    repeats.push_back(g.Chance(60) ? 1 : g.Chance(20) ? g.Dimension() : g.Between(1, 3));
  return g.Try(Op::kTile, {x}, {{"repeats", SizesAttribute(repeats)}});
}

// Returns indices into an axis of this size, as a constant, an input or a computed value. They may
// be negative or out of range.
ValueId Indices(SizedGenerator& g, const SizedShape& shape, const Dim& size) {
  const DataType type = g.OneOf({DataType::kI64, DataType::kI64, DataType::kI32, DataType::kU8});
  const int64_t least = std::max<int64_t>(g.Least(size), 1);
  switch (g.Below(7)) {
    case 0: {  // computed, perhaps out of range
      const ValueId some = g.OfType(type, shape);
      const Drawn index = g.Try(Op::kMin, {some, g.Scalar(type, static_cast<double>(least - 1))});
      return index.value_or(some);
    }
    case 1:  // the last index
      return g.Filled(type, shape, size - 1);
    case 2: {  // from the end
      const auto back = static_cast<double>(g.Between(1, least));
      return g.Constant(DataType::kI64, shape, [&](const Ints&) { return -back; });
    }
    case 3:  // all indices in order, if the last axis of `shape` has as many elements
      if (!shape.empty() && shape.back() == size)
        return g.Counted(type, shape, std::ssize(shape) - 1, 0, 1);
      [[fallthrough]];
    case 4: {
      const int64_t step = g.Between(1, 3);
      return g.Constant(type, shape, [&](const Ints& position) {
        const int64_t sum = std::accumulate(position.begin(), position.end(), int64_t{0});
        return static_cast<double>(step * sum % least);
      });
    }
    default:
      return g.Input(type, shape, "index");
  }
}

Drawn Gather(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const int64_t axis = g.AnyAxis(x);
  const SizedShape shape = g.Shape(0, 2);
  return g.Try(Op::kGather, {x, Indices(g, shape, g.ShapeOf(x)[axis])}, {{"axis", axis}});
}

Drawn GatherElements(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const int64_t axis = g.AnyAxis(x);
  SizedShape shape = g.ShapeOf(x);
  const Dim size = shape[axis];
  if (g.Chance(70)) shape[axis] = g.Axis();
  for (int64_t a = 0; a < std::ssize(shape); ++a)
    if (a != axis && g.Chance(15)) shape[a] = 1;
  return g.Try(Op::kGatherElements, {x, Indices(g, shape, size)}, {{"axis", axis}});
}

// Scatters along one axis, or along two axes with one flattened index. Axes of the indices may have
// size 1, so that one index applies to a row or to all updates.
Drawn Scatter(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  SizedShape shape = g.ShapeOf(x);
  const int64_t axis = g.AnyAxis(x);
  const int64_t depth = axis + 1 < std::ssize(shape) && g.Chance(30) ? 2 : 1;
  Dim extent = shape[axis];
  if (depth == 2) {
    extent = extent * shape[axis + 1];
    shape.erase(shape.begin() + axis + 1);
  }
  shape[axis] = g.Axis();
  SizedShape numbers = shape;
  for (int64_t a = 0; a < std::ssize(shape); ++a) {
    if (a != axis && g.Chance(15)) shape[a] = numbers[a] = 1;
    if (g.Chance(a == axis ? 10 : 50)) numbers[a] = 1;
  }
  const DataType type = g.TypeOf(x);
  const char* by =
      type == DataType::kBool ? "none" : g.OneOf({"none", "none", "add", "mul", "min", "max"});
  return g.Try(Op::kScatter, {x, Indices(g, numbers, extent), g.OfType(type, shape)},
               {{"axis", axis}, {"depth", depth}, {"reduction", std::string(by)}});
}

// Resizes some axes by a factor, and some fixed axes to a random fixed size.
Drawn Resize(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  SizedShape shape = g.ShapeOf(x);
  std::vector<double> scales(shape.size(), 1);
  for (size_t a = 0; a < shape.size(); ++a) {
    if ((shape.size() > 2 && a < 2 && g.Chance(90)) || g.Chance(40)) continue;
    const int64_t halves = g.OneOf<int64_t>({4, 4, 4, 1, 3, 6});
    const std::optional<int64_t> fixed = shape[a].AsConstant();
    const Dim size = fixed && g.Chance(40) ? g.Between(1, 8) : Dim::FloorDiv(shape[a] * halves, 2);
    scales[a] = static_cast<double>(halves) / 2;
    if (fixed) scales[a] = static_cast<double>(size.Value()) / static_cast<double>(*fixed);
    shape[a] = size;
  }
  Attributes attributes = ResizeAttributes(g);
  attributes["shape"] = SizesAttribute(shape);
  attributes["scales"] = scales;
  return g.Try(Op::kResize, {x}, attributes);
}

Drawn CountUp(SizedGenerator& g) {
  const DataType type = g.TypeIn(Domain::kNumber);
  const bool up = g.Chance(80) || !(IsFloat(type) || IsSigned(type));
  const Dim size = g.Dimension();
  const Dim first = g.Chance(20) ? g.Dimension() : g.OneOf<int64_t>({0, 0, 1, 2});
  return g.Try(Op::kRange, {}, RangeAttributes(type, up ? first : size - 1, size, up ? 1 : -1));
}

Drawn OneHot(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kInteger, 0, 3);
  const Dim depth = g.Chance(50) ? g.Dimension() : g.Between(1, 6);
  return g.Try(Op::kOneHot, {x},
               {{"depth", SizeAttribute(depth)},
                {"axis", g.Between(0, g.RankOf(x))},
                {"on_value", 2.0},
                {"off_value", 1.0},
                {"to", std::string(Name(g.TypeIn(Domain::kNumber)))}});
}

Drawn Rotary(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  SizedShape shape = g.ShapeOf(x);
  if (!g.Divides(2, shape.back())) return {};
  if (g.Chance(50)) shape.back() = Dim::FloorDiv(shape.back(), 2);
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    if (g.Chance(40)) shape[d] = 1;
  const DataType type = g.TypeOf(x);
  return g.Try(Op::kRotaryEmbedding, {x, g.Parameter(type, shape), g.Parameter(type, shape)},
               {{"interleaved", g.Below(2)}});
}

constexpr SizedRecipe kMovements[] = {
    {Transpose, 3}, {Reshape, 6}, {ReshapeAndBack, 3}, {Expand, 3}, {Slice, 6},
    {Concat, 4},    {Pad, 3},     {Tile, 2},           {Gather, 5}, {GatherElements, 2},
    {Scatter, 3},   {Resize, 2},  {CountUp, 2},        {OneHot, 1}, {Rotary, 2}};

}  // namespace

std::span<const SizedRecipe> SizedMovements() { return kMovements; }

}  // namespace tunec::fuzz
