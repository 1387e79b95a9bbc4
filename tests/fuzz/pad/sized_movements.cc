// Recipes that add operators such as reshape, slice and gather to the graphs of all sizes.
#include <algorithm>

#include "tests/fuzz/pad/sized_generator.h"

namespace tunec::fuzz {
namespace {

AxisSizes Times(const AxisSizes& a, const AxisSizes& b) {
  AxisSizes product{};
  for (const SizeSet set : kSizeSets) product[set] = a[set] * b[set];
  return product;
}

bool Divides(const AxisSizes& factor, const AxisSizes& sizes) {
  return std::ranges::all_of(
      kSizeSets, [&](SizeSet set) { return factor[set] > 0 && sizes[set] % factor[set] == 0; });
}

AxisSizes Over(const AxisSizes& sizes, const AxisSizes& factor) {
  AxisSizes quotient{};
  for (const SizeSet set : kSizeSets) quotient[set] = sizes[set] / factor[set];
  return quotient;
}

Drawn Transpose(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  return g.Try(Op::kTranspose, {x}, {{"perm", AnyPermutation(g, g.RankOf(x))}});
}

// Joins two axes, splits an axis that a dimension or a constant divides, adds an axis of size 1, or
// does nothing.
void RegroupOnce(SizedGenerator& g, SizedShape& shape) {
  const int64_t at = g.Below(std::ssize(shape) + 1);
  if (at + 1 < std::ssize(shape) && g.Chance(50)) {
    shape[at] = Times(shape[at], shape[at + 1]);
    shape.erase(shape.begin() + at + 1);
    return;
  }
  if (at < std::ssize(shape)) {
    const AxisSizes factor = g.Chance(60) ? g.Dimension() : Fixed(g.Between(2, 4));
    if (!Divides(factor, shape[at])) return;
    const AxisSizes rest = Over(shape[at], factor);
    const bool outer = g.Chance(50);
    shape[at] = outer ? factor : rest;
    shape.insert(shape.begin() + at + 1, outer ? rest : factor);
    return;
  }
  if (shape.size() < 4) shape.insert(shape.begin() + g.Below(at + 1), Fixed(1));
}

Drawn Reshape(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  SizedShape shape = g.ShapeOf(x);
  for (int64_t times = g.Between(1, 3); times > 0; --times) RegroupOnce(g, shape);
  if (g.Chance(15)) {
    AxisSizes all = Fixed(1);
    for (const AxisSizes& sizes : g.ShapeOf(x)) all = Times(all, sizes);
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
  merged[at] = Times(merged[at], merged[at + 1]);
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
  for (AxisSizes& sizes : shape)
    if (sizes == Fixed(1) && g.Chance(60)) sizes = g.Axis();
  if (g.Chance(40)) shape.insert(shape.begin(), g.Axis());
  return g.TryAt(Op::kExpand, {x}, [&](SizeSet set) {
    return Attributes{{"shape", ShapeAt(shape, set)}};
  });
}

struct Range {
  int64_t start, end, step;
};
using SizedRange = std::array<Range, kSizeSets.size()>;

Range RangeOf(int64_t kind, int64_t size, int64_t a, int64_t b, int64_t other) {
  switch (kind) {
    case 0:
      return {0, a, 1};
    case 1:
      return {a, size, 1};
    case 2:
      return {0, size - a, 1};
    case 3:
      return {size - 1, size, 1};
    case 4:
      return {size - a, size, 1};
    case 5:
      return {size - 1, -1, -1};
    case 6:
      return {0, size, b + 1};
    case 7:
      return {a, a + b, 1};
    case 8:
      return {a, size - b, 1};
    case 9:
      return {0, other, 1};
    case 10:
      return {0, size / 2, 1};
    case 11:
      return {size / 2, size, 1};
    case 12:
      return {size - 1, -1, -b - 1};
    default:
      return {0, size, 1};
  }
}

SizedRange DrawRange(SizedGenerator& g, const AxisSizes& sizes) {
  const int64_t least = *std::ranges::min_element(sizes);
  const int64_t kind = g.Chance(45) ? -1 : g.Below(13);
  const int64_t a = g.Below(std::max<int64_t>(least, 1)), b = g.Between(1, 3);
  const AxisSizes other = g.Dimension();
  SizedRange range{};
  for (const SizeSet set : kSizeSets) range[set] = RangeOf(kind, sizes[set], a, b, other[set]);
  return range;
}

Drawn Slice(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  std::vector<SizedRange> ranges;
  for (const AxisSizes& sizes : g.ShapeOf(x)) ranges.push_back(DrawRange(g, sizes));
  return g.TryAt(Op::kSlice, {x}, [&](SizeSet set) {
    Ints starts, ends, steps;
    for (const SizedRange& range : ranges) {
      starts.push_back(range[set].start);
      ends.push_back(range[set].end);
      steps.push_back(range[set].step);
    }
    return Attributes{{"starts", starts}, {"ends", ends}, {"steps", steps}};
  });
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

// Pads or crops some axes by constants, and pads some axes to a constant size.
Drawn Pad(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  const SizedShape shape = g.ShapeOf(x);
  const bool constant = g.Chance(65);
  const char* mode = constant ? "constant" : g.OneOf({"reflect", "edge", "wrap"});
  const int64_t rank = std::ssize(shape);
  std::array<Ints, kSizeSets.size()> pads = {Ints(2 * rank), Ints(2 * rank), Ints(2 * rank)};
  for (int64_t a = 0; a < rank; ++a) {
    const int64_t least = *std::ranges::min_element(shape[a]);
    const int64_t most = constant ? 3 : std::clamp<int64_t>(least - 1, 0, 3);
    const bool to_size = constant && g.Chance(20);
    const int64_t before = g.Chance(40) ? g.Between(g.Chance(20) ? -1 : 0, most) : 0;
    const int64_t after = g.Chance(40) ? g.Between(g.Chance(20) ? -1 : 0, most) : 0;
    const int64_t whole = *std::ranges::max_element(shape[a]) + g.Below(3);
    for (const SizeSet set : kSizeSets) {
      pads[set][a] = before;
      pads[set][a + rank] = to_size ? whole - shape[a][set] - before : after;
    }
  }
  const double value = g.OneOf({0.0, 0.0, 1.0, 2.0});
  return g.TryAt(Op::kPad, {x}, [&](SizeSet set) {
    return Attributes{{"pads", pads[set]}, {"mode", std::string(mode)}, {"value", value}};
  });
}

Drawn Tile(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny);
  Ints repeats;
  for (int64_t a = 0; a < g.RankOf(x); ++a) repeats.push_back(g.Chance(60) ? 1 : g.Between(1, 3));
  return g.Try(Op::kTile, {x}, {{"repeats", repeats}});
}

// Returns indices into an axis, as a constant, an input or a computed value. They may be negative
// or out of range.
ValueId Indices(SizedGenerator& g, const SizedShape& shape, const AxisSizes& sizes) {
  const DataType type = g.OneOf({DataType::kI64, DataType::kI64, DataType::kI32, DataType::kU8});
  const int64_t least = *std::ranges::min_element(sizes);
  switch (g.Below(7)) {
    case 0: {  // computed, perhaps out of range
      const ValueId some = g.OfType(type, shape);
      const Drawn index = g.Try(Op::kMin, {some, g.Scalar(type, double(least - 1))});
      return index.value_or(some);
    }
    case 1:  // the last index
      return g.Constant(type, shape,
                        [&](const Ints&, SizeSet set) { return double(sizes[set] - 1); });
    case 2: {  // from the end
      const int64_t back = g.Between(1, std::max<int64_t>(least, 1));
      return g.Constant(DataType::kI64, shape, [&](const Ints&, SizeSet) { return double(-back); });
    }
    case 3:  // all indices in order, if the last axis of `shape` has as many elements
      if (!shape.empty() && shape.back() == sizes)
        return g.Constant(type, shape,
                          [](const Ints& position, SizeSet) { return double(position.back()); });
      [[fallthrough]];
    case 4: {
      const int64_t step = g.Between(1, 3);
      return g.Constant(type, shape, [&](const Ints& position, SizeSet) {
        int64_t sum = 0;
        for (const int64_t p : position) sum += step * p;
        return double(sum % std::max<int64_t>(least, 1));
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
  const AxisSizes sizes = shape[axis];
  if (g.Chance(70)) shape[axis] = g.Axis();
  for (int64_t a = 0; a < std::ssize(shape); ++a)
    if (a != axis && g.Chance(15)) shape[a] = Fixed(1);
  return g.Try(Op::kGatherElements, {x, Indices(g, shape, sizes)}, {{"axis", axis}});
}

// Scatters along one axis, or along two axes with one flattened index. Axes of the indices may have
// size 1, so that one index applies to a row or to all updates.
Drawn Scatter(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  SizedShape shape = g.ShapeOf(x);
  const int64_t axis = g.AnyAxis(x);
  const int64_t depth = axis + 1 < std::ssize(shape) && g.Chance(30) ? 2 : 1;
  AxisSizes extent = shape[axis];
  if (depth == 2) {
    for (const SizeSet set : kSizeSets) extent[set] *= shape[axis + 1][set];
    shape.erase(shape.begin() + axis + 1);
  }
  shape[axis] = g.Axis();
  SizedShape numbers = shape;
  for (int64_t a = 0; a < std::ssize(shape); ++a) {
    if (a != axis && g.Chance(15)) shape[a] = numbers[a] = Fixed(1);
    if (g.Chance(a == axis ? 10 : 50)) numbers[a] = Fixed(1);
  }
  const DataType type = g.TypeOf(x);
  const char* by =
      type == DataType::kBool ? "none" : g.OneOf({"none", "none", "add", "mul", "min", "max"});
  return g.Try(Op::kScatter, {x, Indices(g, numbers, extent), g.OfType(type, shape)},
               {{"axis", axis}, {"depth", depth}, {"reduction", std::string(by)}});
}

// Resizes some axes to twice their size or to a random size.
Drawn Resize(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  const SizedShape from = g.ShapeOf(x);
  SizedShape shape = from;
  for (size_t a = 0; a < from.size(); ++a) {
    if ((from.size() > 2 && a < 2 && g.Chance(90)) || g.Chance(40)) continue;
    shape[a] = g.Chance(60) ? Times(from[a], Fixed(2)) : g.Axis();
  }
  const Attributes attributes = ResizeAttributes(g);
  return g.TryAt(Op::kResize, {x}, [&](SizeSet set) {
    Attributes own = attributes;
    own["shape"] = ShapeAt(shape, set);
    return own;
  });
}

Drawn CountUp(SizedGenerator& g) {
  const DataType type = g.TypeIn(Domain::kNumber);
  const double start = g.OneOf({0.0, 0.0, 1.0, 2.0});
  const bool up = g.Chance(80) || !(IsFloat(type) || IsSigned(type));
  const AxisSizes sizes = g.Dimension();
  return g.TryAt(Op::kRange, {}, [&](SizeSet set) {
    const auto size = static_cast<double>(sizes[set]);
    return Attributes{{"start", up ? start : size - 1},
                      {"limit", up ? start + size : -1.0},
                      {"delta", up ? 1.0 : -1.0},
                      {"to", std::string(Name(type))}};
  });
}

Drawn OneHot(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kInteger, 0, 3);
  const AxisSizes depth = g.Chance(50) ? g.Dimension() : Fixed(g.Between(1, 6));
  const int64_t axis = g.Between(0, g.RankOf(x));
  const std::string type(Name(g.TypeIn(Domain::kNumber)));
  return g.TryAt(Op::kOneHot, {x}, [&](SizeSet set) {
    return Attributes{
        {"depth", depth[set]}, {"axis", axis}, {"on_value", 2.0}, {"off_value", 1.0}, {"to", type}};
  });
}

Drawn Rotary(SizedGenerator& g) {
  const ValueId x = g.Operand(Domain::kFloat, 1);
  SizedShape shape = g.ShapeOf(x);
  const AxisSizes size = shape.back();
  const bool each = g.Chance(50);
  if (!Divides(Fixed(2), size)) return {};
  if (!each) shape.back() = Over(size, Fixed(2));
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    if (g.Chance(40)) shape[d] = Fixed(1);
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
