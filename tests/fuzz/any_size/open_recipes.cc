// Recipes that add nodes to models with named sizes. Shapes, attributes and numbers may depend on
// sizes.
#include <algorithm>

#include "tests/fuzz/any_size/open_model.h"

namespace tunec::fuzz {
namespace {

size_t AnyAxis(OpenBuilder& b, ValueId x) { return static_cast<size_t>(b.Below(b.RankOf(x))); }

/// Returns a random bound of sizes, positions or distances.
int64_t Bound(OpenBuilder& b) { return b.OneOf<int64_t>({1, 2, 3, 5, 8, 12, 20, 30}); }

Op Arithmetic(OpenBuilder& b) { return b.OneOf({Op::kAdd, Op::kSub, Op::kMul, Op::kMax}); }

/// Returns the size as a scalar.
ValueId SizeNumber(OpenBuilder& b, const Dim& size) {
  return b.Add(Op::kReshape, {b.Range(size, size + 1)}, {{"shape", Ints{}}});
}

/// Returns a vector as a value of this rank, which varies along the axis.
ValueId Along(OpenBuilder& b, ValueId vector, size_t axis, int64_t rank) {
  OpenShape shape(static_cast<size_t>(rank), 1);
  shape[axis] = b.ShapeOf(vector)[0];
  return b.Add(Op::kReshape, {vector}, {{"shape", shape}});
}

/// Returns the positions along an axis of `x`.
ValueId Positions(OpenBuilder& b, ValueId x, size_t axis) {
  return Along(b, b.Range(0, b.ShapeOf(x)[axis]), axis, b.RankOf(x));
}

/// Returns 1 where a <= b, else 0.
ValueId IsAtMost(OpenBuilder& b, ValueId low, ValueId high) {
  return b.Add(Op::kCast, {b.Add(Op::kLe, {low, high})}, {{"to", std::string("f32")}});
}

void Unary(OpenBuilder& b) {
  const ValueId x = b.Operand();
  b.AddResult(b.OneOf({Op::kRelu, Op::kTanh, Op::kAbs, Op::kNeg, Op::kSigmoid}), {x});
}

void WithItsMean(OpenBuilder& b) {
  const ValueId x = b.Operand();
  const auto axis = static_cast<int64_t>(AnyAxis(b, x));
  const ValueId mean = b.AddResult(b.OneOf({Op::kReduceMean, Op::kReduceSum, Op::kReduceMax}), {x},
                                   {{"axes", Ints{axis}}, {"keepdims", int64_t{1}}});
  b.AddResult(Arithmetic(b), {x, mean});
}

/// Returns a scalar that mostly depends on a size.
ValueId AnyNumber(OpenBuilder& b) {
  const Dim size = b.AnyDimension(), bound = Bound(b);
  switch (b.Below(6)) {
    case 0:
      return SizeNumber(b, size);
    case 1:
      return b.Add(Op::kDiv, {b.Scalar(1), SizeNumber(b, size)});
    case 2:
      return b.Add(Op::kDiv, {b.Scalar(1), b.Add(Op::kSqrt, {SizeNumber(b, size)})});
    case 3:
      return SizeNumber(b, Dim::Min(size, bound));
    case 4:  // 3 for a size above the bound, else 2
      return SizeNumber(b, Dim::Min(Dim::Max(size - bound, 0), 1) + 2);
    default:
      return b.Scalar(2);
  }
}

void WithANumber(OpenBuilder& b) {
  const ValueId x = b.Operand(), number = AnyNumber(b);
  b.AddResult(Arithmetic(b), {x, number});
}

/// Combines a value with numbers that depend on the position along an axis.
void WithPositions(OpenBuilder& b) {
  const ValueId x = b.Operand();
  const size_t axis = AnyAxis(b, x);
  const Dim size = b.ShapeOf(x)[axis];
  const int64_t kind = b.Below(4), bound = Bound(b);
  ValueId numbers =
      kind == 1 ? Along(b, b.Range(size - 1, -1, -1), axis, b.RankOf(x)) : Positions(b, x, axis);
  if (kind == 2) numbers = b.Add(Op::kMin, {numbers, b.Scalar(static_cast<double>(bound))});
  if (kind == 3) numbers = IsAtMost(b, numbers, b.Scalar(static_cast<double>(bound)));
  b.AddResult(Arithmetic(b), {x, numbers});
}

/// Multiplies a value by a mask. The mask is 0 above the diagonal or far from the diagonal, else 1.
void WithAMask(OpenBuilder& b) {
  const ValueId x = b.Operand(2);
  const auto column = static_cast<size_t>(b.RankOf(x) - 1);
  const bool is_triangle = b.Chance(50);
  const ValueId apart = b.Add(Op::kSub, {Positions(b, x, column), Positions(b, x, column - 1)});
  const ValueId mask =
      is_triangle ? IsAtMost(b, apart, b.Scalar(0))
                  : IsAtMost(b, b.Add(Op::kAbs, {apart}), b.Scalar(static_cast<double>(Bound(b))));
  b.AddResult(Op::kMul, {x, mask});
}

void Product(OpenBuilder& b) {
  const ValueId x = b.Operand(2);
  OpenShape shape = b.ShapeOf(x);
  if (shape.back().IsConstant()) {
    const ValueId weight = b.Weight({shape.back().Value(), b.OneOf<int64_t>({1, 4, 8})});
    b.AddResult(Op::kMatmul, {x, weight});
    return;
  }
  // The product of each matrix and its transpose combines all pairs of rows.
  shape.back() = shape[shape.size() - 2];
  if (b.IsSmall(shape)) b.AddResult(Op::kMatmul, {x, x}, {{"transpose_b", int64_t{1}}});
}

void Reduce(OpenBuilder& b) {
  const ValueId x = b.Operand(2);
  const auto axis = static_cast<int64_t>(AnyAxis(b, x));
  b.AddResult(b.OneOf({Op::kReduceMean, Op::kReduceSum, Op::kReduceMax, Op::kReduceMin}), {x},
              {{"axes", Ints{axis}}, {"keepdims", int64_t{0}}});
}

/// Adds a softmax, or a cumulative sum of whole numbers, because sums of small whole numbers are
/// exact.
ValueId AlongAxis(OpenBuilder& b, ValueId x, int64_t axis) {
  if (b.Chance(65)) return b.AddResult(Op::kSoftmax, {x}, {{"axis", axis}});
  return b.AddResult(Op::kCumSum, {b.Add(Op::kFloor, {x})}, {{"axis", axis}});
}

void AlongAnAxis(OpenBuilder& b) {
  const ValueId x = b.Operand();
  AlongAxis(b, x, static_cast<int64_t>(AnyAxis(b, x)));
}

struct Elements {
  Dim start, end;
  int64_t step = 1;
};

/// Draws one or more elements of an axis of at least one element.
Elements DrawElements(OpenBuilder& b, const Dim& size) {
  const int64_t kind = b.Below(11), bound = Bound(b);
  switch (kind) {
    case 0:
    case 1:
      return {0, Dim::Min(size, bound)};
    case 2:
      return {Dim::Min(size - 1, bound), size};
    case 3:
      return {Dim::Max(size - bound, 0), size};
    case 4:
      return {size - 1, size};
    case 5:
      return {0, size, 2};
    case 6:
      return {0, Dim::CeilDiv(size, 2)};
    case 7:
      return {Dim::FloorDiv(size, 2), size};
    case 8:
      return {0, Dim::Max(Dim::Mod(size, 5), 1)};
    case 9:
      return {Dim::Min(Dim::Mod(size, 3), size - 1), size};
    default:
      return {size - 1, -1, -1};
  }
}

void Slice(OpenBuilder& b) {
  const ValueId x = b.Operand();
  OpenShape ends = b.ShapeOf(x), starts(ends.size(), 0);
  Ints steps(ends.size(), 1);
  const size_t axis = AnyAxis(b, x);
  const Elements taken = DrawElements(b, ends[axis]);
  starts[axis] = taken.start;
  ends[axis] = taken.end;
  steps[axis] = taken.step;
  b.AddResult(Op::kSlice, {x}, {{"starts", starts}, {"ends", ends}, {"steps", steps}});
}

/// Pads an axis by constant widths or a remainder, to at least a constant size, or to a multiple
/// of 4.
void Pad(OpenBuilder& b) {
  const ValueId x = b.Operand();
  const size_t axis = AnyAxis(b, x), rank = b.ShapeOf(x).size();
  const Dim size = b.ShapeOf(x)[axis];
  OpenShape pads(2 * rank, 0);
  Dim &before = pads[axis], &after = pads[rank + axis];
  const int64_t kind = b.Below(5);
  if (kind == 0) {
    after = Dim::Max(Dim(Bound(b)) - size, 0);
  } else if (kind == 1) {
    after = Dim::Mod(-size, 4);
  } else if (kind == 2) {
    before = Dim::Mod(size, 3);
  } else {
    before = b.Below(3);
    after = b.Below(3);
  }
  const std::string mode = kind > 2 && b.Chance(30) ? "edge" : "constant";
  b.AddResult(Op::kPad, {x}, {{"pads", pads}, {"mode", mode}, {"value", b.OneOf({0.0, 1.0})}});
}

void Concat(OpenBuilder& b) {
  const ValueId x = b.Operand();
  const size_t axis = AnyAxis(b, x);
  ValueId beside = x;
  if (b.Chance(70)) {  // one to three rows of the positions along the last axis, at most 4
    OpenShape shape = b.ShapeOf(x);
    shape[axis] = b.Between(1, 3);
    const ValueId row = b.Add(Op::kMin, {b.Range(0, shape.back()), b.Scalar(4)});
    beside = b.Add(Op::kExpand, {row}, {{"shape", shape}});
  }
  b.AddResult(Op::kConcat, b.Chance(50) ? std::vector{beside, x} : std::vector{x, beside},
              {{"axis", static_cast<int64_t>(axis)}});
}

void Transpose(OpenBuilder& b) {
  const ValueId x = b.Operand(2);
  b.AddResult(Op::kTranspose, {x}, {{"perm", AnyPermutation(b, b.ShapeOf(x).size())}});
}

/// Joins two adjacent axes. Sometimes adds a softmax or a cumulative sum along the joined axis, and
/// mostly splits this axis again.
void JoinAndSplit(OpenBuilder& b) {
  const ValueId x = b.Operand(2);
  const OpenShape old = b.ShapeOf(x);
  const auto at = b.Below(std::ssize(old) - 1);
  OpenShape joined = old;
  joined.erase(joined.begin() + at);
  joined[static_cast<size_t>(at)] = old[static_cast<size_t>(at)] * old[static_cast<size_t>(at) + 1];
  ValueId value = b.AddResult(Op::kReshape, {x}, {{"shape", joined}});
  if (b.Chance(40)) value = AlongAxis(b, value, at);
  if (b.Chance(60)) b.AddResult(Op::kReshape, {value}, {{"shape", old}});
}

/// Pads an axis to a multiple of 4 and splits this axis into windows of 4 elements. Does nothing
/// for a value with more than 3 axes.
void Windows(OpenBuilder& b) {
  const ValueId x = b.Operand();
  if (b.RankOf(x) > 3) return;
  OpenShape shape = b.ShapeOf(x), pads(2 * shape.size(), 0);
  const size_t axis = AnyAxis(b, x);
  const Dim windows = Dim::CeilDiv(shape[axis], 4);
  pads[shape.size() + axis] = windows * 4 - shape[axis];
  const ValueId padded = b.AddResult(Op::kPad, {x}, {{"pads", pads}});
  shape[axis] = windows;
  shape.insert(shape.begin() + static_cast<int64_t>(axis) + 1, 4);
  b.AddResult(Op::kReshape, {padded}, {{"shape", shape}});
}

/// Takes the first element along an axis, and the first or last one.
void Gather(OpenBuilder& b) {
  const ValueId x = b.Operand();
  const size_t axis = AnyAxis(b, x);
  const Dim last = b.OneOf<Dim>({0, -1, b.ShapeOf(x)[axis] - 1});
  const ValueId both =
      b.Add(Op::kConcat, {b.Range(0, 1), b.Range(last, last + 1)}, {{"axis", int64_t{0}}});
  const ValueId indices = b.Add(Op::kCast, {both}, {{"to", std::string("i64")}});
  b.AddResult(Op::kGather, {x, indices}, {{"axis", static_cast<int64_t>(axis)}});
}

void Expand(OpenBuilder& b) {
  const ValueId x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  shape.insert(shape.begin(), b.AnyDimension());
  if (shape.size() <= 4 && b.IsSmall(shape)) b.AddResult(Op::kExpand, {x}, {{"shape", shape}});
}

void Tile(OpenBuilder& b) {
  const ValueId x = b.Operand();
  OpenShape shape = b.ShapeOf(x);
  const size_t axis = AnyAxis(b, x);
  Ints repeats(shape.size(), 1);
  repeats[axis] = 2;
  shape[axis] = shape[axis] * 2;
  if (b.IsSmall(shape)) b.AddResult(Op::kTile, {x}, {{"repeats", repeats}});
}

/// Adds an input with the axes batch and channels, and one or two axes of an image or a sound.
ValueId Image(OpenBuilder& b) {
  OpenShape shape = {b.Chance(40) ? b.AnyDimension() : Dim(b.Between(1, 2)),
                     b.OneOf<int64_t>({1, 2, 3})};
  for (int64_t axes = b.Between(1, 2); axes > 0; --axes) {
    shape.push_back(b.AnyDimension());
    if (!b.IsSmall(shape) || b.Chance(30)) shape.back() = b.Between(3, 6);
  }
  return b.Input(shape);
}

/// Draws strides and pads for windows of 3 elements, which cover the whole image.
Attributes WindowAttributes(OpenBuilder& b, ValueId image) {
  const OpenShape shape = b.ShapeOf(image);
  const size_t axes = shape.size() - 2;
  OpenShape pads(2 * axes, 1);
  for (size_t a = 0; a < axes; ++a)
    if (b.Chance(20)) pads[axes + a] = Dim::Mod(shape[a + 2], 2);
  return {{"pads", pads}, {"strides", Ints(axes, b.Between(1, 3))}};
}

void Convolution(OpenBuilder& b) {
  const ValueId x = Image(b);
  Ints weight(b.ShapeOf(x).size(), 3);
  weight[0] = b.Between(1, 4);
  weight[1] = b.ShapeOf(x)[1].Value();
  const ValueId filters = b.Weight(weight);
  b.AddResult(Op::kConv, {x, filters}, WindowAttributes(b, x));
}

void Pool(OpenBuilder& b) {
  const ValueId x = Image(b);
  Attributes attributes = WindowAttributes(b, x);
  attributes["kernel"] = Ints(b.ShapeOf(x).size() - 2, 3);
  b.AddResult(b.OneOf({Op::kMaxPool, Op::kAveragePool}), {x}, attributes);
}

/// Doubles an image. The factor is given, or is the quotient of the sizes.
void Resize(OpenBuilder& b) {
  const ValueId x = Image(b);
  Attributes attributes = ResizeAttributes(b);
  OpenShape shape = b.ShapeOf(x);
  std::vector<double> scales(shape.size(), 1);
  for (size_t a = 2; a < shape.size(); ++a) {
    shape[a] = shape[a] * 2;
    scales[a] = 2;
  }
  if (b.Chance(50)) {
    attributes["shape"] = shape;
  } else {
    attributes["scales"] = scales;
  }
  b.AddResult(Op::kResize, {x}, attributes);
}

constexpr OpenRecipe kRecipes[] = {
    Unary,  Unary,  WithItsMean, WithANumber, WithPositions, WithAMask,    Product, Product,
    Reduce, Reduce, AlongAnAxis, AlongAnAxis, Slice,         Slice,        Slice,   Pad,
    Pad,    Concat, Concat,      Transpose,   JoinAndSplit,  JoinAndSplit, Windows, Gather,
    Expand, Tile,   Convolution, Pool,        Resize};

}  // namespace

std::span<const OpenRecipe> OpenRecipes() { return kRecipes; }

}  // namespace tunec::fuzz
