#include "graph/passes/recognize_patterns.h"

#include <cmath>
#include <numbers>

#include "graph/passes/match.h"
#include "graph/passes/rewrite.h"

namespace tunec {
namespace {

constexpr std::nullopt_t kUnchanged = std::nullopt;

Pattern X() { return Pattern::Any("x"); }
Pattern N(double value) { return Pattern::Number(value); }
Pattern Apply(Op op, Pattern x) { return Pattern::Node(op, {std::move(x)}); }

// The first pattern that the node completes. The node itself is not in the graph yet, so its
// operands are matched.
std::optional<Bindings> MatchAny(const RewriteSite& site, std::span<const Pattern> left,
                                 std::span<const Pattern> right, bool commutes) {
  for (size_t p = 0; p < left.size(); ++p) {
    for (const size_t first : {0, 1}) {
      if (first == 1 && !commutes) break;
      // Both operands must bind x to the same value: match them as one product.
      const auto a = left[p].Match(site.graph(), site.inputs[first]);
      const auto b = right[p].Match(site.graph(), site.inputs[1 - first]);
      if (!a || !b) continue;
      Bindings joined = *a;
      bool consistent = true;
      for (const auto& [name, value] : *b) {
        const auto [at, fresh] = joined.emplace(name, value);
        consistent &= fresh || at->second == value;
      }
      if (consistent) return joined;
    }
  }
  return {};
}

RewriteResult AddNamed(const RewriteSite& site, Op op, std::vector<ValueId> inputs,
                       Attributes attributes = {}) {
  return site.builder.Add(op, std::move(inputs), std::move(attributes), site.node.name,
                          site.node.where);
}

// The product x * half * (1 + f) in every association.
struct Products {
  std::vector<Pattern> left;
  std::vector<Pattern> right;
};
Products HalfProducts(const Pattern& one_plus) {
  return {{X() * one_plus, X() * N(0.5), one_plus * N(0.5)}, {N(0.5), one_plus, X()}};
}

RewriteResult RecognizeErfGelu(const RewriteSite& site) {
  if (site.node.op != Op::kMul) return kUnchanged;
  for (const Pattern& argument : {X() / N(std::numbers::sqrt2), X() * N(1 / std::numbers::sqrt2)}) {
    const Products products = HalfProducts(Apply(Op::kErf, argument) + N(1));
    const auto found = MatchAny(site, products.left, products.right, true);
    if (found) return AddNamed(site, Op::kGelu, {found->at("x")}, {{"approximate", "none"}});
  }
  return kUnchanged;
}

RewriteResult RecognizeTanhGelu(const RewriteSite& site) {
  if (site.node.op != Op::kMul) return kUnchanged;
  const Pattern cubes[] = {
      N(0.044715) * Pattern::Node(Op::kPow, {X(), N(3)}),
      N(0.044715) * (X() * (X() * X())),
      (N(0.044715) * X()) * (X() * X()),
      ((N(0.044715) * X()) * X()) * X(),
  };
  for (const Pattern& cube : cubes) {
    const Pattern argument = N(std::sqrt(2 / std::numbers::pi)) * (X() + cube);
    const Products products = HalfProducts(Apply(Op::kTanh, argument) + N(1));
    const auto found = MatchAny(site, products.left, products.right, true);
    if (found) return AddNamed(site, Op::kGelu, {found->at("x")}, {{"approximate", "tanh"}});
  }
  return kUnchanged;
}

RewriteResult RecognizeSilu(const RewriteSite& site) {
  if (site.node.op != Op::kMul) return kUnchanged;
  const Pattern left[] = {X()};
  const Pattern right[] = {Apply(Op::kSigmoid, X())};
  const auto found = MatchAny(site, left, right, true);
  if (!found) return kUnchanged;
  return AddNamed(site, Op::kSilu, {found->at("x")});
}

// x * hard_sigmoid(x), or x * clip(x + 3, 0, 6) / 6.
RewriteResult RecognizeHardSwish(const RewriteSite& site) {
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-4; };
  if (site.node.op == Op::kMul) {
    for (const size_t i : {0, 1}) {
      const Node* gate = site.Producer(i, Op::kHardSigmoid);
      if (gate == nullptr || gate->inputs[0] != site.inputs[1 - i]) continue;
      if (near(gate->Float("alpha"), 1.0 / 6) && near(gate->Float("beta"), 0.5))
        return AddNamed(site, Op::kHardSwish, {site.inputs[1 - i]});
    }
  }
  if (site.node.op != Op::kDiv) return kUnchanged;
  const Pattern gate = Apply(Op::kClip, X() + N(3)).Named("gate");
  const auto found = (X() * gate).Match(site.graph(), site.inputs[0]);
  const std::optional<double> six = UniformValue(site.graph(), site.inputs[1]);
  if (!found || !six || !near(*six, 6)) return kUnchanged;
  const Node& clip = site.graph().producer(found->at("gate"));
  if (clip.Float("min") != 0 || !near(clip.Float("max"), 6)) return kUnchanged;
  return AddNamed(site, Op::kHardSwish, {found->at("x")});
}

// Whether the reduction is over the last axis alone and keeps it.
bool ReducesLastAxis(const Graph& graph, ValueId value) {
  const Node& node = graph.producer(value);
  const auto rank = static_cast<int64_t>(graph.value(node.inputs[0]).type.dims.size());
  return node.Int("keepdims") != 0 && node.Ints("axes") == std::vector<int64_t>{rank - 1};
}

// A tensor of the last axis' extent: [C], or [1, .., C] made [C] by a reshape.
Result<std::optional<ValueId>> RowOperand(const RewriteSite& site, ValueId value, ValueId x) {
  const std::vector<Dim>& dims = site.graph().value(value).type.dims;
  const std::vector<Dim>& like = site.graph().value(x).type.dims;
  if (dims.empty() || dims.back() != like.back()) return kUnchanged;
  for (size_t d = 0; d + 1 < dims.size(); ++d)
    if (dims[d] != Dim(1)) return kUnchanged;
  if (dims.size() == 1) return value;
  if (!dims.back().IsFixed()) return kUnchanged;
  return site.builder.Add(Op::kReshape, {value},
                          {{"shape", std::vector<int64_t>{dims.back().size()}}});
}

// The root mean square of x - mean(x) is x's deviation: rms_norm(x - mean(x)) is layer_norm(x).
RewriteResult RecognizeLayerNorm(const RewriteSite& site) {
  if (site.node.op != Op::kRmsNorm) return kUnchanged;
  const Pattern centred = X() - Apply(Op::kReduceMean, X()).Named("mean");
  const auto found = centred.Match(site.graph(), site.inputs[0]);
  if (!found || !ReducesLastAxis(site.graph(), found->at("mean"))) return kUnchanged;
  const auto rank = static_cast<int64_t>(site.output_type().dims.size());
  if (site.node.Int("axis") != rank - 1 || !site.HasOutputType(found->at("x"))) return kUnchanged;
  return AddNamed(site, Op::kLayerNorm, {found->at("x"), site.inputs[1]}, site.node.attributes);
}

// layer_norm(x, scale) + bias
RewriteResult AddLayerNormBias(const RewriteSite& site) {
  if (site.node.op != Op::kAdd) return kUnchanged;
  for (const size_t i : {0, 1}) {
    const Node* norm = site.Producer(i, Op::kLayerNorm);
    if (norm == nullptr || norm->inputs.size() != 2 || !site.IsOnlyUse(i)) continue;
    const ValueId x = norm->inputs[0];
    const ValueId scale = norm->inputs[1];
    const Attributes attributes = norm->attributes;
    const auto rank = static_cast<int64_t>(site.output_type().dims.size());
    if (norm->Int("axis") != rank - 1 || !site.HasOutputType(x)) continue;
    TUNEC_ASSIGN(const auto bias, RowOperand(site, site.inputs[1 - i], x));
    if (bias) return AddNamed(site, Op::kLayerNorm, {x, scale, *bias}, attributes);
  }
  return kUnchanged;
}

// x / sqrt(mean(x * x) + epsilon) * scale, or times a reciprocal root.
RewriteResult RecognizeRmsNorm(const RewriteSite& site) {
  if (site.node.op != Op::kMul) return kUnchanged;
  const Pattern mean = Apply(Op::kReduceMean, X() * X()).Named("mean");
  const Pattern sum = mean + Pattern::AnyNumber("epsilon");
  const Pattern left[] = {X() / Apply(Op::kSqrt, sum), X() * Apply(Op::kRsqrt, sum),
                          X() * Apply(Op::kReciprocal, Apply(Op::kSqrt, sum)),
                          X() * (N(1) / Apply(Op::kSqrt, sum))};
  const std::vector<Pattern> right(std::size(left), Pattern::Any("scale"));
  const auto found = MatchAny(site, left, right, true);
  if (!found) return kUnchanged;
  const ValueId x = found->at("x");
  if (!ReducesLastAxis(site.graph(), found->at("mean")) || !site.HasOutputType(x))
    return kUnchanged;
  const double epsilon = *UniformValue(site.graph(), found->at("epsilon"));
  TUNEC_ASSIGN(const auto scale, RowOperand(site, found->at("scale"), x));
  if (!scale) return kUnchanged;
  return AddNamed(site, Op::kRmsNorm, {x, *scale}, {{"epsilon", epsilon}});
}

// e = exp(x - max(x)); e / sum(e).
RewriteResult RecognizeSoftmax(const RewriteSite& site) {
  if (site.node.op != Op::kDiv) return kUnchanged;
  const Pattern greatest = Apply(Op::kReduceMax, X()).Named("max");
  const Pattern exponential = Apply(Op::kExp, X() - greatest).Named("e");
  const Pattern left[] = {exponential};
  const Pattern right[] = {Apply(Op::kReduceSum, exponential).Named("sum")};
  const auto found = MatchAny(site, left, right, false);
  if (!found) return kUnchanged;
  const Node& max = site.graph().producer(found->at("max"));
  const Node& sum = site.graph().producer(found->at("sum"));
  const std::vector<int64_t> axes = max.Ints("axes");
  if (axes.size() != 1 || sum.Ints("axes") != axes || max.Int("keepdims") == 0 ||
      sum.Int("keepdims") == 0)
    return kUnchanged;
  return AddNamed(site, Op::kSoftmax, {found->at("x")}, {{"axis", axes[0]}});
}

// log(1 + exp(x)).
RewriteResult RecognizeSoftplus(const RewriteSite& site) {
  if (site.node.op != Op::kLog) return kUnchanged;
  const auto found = (Apply(Op::kExp, X()) + N(1)).Match(site.graph(), site.inputs[0]);
  if (!found) return kUnchanged;
  return AddNamed(site, Op::kSoftplus, {found->at("x")});
}

constexpr RewriteRule kRules[] = {
    {"erf-gelu", RecognizeErfGelu},
    {"tanh-gelu", RecognizeTanhGelu},
    {"silu", RecognizeSilu},
    {"hard-swish", RecognizeHardSwish},
    {"layer-norm", RecognizeLayerNorm},
    {"layer-norm-bias", AddLayerNormBias},
    {"rms-norm", RecognizeRmsNorm},
    {"softmax", RecognizeSoftmax},
    {"softplus", RecognizeSoftplus},
};

}  // namespace

Result<Graph> RecognizePatterns(const Graph& graph, const PassOptions& options) {
  return ApplyRules(graph, kRules, options);
}

}  // namespace tunec
