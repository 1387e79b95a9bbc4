// Recipes that add data movement, resizing, ranges and one-hot encodings to a random graph.
#include <algorithm>

#include "tests/fuzz/graph_generator.h"

namespace tunec::fuzz {
namespace {

// Returns a shape with as many elements. Axes may be joined, split or inserted with size 1.
Ints Reshaped(GraphGenerator& g, Ints shape) {
  for (int64_t times = g.Between(1, 3); times > 0; --times) {
    const int64_t at = g.Below(std::ssize(shape) + 1);
    if (at + 1 < std::ssize(shape) && g.Chance(50)) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + at + 1);
    } else if (at < std::ssize(shape) && shape[at] > 1) {
      int64_t factor = g.Between(2, shape[at]);
      if (shape[at] % factor != 0) factor = shape[at] % 2 == 0 ? 2 : shape[at];
      shape[at] /= factor;
      shape.insert(shape.begin() + at, factor);
    } else if (shape.size() < 5) {
      shape.insert(shape.begin() + at, 1);
    }
  }
  if (g.Chance(20)) shape = {ElementCount(shape)};
  return shape;
}

struct Range {
  int64_t start, end, step;
};

Range SliceOf(GraphGenerator& g, int64_t size) {
  if (size == 0 || g.Chance(40)) return {0, size, 1};
  int64_t first = g.Below(size), last = g.Below(size);
  if (first > last) std::swap(first, last);
  const int64_t step = g.Chance(70) ? 1 : g.Between(2, 3);
  if (g.Chance(20)) return {last, first - 1, -step};
  if (g.Chance(2)) return {first, first, step};  // empty
  return {first, last + 1, step};
}

// Returns indices into an axis of `size` elements, as a constant or as a computed value.
ValueId Indices(GraphGenerator& g, const Ints& shape, int64_t size) {
  const DataType type = g.OneOf({DataType::kI64, DataType::kI64, DataType::kI32, DataType::kU8});
  if (g.Chance(25)) {
    const ValueId some = g.OfType(type, shape);
    if (const Made index = g.Try(Op::kMod, {some, g.Scalar(type, static_cast<double>(size))},
                                 {{"fmod", int64_t{0}}}))
      return *index;
  }
  const bool negative = IsSigned(type) && g.Chance(30);
  return g.Constant(RandomIntegers(type, shape, negative ? -size : 0, size - 1, g.random()));
}

}  // namespace

Made DrawTranspose(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny);
  return g.Try(op, {x}, {{"perm", AnyPermutation(g, g.ShapeOf(x).size())}});
}

Made DrawReshape(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny);
  return g.Try(op, {x}, {{"shape", Reshaped(g, g.ShapeOf(x))}});
}

Made DrawExpand(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny, 0, 4);
  Ints shape = g.ShapeOf(x);
  for (int64_t& size : shape)
    if (size == 1 && g.Chance(60)) size = g.Between(1, 5);
  if (g.Chance(40)) shape.insert(shape.begin(), g.Between(1, 4));
  return g.Try(op, {x}, {{"shape", shape}});
}

Made DrawSlice(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  Ints starts, ends, steps;
  for (const int64_t size : g.ShapeOf(x)) {
    const Range range = SliceOf(g, size);
    starts.push_back(range.start);
    ends.push_back(range.end);
    steps.push_back(range.step);
  }
  return g.Try(op, {x}, {{"starts", starts}, {"ends", ends}, {"steps", steps}});
}

Made DrawConcat(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const Ints shape = g.ShapeOf(x);
  const int64_t axis = g.Below(std::ssize(shape));
  std::vector<ValueId> inputs = {x};
  for (int64_t more = g.Between(0, 3); more > 0; --more) {
    Ints other = shape;
    if (g.Chance(40)) other[axis] = g.Between(1, 4);
    const ValueId next = g.Chance(10) ? x : g.OfType(g.TypeOf(x), other);
    inputs.insert(inputs.begin() + g.Below(std::ssize(inputs) + 1), next);
  }
  return g.Try(op, std::move(inputs), {{"axis", axis}});
}

Made DrawPad(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny);
  const Ints shape = g.ShapeOf(x);
  const char* mode = g.OneOf({"constant", "constant", "reflect", "edge", "wrap"});
  Ints pads(2 * shape.size());
  for (size_t a = 0; a < shape.size(); ++a) {
    const int64_t most =
        std::string_view(mode) == "constant" ? 3 : std::max<int64_t>(shape[a] - 1, 0);
    const int64_t least = g.Chance(20) ? -1 : 0;
    if (g.Chance(60)) pads[a] = g.Between(least, std::min<int64_t>(most, 3));
    if (g.Chance(60)) pads[a + shape.size()] = g.Between(least, std::min<int64_t>(most, 3));
  }
  return g.Try(
      op, {x},
      {{"pads", pads}, {"mode", std::string(mode)}, {"value", g.OneOf({0.0, 0.0, 1.0, 2.0})}});
}

Made DrawTile(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny);
  Ints repeats;
  for (size_t a = 0; a < g.ShapeOf(x).size(); ++a)
    repeats.push_back(g.Chance(60) ? 1 : g.Between(1, 3));
  return g.Try(op, {x}, {{"repeats", repeats}});
}

Made DrawGather(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const Ints shape = g.ShapeOf(x);
  const int64_t axis = g.Below(std::ssize(shape));
  if (shape[axis] == 0 || shape[axis] > 100) return {};
  Ints drawn_shape = g.Shape(0, 2);
  if (op == Op::kGatherElements) {
    drawn_shape = shape;
    drawn_shape[axis] = g.Between(1, 4);
    for (int64_t& size : drawn_shape)
      if (size > 1 && g.Chance(20)) size -= 1;
  }
  return g.Try(op, {x, Indices(g, drawn_shape, shape[axis])}, {{"axis", axis}});
}

Made DrawScatter(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kAny, 1);
  const Ints shape = g.ShapeOf(x);
  const int64_t axis = g.Below(std::ssize(shape));
  const int64_t depth = g.Chance(70) ? 1 : g.Between(1, std::ssize(shape) - axis);
  Ints drawn_shape = shape;
  drawn_shape.erase(drawn_shape.begin() + axis + 1, drawn_shape.begin() + axis + depth);
  int64_t extent = 1;
  for (int64_t d = axis; d < axis + depth; ++d) extent *= shape[d];
  if (extent == 0 || extent > 100) return {};
  for (int64_t& size : drawn_shape)
    if (size > 1 && g.Chance(20)) size -= 1;
  drawn_shape[axis] = g.Between(1, 6);
  Ints numbers = drawn_shape;
  for (size_t d = 0; d < numbers.size(); ++d)
    if (g.Chance(50) && static_cast<int64_t>(d) != axis) numbers[d] = 1;
  if (g.Chance(10)) numbers[axis] = 1;
  const DataType type = g.TypeOf(x);
  const char* by =
      type == DataType::kBool ? "none" : g.OneOf({"none", "none", "add", "mul", "min", "max"});
  // Some indices may be out of range. They write nothing.
  const int64_t size = g.Chance(20) ? extent + 2 : extent;
  return g.Try(op, {x, Indices(g, numbers, size), g.OfType(type, drawn_shape)},
               {{"axis", axis}, {"depth", depth}, {"reduction", std::string(by)}});
}

Made DrawResize(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(g.Chance(90) ? Domain::kFloat : Domain::kNumber, 1, 5);
  const Ints from = g.ShapeOf(x);
  Ints shape;
  for (size_t a = 0; a < from.size(); ++a) {
    // The batch and the channels of an image are mostly not resized.
    const bool fixed = from[a] == 0 || (from.size() > 2 && a < 2 && g.Chance(90));
    shape.push_back(fixed || g.Chance(40) ? from[a] : g.Between(1, 2 * from[a]));
  }
  Attributes attributes = ResizeAttributes(g);
  attributes["shape"] = shape;
  return g.Try(op, {x}, std::move(attributes));
}

Made DrawRange(GraphGenerator& g, Op op) {
  const auto start = static_cast<double>(g.Between(-3, 3));
  const auto count = static_cast<double>(g.Between(0, 9));
  const DataType type = g.TypeIn(Domain::kNumber);
  const double delta = IsFloat(type) ? g.OneOf({0.5, 1.0, -0.25}) : g.OneOf({1.0, 2.0});
  return g.Try(op, {},
               {{"start", IsSigned(type) || IsFloat(type) ? start : std::abs(start)},
                {"limit", start + count * delta},
                {"delta", delta},
                {"to", std::string(Name(type))}});
}

Made DrawOneHot(GraphGenerator& g, Op op) {
  const ValueId x = g.Operand(Domain::kInteger, 0, 3);
  return g.Try(op, {x},
               {{"depth", g.Between(1, 6)},
                {"axis", g.Between(0, std::ssize(g.ShapeOf(x)))},
                {"on_value", g.OneOf({1.0, 2.0})},
                {"off_value", g.OneOf({0.0, 3.0})},
                {"to", std::string(Name(g.TypeIn(Domain::kNumber)))}});
}

}  // namespace tunec::fuzz
