// Lowering of resize, axis by axis. The output's value at o is a weighted sum of taps of the input
// around a coordinate c(o) = (a*o + b) / d with integers a, b, d. So the positions of
// taps are quasi-affine indices. Taps outside of the input are clamped to its edge.
#include <numeric>

#include "graph/lower/lower_node.h"
#include "graph/lower/regions.h"
#include "graph/ops/scale_fraction.h"

namespace tunec::lower {
namespace {

// The coordinate (factor*o + offset) / divisor in the input, for position o of the output.
struct Coordinate {
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t divisor = 1;
  IndexExpr Numerator(const IndexExpr& o) const { return o * factor + offset; }
};

Coordinate Reduced(Coordinate c) {
  const int64_t common = std::gcd(std::gcd(c.factor, c.offset), c.divisor);
  return {c.factor / common, c.offset / common, c.divisor / common};
}

struct ResizeAxis {
  size_t axis = 0;
  int64_t input = 0;
  int64_t output = 0;
  Coordinate coordinate;
};

// Returns the coordinate of ONNX's coordinate_transformation_mode. The mode align_corners uses the
// corners of the actual output and ignores the scale.
Coordinate CoordinateOf(const std::string& mode, Fraction scale, int64_t input, int64_t output) {
  const int64_t p = scale.numerator;
  const int64_t q = scale.denominator;
  const bool single = output == 1;
  if (mode == "asymmetric") return Reduced({q, 0, p});
  if (mode == "align_corners")
    return single ? Coordinate{0, 0, 1} : Reduced({input - 1, 0, output - 1});
  if (mode == "pytorch_half_pixel" && single) return {0, 0, 1};
  int64_t offset = q - p;
  if (mode == "half_pixel_symmetric") offset += input * p - output * q;
  return Reduced({2 * q, offset, 2 * p});
}

IndexExpr NearestTap(const std::string& mode, const Coordinate& c, const IndexExpr& o) {
  const IndexExpr n = c.Numerator(o);
  const int64_t d = c.divisor;
  if (mode == "floor") return IndexExpr::FloorDiv(n, d);
  if (mode == "ceil") return IndexExpr::FloorDiv(n + (d - 1), d);
  if (mode == "round_prefer_ceil") return IndexExpr::FloorDiv(n * 2 + d, 2 * d);
  return IndexExpr::FloorDiv(n * 2 + (d - 1), 2 * d);  // ceil(x - 1/2)
}

Expr ReadClamped(StatementBuilder& builder, const Lazy& x, const Index& index, size_t axis,
                 const IndexExpr& position) {
  return SelectRegion(builder, ClampedRegions(position, x.shape[axis]), [&](const IndexExpr& at) {
    Index moved = index;
    moved[axis] = at;
    return x.At(builder, moved);
  });
}

// Returns the weights of taps floor(c) and floor(c) + 1 for the fractional part t of c.
std::vector<Expr> LinearWeights(const Expr& t) { return {Expr::Constant(1, t.type()) - t, t}; }

// Returns the weights of Keys' cubic convolution for taps floor(c) - 1 to floor(c) + 2.
std::vector<Expr> CubicWeights(const Expr& t, double a) {
  const auto number = [&](double v) { return Expr::Constant(v, t.type()); };
  const auto near = [&](const Expr& x) {
    return ((number(a + 2) * x - number(a + 3)) * x) * x + number(1);
  };
  const auto far = [&](const Expr& x) {
    return ((number(a) * x - number(5 * a)) * x + number(8 * a)) * x - number(4 * a);
  };
  const Expr other = number(1) - t;
  return {far(t + number(1)), near(t), near(other), far(other + number(1))};
}

// Returns whether the coordinate is an integer for some integer o.
bool MayBeWhole(const Coordinate& c) { return c.offset % std::gcd(c.factor, c.divisor) == 0; }

// Interpolates between taps. At an integer coordinate c, all taps except c have weight 0. They are
// left out, because 0 times infinity is NaN.
Expr Interpolate(StatementBuilder& builder, const Lazy& x, const Index& index,
                 const ResizeAxis& resize, bool cubic, double cubic_a) {
  const Coordinate& c = resize.coordinate;
  const IndexExpr numerator = c.Numerator(index[resize.axis]);
  const IndexExpr floor = IndexExpr::FloorDiv(numerator, c.divisor);
  const IndexExpr rest = IndexExpr::Mod(numerator, c.divisor);
  const auto tap = [&](const IndexExpr& at) {
    return ReadClamped(builder, x, index, resize.axis, at);
  };
  if (c.divisor == 1) return tap(floor);
  const DataType type = ComputeType(x.type);
  const Expr t = Expr::Index(rest, type) / Expr::Constant(c.divisor, type);
  const std::vector<Expr> weights = cubic ? CubicWeights(t, cubic_a) : LinearWeights(t);
  const IndexExpr first = cubic ? floor - 1 : floor;
  std::optional<Expr> sum;
  for (size_t k = 0; k < weights.size(); ++k) {
    const Expr term = weights[k] * tap(first + static_cast<int64_t>(k));
    sum = sum ? *sum + term : term;
  }
  return MayBeWhole(c) ? Expr::Select(Expr::Holds({-rest}), tap(floor), *sum) : *sum;
}

Lazy ResizeAlong(LowerContext& context, const Node& node, const Lazy& x, const ResizeAxis& resize) {
  std::vector<int64_t> shape = x.shape;
  shape[resize.axis] = resize.output;
  if (node.String("mode") == "nearest") {
    const std::string& mode = node.String("nearest_mode");
    return context.Define(
        x.type, shape, x.cost + 1, [=](StatementBuilder& builder, const Index& index) {
          const IndexExpr tap = NearestTap(mode, resize.coordinate, index[resize.axis]);
          return ReadClamped(builder, x, index, resize.axis, tap);
        });
  }
  const bool cubic = node.String("mode") == "cubic";
  const double a = node.Float("cubic_a");
  return context.Define(x.type, shape, (cubic ? 30 : 6) + 2 * x.cost,
                        [=](StatementBuilder& builder, const Index& index) {
                          return Interpolate(builder, x, index, resize, cubic, a);
                        });
}

}  // namespace

Result<Lazy> LowerResize(LowerContext& context, const Node& node) {
  Lazy value = context.Input(node, 0);
  const std::vector<int64_t> shape = context.OutputShape(node);
  const auto& scales = std::get<std::vector<double>>(node.attributes.at("scales"));
  const bool nearest = node.String("mode") == "nearest";
  const bool excludes = node.String("mode") == "cubic" && node.Int("exclude_outside") != 0;
  if (!nearest && (!IsFloat(value.type) || excludes))
    return FailAt(node.where, ErrorCode::kUnsupported, "'{}': {} resize of {}{} has no lowering",
                  node.name, node.String("mode"), Name(value.type),
                  excludes ? " with exclude_outside" : "");
  bool first = true;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (scales[d] == 1 && shape[d] == value.shape[d]) continue;
    const std::optional<Fraction> scale = FractionOfScale(scales[d]);
    if (!scale)
      return FailAt(node.where, ErrorCode::kUnsupported,
                    "'{}': resize scale {} of axis {} is not a fraction of small integers",
                    node.name, scales[d], d);
    if (!first && !nearest) value = context.Materialise(value);
    first = false;
    value = ResizeAlong(
        context, node, value,
        {.axis = d,
         .input = value.shape[d],
         .output = shape[d],
         .coordinate = CoordinateOf(node.String("coordinate"), *scale, value.shape[d], shape[d])});
  }
  return value;
}

}  // namespace tunec::lower
