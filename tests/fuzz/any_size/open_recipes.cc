// Recipes that add nodes to dynamic-shape models. Their shapes, attributes and constants may depend
// on sizes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tests/fuzz/any_size/open_model.h"

namespace tunec::fuzz {
namespace {

OpenAxisSize Derived(const OpenAxisSize& from, std::string formula, int64_t size) {
  return from.degree == 0 ? Number(size) : OpenAxisSize{std::move(formula), size, from.degree};
}

Ints SizesOf(const OpenShape& shape) {
  Ints sizes;
  for (const OpenAxisSize& axis : shape) sizes.push_back(axis.size);
  return sizes;
}

int DegreeOf(const OpenShape& shape) {
  int degree = 0;
  for (const OpenAxisSize& axis : shape) degree += axis.degree;
  return degree;
}

size_t AnyAxis(OpenBuilder& b, size_t x) { return static_cast<size_t>(b.Below(b.RankOf(x))); }

/// Returns a random bound of sizes, positions or distances.
int64_t Bound(OpenBuilder& b) { return b.OneOf<int64_t>({1, 2, 3, 5, 8, 12, 20, 30}); }

void Unary(OpenBuilder& b) {
  const size_t x = b.Operand();
  const Op op = b.OneOf({Op::kRelu, Op::kTanh, Op::kAbs, Op::kNeg, Op::kSigmoid});
  b.Add(op, {x}, {}, b.ShapeOf(x));
}

Op Arithmetic(OpenBuilder& b) { return b.OneOf({Op::kAdd, Op::kSub, Op::kMul, Op::kMax}); }

void WithItsMean(OpenBuilder& b) {
  const size_t x = b.Operand();
  const size_t axis = AnyAxis(b, x);
  OpenShape reduced = b.ShapeOf(x);
  reduced[axis] = Number(1);
  const Op op = b.OneOf({Op::kReduceMean, Op::kReduceSum, Op::kReduceMax});
  const size_t mean = b.Add(
      op, {x}, {{"axes", Ints{static_cast<int64_t>(axis)}}, {"keepdims", int64_t{1}}}, reduced);
  b.Add(Arithmetic(b), {x, mean}, {}, b.ShapeOf(x));
}

/// Combines a value with a scalar that mostly depends on a size.
void WithANumber(OpenBuilder& b) {
  const size_t x = b.Operand();
  const OpenAxisSize size = b.AnyDimension();
  const int64_t bound = Bound(b);
  double value = 2;
  switch (b.Below(5)) {
    case 0:
      value = static_cast<double>(size.size);
      break;
    case 1:
      value = 1 / static_cast<double>(size.size);
      break;
    case 2:
      value = static_cast<double>(std::min(size.size, bound));
      break;
    case 3:
      value = size.size > bound ? 3 : 2;
      break;
    default:
      break;
  }
  b.Add(Arithmetic(b), {x, b.Scalar(value)}, {}, b.ShapeOf(x));
}

/// Combines a value with a constant that depends on the position along an axis.
void WithPositions(OpenBuilder& b) {
  const size_t x = b.Operand();
  const size_t axis = AnyAxis(b, x);
  OpenShape shape(b.ShapeOf(x).size(), Number(1));
  shape[axis] = b.ShapeOf(x)[axis];
  const int64_t kind = b.Below(4), bound = Bound(b), size = shape[axis].size;
  const size_t positions = b.Constant(shape, [&](const Ints& position) {
    const int64_t at = position[axis];
    switch (kind) {
      case 0:
        return static_cast<double>(at);
      case 1:
        return static_cast<double>(size - 1 - at);
      case 2:
        return static_cast<double>(std::min(at, bound));
      default:
        return at < bound ? 1.0 : 0.0;
    }
  });
  b.Add(Arithmetic(b), {x, positions}, {}, b.ShapeOf(x));
}

/// Multiplies a value by a mask. The mask is 0 above the diagonal or far from the diagonal, else 1.
void WithAMask(OpenBuilder& b) {
  const size_t x = b.Operand(2);
  OpenShape shape(b.ShapeOf(x).size(), Number(1));
  const size_t row = shape.size() - 2, column = shape.size() - 1;
  shape[row] = b.ShapeOf(x)[row];
  shape[column] = b.ShapeOf(x)[column];
  const int64_t kind = b.Below(2), bound = Bound(b);
  const size_t mask = b.Constant(shape, [&](const Ints& position) {
    const int64_t apart = position[row] - position[column];
    return (kind == 0 ? apart >= 0 : std::abs(apart) <= bound) ? 1.0 : 0.0;
  });
  b.Add(Op::kMul, {x, mask}, {}, b.ShapeOf(x));
}

void Product(OpenBuilder& b) {
  const size_t x = b.Operand(2);
  OpenShape shape = b.ShapeOf(x);
  const OpenAxisSize depth = shape.back();
  if (depth.degree == 0) {
    const int64_t columns = b.OneOf<int64_t>({1, 4, 8});
    shape.back() = Number(columns);
    b.Add(Op::kMatmul, {x, b.Weight({depth.size, columns})}, {}, shape);
    return;
  }
  // The product of each matrix and its transpose combines all pairs of rows.
  shape.back() = shape[shape.size() - 2];
  if (DegreeOf(shape) <= 2) b.Add(Op::kMatmul, {x, x}, {{"transpose_b", int64_t{1}}}, shape);
}

void Reduce(OpenBuilder& b) {
  const size_t x = b.Operand(2);
  const auto axis = static_cast<int64_t>(AnyAxis(b, x));
  OpenShape shape = b.ShapeOf(x);
  shape.erase(shape.begin() + axis);
  const Op op = b.OneOf({Op::kReduceMean, Op::kReduceSum, Op::kReduceMax, Op::kReduceMin});
  b.Add(op, {x}, {{"axes", Ints{axis}}, {"keepdims", int64_t{0}}}, shape);
}

/// Adds a cumulative sum of whole numbers, because sums of small whole numbers are exact.
size_t CumSum(OpenBuilder& b, size_t x, int64_t axis) {
  const size_t whole = b.Add(Op::kFloor, {x}, {}, b.ShapeOf(x));
  return b.Add(Op::kCumSum, {whole}, {{"axis", axis}}, b.ShapeOf(x));
}

size_t AlongAxis(OpenBuilder& b, size_t x, int64_t axis) {
  if (b.Chance(35)) return CumSum(b, x, axis);
  return b.Add(Op::kSoftmax, {x}, {{"axis", axis}}, b.ShapeOf(x));
}

void AlongAnAxis(OpenBuilder& b) {
  const size_t x = b.Operand();
  AlongAxis(b, x, static_cast<int64_t>(AnyAxis(b, x)));
}

struct Range {
  int64_t start, end, step;
  std::string formula;
};

Range DrawRange(OpenBuilder& b, const OpenAxisSize& axis) {
  const int64_t kind = b.Below(9), bound = Bound(b), size = axis.size;
  const std::string& f = axis.formula;
  switch (kind) {
    case 0:  // ends are clipped
    case 1:
      return {0, std::min(size, bound), 1, fmt::format("min({}, {})", f, bound)};
    case 2:
      return {std::min(size - 1, bound), size, 1, fmt::format("{0} - min({0} - 1, {1})", f, bound)};
    case 3:
      return {std::max<int64_t>(0, size - bound), size, 1, fmt::format("min({}, {})", f, bound)};
    case 4:
      return {size - 1, size, 1, "1"};
    case 5:
      return {0, size, 2, fmt::format("({} + 1) / 2", f)};
    case 6:
      return {0, (size + 1) / 2, 1, fmt::format("({} + 1) / 2", f)};
    case 7:
      return {size / 2, size, 1, fmt::format("({} + 1) / 2", f)};
    default:
      return {size - 1, -1, -1, f};
  }
}

void Slice(OpenBuilder& b) {
  const size_t x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  const Range range = DrawRange(b, shape[axis]);
  Ints starts(shape.size(), 0), ends = SizesOf(shape), steps(shape.size(), 1);
  starts[axis] = range.start;
  ends[axis] = range.end;
  steps[axis] = range.step;
  const int64_t left = range.step > 0 ? (range.end - range.start + range.step - 1) / range.step
                                      : range.start - range.end;
  shape[axis] = range.formula == "1" ? Number(1) : Derived(shape[axis], range.formula, left);
  b.Add(Op::kSlice, {x}, {{"starts", starts}, {"ends", ends}, {"steps", steps}}, shape);
}

/// Pads an axis by constant widths, to at least a constant size, or to a multiple of 4.
void Pad(OpenBuilder& b) {
  const size_t x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x), rank = shape.size();
  const OpenAxisSize old = shape[axis];
  Ints pads(2 * rank, 0);
  const int64_t kind = b.Below(4), bound = Bound(b), before = b.Below(3), after = b.Below(3);
  if (kind == 0) {
    pads[rank + axis] = std::max<int64_t>(0, bound - old.size);
    shape[axis] =
        Derived(old, fmt::format("max({}, {})", old.formula, bound), std::max(old.size, bound));
  } else if (kind == 1) {
    pads[rank + axis] = (4 - old.size % 4) % 4;
    shape[axis] =
        Derived(old, fmt::format("({} + 3) / 4 * 4", old.formula), (old.size + 3) / 4 * 4);
  } else {
    pads[axis] = before;
    pads[rank + axis] = after;
    shape[axis] = Derived(old, fmt::format("({} + {})", old.formula, before + after),
                          old.size + before + after);
  }
  const std::string mode = kind > 1 && b.Chance(30) ? "edge" : "constant";
  b.Add(Op::kPad, {x}, {{"pads", pads}, {"mode", mode}, {"value", b.OneOf({0.0, 1.0})}}, shape);
}

void Concat(OpenBuilder& b) {
  const size_t x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  OpenShape other = shape;
  const OpenAxisSize old = shape[axis];
  std::string more = old.formula;
  if (b.Chance(70)) {
    other[axis] = Number(b.Between(1, 3));
    more = other[axis].formula;
  }
  const size_t beside = more == old.formula ? x : b.Constant(other, [](const Ints& position) {
    return position.empty() ? 1.0 : static_cast<double>(position.back() % 5);
  });
  const bool first = b.Chance(50);
  shape[axis] =
      Derived(old, fmt::format("({} + {})", old.formula, more), old.size + other[axis].size);
  b.Add(Op::kConcat, first ? std::vector{beside, x} : std::vector{x, beside},
        {{"axis", static_cast<int64_t>(axis)}}, shape);
}

void Transpose(OpenBuilder& b) {
  const size_t x = b.Operand(2);
  const Ints perm = AnyPermutation(b, b.ShapeOf(x).size());
  OpenShape shape;
  for (const int64_t from : perm) shape.push_back(b.ShapeOf(x)[static_cast<size_t>(from)]);
  b.Add(Op::kTranspose, {x}, {{"perm", perm}}, shape);
}

/// Joins two adjacent axes. Sometimes adds a softmax or a cumulative sum along the joined axis, and
/// mostly splits this axis again.
void JoinAndSplit(OpenBuilder& b) {
  const size_t x = b.Operand(2);
  const OpenShape old = b.ShapeOf(x);
  const auto at = static_cast<size_t>(b.Below(std::ssize(old) - 1));
  OpenShape joined = old;
  const OpenAxisSize &slow = old[at], &fast = old[at + 1];
  joined[at] = {fmt::format("({} * {})", slow.formula, fast.formula), slow.size * fast.size,
                slow.degree + fast.degree};
  if (joined[at].degree == 0) joined[at] = Number(joined[at].size);
  joined.erase(joined.begin() + static_cast<int64_t>(at) + 1);
  size_t value = b.Add(Op::kReshape, {x}, {{"shape", SizesOf(joined)}}, joined);
  if (b.Chance(40)) value = AlongAxis(b, value, static_cast<int64_t>(at));
  if (b.Chance(60)) b.Add(Op::kReshape, {value}, {{"shape", SizesOf(old)}}, old);
}

/// Pads an axis to a multiple of 4 and splits this axis into windows of 4 elements. Does nothing
/// for a value with more than 3 axes.
void Windows(OpenBuilder& b) {
  const size_t x = b.Operand();
  if (b.RankOf(x) > 3) return;
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  const OpenAxisSize old = shape[axis];
  const int64_t windows = (old.size + 3) / 4;
  Ints pads(2 * shape.size(), 0);
  pads[shape.size() + axis] = windows * 4 - old.size;
  shape[axis] = Derived(old, fmt::format("({} + 3) / 4 * 4", old.formula), windows * 4);
  const size_t padded = b.Add(Op::kPad, {x}, {{"pads", pads}}, shape);
  shape[axis] = Derived(old, fmt::format("(({} + 3) / 4)", old.formula), windows);
  shape.insert(shape.begin() + static_cast<int64_t>(axis) + 1, Number(4));
  b.Add(Op::kReshape, {padded}, {{"shape", SizesOf(shape)}}, shape);
}

void Gather(OpenBuilder& b) {
  const size_t x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  shape[axis] = Number(2);
  const double last = b.OneOf({0.0, -1.0, static_cast<double>(b.ShapeOf(x)[axis].size - 1)});
  const size_t indices =
      b.Constant({Number(2)}, [&](const Ints& position) { return position[0] == 0 ? 0.0 : last; });
  const size_t whole =
      b.Add(Op::kCast, {indices}, {{"to", std::string("i64")}}, b.ShapeOf(indices));
  b.Add(Op::kGather, {x, whole}, {{"axis", static_cast<int64_t>(axis)}}, shape);
}

void Expand(OpenBuilder& b) {
  const size_t x = b.Operand();
  if (b.RankOf(x) > 3 || DegreeOf(b.ShapeOf(x)) > 1) return;
  OpenShape shape = b.ShapeOf(x);
  shape.insert(shape.begin(), b.AnyDimension());
  b.Add(Op::kExpand, {x}, {{"shape", SizesOf(shape)}}, shape);
}

void Tile(OpenBuilder& b) {
  const size_t x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  Ints repeats(shape.size(), 1);
  repeats[axis] = 2;
  shape[axis] =
      Derived(shape[axis], fmt::format("(2 * {})", shape[axis].formula), 2 * shape[axis].size);
  b.Add(Op::kTile, {x}, {{"repeats", repeats}}, shape);
}

/// Adds an input with the axes batch and channels, and one or two axes of an image or a sound.
size_t Image(OpenBuilder& b) {
  OpenShape shape = {b.Chance(40) ? b.AnyDimension() : Number(b.Between(1, 2)),
                     Number(b.OneOf<int64_t>({1, 2, 3}))};
  const int64_t axes = b.Between(1, 2);
  for (int64_t a = 0; a < axes; ++a)
    shape.push_back(DegreeOf(shape) < 2 && b.Chance(70) ? b.AnyDimension()
                                                        : Number(b.Between(3, 6)));
  return b.Input(shape);
}

/// Returns the shape after windows of 3 elements, padded by 1 at both ends, on each axis from 2 on.
OpenShape AfterWindows(OpenShape shape, int64_t stride) {
  for (size_t a = 2; stride > 1 && a < shape.size(); ++a)
    shape[a] = Derived(shape[a], fmt::format("(({} - 1) / {} + 1)", shape[a].formula, stride),
                       (shape[a].size - 1) / stride + 1);
  return shape;
}

void Convolution(OpenBuilder& b) {
  const size_t x = Image(b);
  const int64_t axes = b.RankOf(x) - 2, stride = b.Between(1, 3), channels = b.Between(1, 4);
  Ints weight = {channels, b.ShapeOf(x)[1].size};
  for (int64_t a = 0; a < axes; ++a) weight.push_back(3);
  OpenShape shape = AfterWindows(b.ShapeOf(x), stride);
  shape[1] = Number(channels);
  b.Add(Op::kConv, {x, b.Weight(weight)},
        {{"pads", Ints(2 * axes, 1)}, {"strides", Ints(axes, stride)}}, shape);
}

void Pool(OpenBuilder& b) {
  const size_t x = Image(b);
  const int64_t axes = b.RankOf(x) - 2, stride = b.Between(1, 3);
  b.Add(b.OneOf({Op::kMaxPool, Op::kAveragePool}), {x},
        {{"kernel", Ints(axes, 3)}, {"pads", Ints(2 * axes, 1)}, {"strides", Ints(axes, stride)}},
        AfterWindows(b.ShapeOf(x), stride));
}

void Resize(OpenBuilder& b) {
  const size_t x = Image(b);
  OpenShape shape = b.ShapeOf(x);
  for (size_t a = 2; a < shape.size(); ++a)
    shape[a] = Derived(shape[a], fmt::format("(2 * {})", shape[a].formula), 2 * shape[a].size);
  Attributes attributes = ResizeAttributes(b);
  attributes["shape"] = SizesOf(shape);
  b.Add(Op::kResize, {x}, attributes, shape);
}

constexpr OpenRecipe kRecipes[] = {
    Unary,  Unary,  WithItsMean, WithANumber, WithPositions, WithAMask,    Product, Product,
    Reduce, Reduce, AlongAnAxis, AlongAnAxis, Slice,         Slice,        Slice,   Pad,
    Pad,    Concat, Concat,      Transpose,   JoinAndSplit,  JoinAndSplit, Windows, Gather,
    Expand, Tile,   Convolution, Pool,        Resize};

}  // namespace

std::span<const OpenRecipe> OpenRecipes() { return kRecipes; }

}  // namespace tunec::fuzz
