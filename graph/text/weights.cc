#include "graph/text/weights.h"

#include <cmath>

#include "ir/allocate_array.h"
#include "ir/rounding.h"
#include "ir/sizes.h"
#include "ir/text/print_expr.h"
#include "support/random.h"

namespace tunec {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Distribution DefaultDistribution(const WeightRequest& request) {
  using Kind = Distribution::Kind;
  if (!IsFloat(request.type)) return {Kind::kConstant, 0, 0};
  const auto& shape = request.shape;
  if (shape.size() < 2) return {Kind::kUniform, 0.5, 1};
  int64_t fan_in = shape[0];  // for a matrix [in, out]
  if (shape.size() > 2) {     // for filters [out, in, ...]
    fan_in = 1;
    for (size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
  }
  const double bound = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(fan_in, 1)));
  return {Kind::kUniform, -bound, bound};
}

Result<Distribution> DistributionOf(const WeightRequest& request) {
  if (request.init.empty()) return DefaultDistribution(request);
  return ParseDistribution(request.init);
}

/// Converts 64 random bits to a number of the distribution.
double Draw(const Distribution& distribution, uint64_t bits) {
  switch (distribution.kind) {
    case Distribution::Kind::kConstant:
      return distribution.first;
    case Distribution::Kind::kUniform: {
      const double unit = static_cast<double>(bits >> 40) * 0x1p-24;
      return distribution.first + (distribution.second - distribution.first) * unit;
    }
    case Distribution::Kind::kNormal: {
      // The sum of four random 16-bit numbers has mean 131070. The sum divided by 65536 has a
      // variance of almost 1/3.
      const uint64_t sum =
          (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
      const double scale = distribution.first * 1.7320508075688772 * 0x1p-16;
      return (static_cast<double>(sum) - 131070.0) * scale;
    }
  }
  return 0;
}

Status CheckRequest(const WeightRequest& request) {
  constexpr int64_t kMostBytes = int64_t{1} << 35;
  const int64_t count = ElementCount(request.shape);
  if (!IsShape(request.shape) || count > kMostBytes / static_cast<int64_t>(SizeOf(request.type)))
    return Fail(ErrorCode::kResourceLimit, "weight {} of shape {} is larger than {} bytes",
                request.name, ShapeText(request.shape), kMostBytes);
  return {};
}

}  // namespace

std::string Print(const Distribution& distribution) {
  switch (distribution.kind) {
    case Distribution::Kind::kUniform:
      return fmt::format("uniform({}, {})", PrintDouble(distribution.first),
                         PrintDouble(distribution.second));
    case Distribution::Kind::kNormal:
      return fmt::format("normal({})", PrintDouble(distribution.first));
    case Distribution::Kind::kConstant:
      break;
  }
  return fmt::format("constant({})", PrintDouble(distribution.first));
}

Result<Distribution> ParseDistribution(Lexer& lexer) {
  Distribution distribution;
  if (lexer.TryTake("uniform")) {
    distribution.kind = Distribution::Kind::kUniform;
  } else if (lexer.TryTake("normal")) {
    distribution.kind = Distribution::Kind::kNormal;
  } else if (lexer.TryTake("constant")) {
    distribution.kind = Distribution::Kind::kConstant;
  } else {
    return lexer.Expected("uniform, normal or constant");
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect("("));
  TUNEC_ASSIGN(distribution.first, lexer.ExpectNumber("a number"));
  if (distribution.kind == Distribution::Kind::kUniform) {
    TUNEC_RETURN_IF_ERROR(lexer.Expect(","));
    TUNEC_ASSIGN(distribution.second, lexer.ExpectNumber("the upper bound"));
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect(")"));
  return distribution;
}

Result<Distribution> ParseDistribution(std::string_view text) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, "init"));
  TUNEC_ASSIGN(Distribution distribution, ParseDistribution(lexer));
  if (!lexer.IsAtEnd()) return lexer.Expected("the end");
  return distribution;
}

void WeightSource::Fill(const WeightRequest&, Array&) const {}

Result<Array> WeightSource::Load(const WeightRequest& request) const {
  TUNEC_ASSIGN(Array array, Reserve(request));
  Fill(request, array);
  return array;
}

Result<Array> NoWeights::Reserve(const WeightRequest& request) const {
  return Fail(ErrorCode::kNotFound,
              "weight {} has no bytes: expected a .safetensors file beside the graph, or "
              "--random-weights SEED",
              request.name);
}

Result<Array> RandomWeights::Reserve(const WeightRequest& request) const {
  TUNEC_RETURN_IF_ERROR(CheckRequest(request));
  TUNEC_RETURN_IF_ERROR(DistributionOf(request));
  return AllocateArray(request.type, request.shape, "weight " + request.name);
}

void RandomWeights::Fill(const WeightRequest& request, Array& array) const {
  const Distribution distribution = DistributionOf(request).value();
  Random random(StreamSeed(seed_, request.name));
  if (request.type == DataType::kF32) {
    for (float& element : array.MutableAs<float>())
      element = static_cast<float>(Draw(distribution, random.Next()));
    return;
  }
  for (int64_t i = 0; i < array.size(); ++i) {
    const double value = Draw(distribution, random.Next());
    if (IsFloat(request.type)) {
      array.SetDouble(i, value);
    } else {
      array.SetInt(i, SaturateToInt(std::floor(value), request.type));
    }
  }
}

Result<Array> SafetensorsWeights::Reserve(const WeightRequest& request) const {
  const Array* found = file_.Find(request.name);
  if (found == nullptr)
    return Fail(ErrorCode::kNotFound, "{} has no tensor {}", file_.path().string(), request.name);
  if (found->type() != request.type || found->shape() != request.shape)
    return Fail(ErrorCode::kInvalidArgument, "{}: tensor {} is {}{}, expected {}{}",
                file_.path().string(), request.name, Name(found->type()), ShapeText(found->shape()),
                Name(request.type), ShapeText(request.shape));
  return *found;
}

}  // namespace tunec
