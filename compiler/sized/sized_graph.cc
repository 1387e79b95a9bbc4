// Graphs for sizes: padded ones are compared at several smaller sizes, and what differs between
// these becomes formulas.
#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "compiler/sized/choose_samples.h"
#include "compiler/sized/sized_variant.h"

namespace tunec {
namespace {

constexpr int kMostRounds = 4;  // of samples, until a formula is told by them

/// What a padded graph was for some sizes.
struct PaddedSample {
  Sizes sizes;
  PaddedGraph padded;
};

/// What is looked at to tell how a graph depends on its sizes.
struct Looked {
  std::vector<Graph> graphs;  // at the samples' sizes
  std::vector<PaddedSample> samples;
};

std::vector<OpenAxis> OpenAxes(const SizedSource& source, const std::vector<bool>& open) {
  std::vector<OpenAxis> axes;
  for (const OpenAxis& axis : source.open) {
    if (open[source.IndexOf(axis.dimension)]) axes.push_back(axis);
  }
  return axes;
}

/// The model's graph, of whose constants those that the bucket has are the bucket's: then they are
/// in memory once, and seen to be the same at a glance.
Result<Graph> GraphLike(const SizedSource& source, const Sizes& sizes, const Graph& bucket) {
  TUNEC_ASSIGN(const Graph graph, source.graph_at(sizes));
  if (graph.nodes().size() != bucket.nodes().size()) return graph;
  size_t number = 0;
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>&,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   const Node& other = bucket.nodes()[number++];
                   if (node.op != Op::kConstant || other.op != Op::kConstant) return {};
                   const Array& array = node.constant;
                   const bool is_same =
                       array.type() == other.constant.type() &&
                       array.shape() == other.constant.shape() &&
                       (array.bytes() == 0 ||
                        std::memcmp(array.data(), other.constant.data(), array.bytes()) == 0);
                   if (!is_same) return {};
                   const std::string init = node.Has("init") ? node.String("init") : "";
                   return std::vector<ValueId>{
                       builder.AddWeight(node.name, other.constant, node.weight_name, init)};
                 });
}

/// Formulas that number the source's dimensions instead of the padded graph's.
void NumberAsSource(const SizedSource& source, PaddedGraph& padded) {
  std::vector<size_t> numbers;
  for (const std::string& dimension : padded.dimensions)
    numbers.push_back(source.IndexOf(dimension));
  const auto renumber = [&](SizeExpression& formula) { formula = formula.Renumbered(numbers); };
  for (SizeParameter& parameter : padded.parameters)
    std::ranges::for_each(parameter.formulas, renumber);
  std::ranges::for_each(padded.sizes, renumber);
  for (auto& axes : padded.outputs) {
    for (PaddedAxis& axis : axes) {
      for (PaddedExtent& part : axis) renumber(part.formula);
    }
  }
}

/// The graph padded for each of the sizes that are looked at, which is to be one.
Status PadAll(const SizedSource& source, const Graph& bucket, const std::vector<bool>& open,
              const std::vector<Sizes>& points, Looked& looked) {
  for (size_t i = looked.graphs.size(); i < points.size(); ++i) {
    TUNEC_ASSIGN(looked.graphs.emplace_back(), GraphLike(source, points[i], bucket));
  }
  looked.samples.clear();
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    TUNEC_ASSIGN(PaddedGraph padded,
                 PadGraph(looked.graphs[i], bucket, OpenAxes(source, open), looked.graphs));
    std::string printed = Print(padded.graph);
    if (i > 0 && printed != text)
      return Fail(ErrorCode::kUnsupported,
                  "what {} computes depends on its sizes otherwise than by numbers", bucket.name());
    text = std::move(printed);
    NumberAsSource(source, padded);
    looked.samples.push_back({points[i], std::move(padded)});
  }
  return {};
}

/// Formulas of the samples, of which all have the same.
std::vector<SizeExpression> FormulasOf(const PaddedGraph& padded) {
  std::vector<SizeExpression> formulas = padded.sizes;
  for (const SizeParameter& parameter : padded.parameters)
    formulas.insert(formulas.end(), parameter.formulas.begin(), parameter.formulas.end());
  return formulas;
}

/// At its own sizes, too, where that is no other graph.
void AddWhole(const SizedSource& source, const Graph& bucket, const Sizes& sizes,
              const std::vector<bool>& open, Looked& looked) {
  Result<PaddedGraph> whole = PadGraph(bucket, bucket, OpenAxes(source, open), looked.graphs);
  if (!whole || Print(whole->graph) != Print(looked.samples[0].padded.graph)) return;
  NumberAsSource(source, *whole);
  looked.samples.push_back({sizes, *std::move(whole)});
}

Result<Looked> PadSamples(const SizedSource& source, const Graph& bucket, const Sizes& sizes,
                          const std::vector<bool>& open) {
  std::vector<Sizes> points = SamplesBelow(sizes, open);
  Looked looked;
  // What is divided, as by a stride, may be another formula for each remainder.
  for (int round = 0; round < kMostRounds; ++round) {
    TUNEC_RETURN_IF_ERROR(PadAll(source, bucket, open, points, looked));
    const std::vector<Sizes> further =
        SamplesOfRemainders(sizes, open, points, FormulasOf(looked.samples[0].padded));
    if (further.empty()) {
      AddWhole(source, bucket, sizes, open, looked);
      return looked;
    }
    points.insert(points.end(), further.begin(), further.end());
  }
  return Fail(ErrorCode::kUnsupported, "how {} depends on its sizes is not told by {} of them",
              bucket.name(), points.size());
}

std::vector<SizeSample> NumbersOf(const std::vector<PaddedSample>& samples,
                                  const std::function<double(const PaddedGraph&)>& value) {
  std::vector<SizeSample> numbers;
  for (const PaddedSample& sample : samples)
    numbers.push_back({sample.sizes, value(sample.padded)});
  return numbers;
}

/// What a rule says, if anything, or a formula for what is seen.
Result<SizeFormula> FormulaFor(const std::vector<PaddedSample>& samples, std::string_view what,
                               const SizeExpression& rule,
                               const std::function<double(const PaddedGraph&)>& value) {
  if (!rule.empty()) return SizeFormula::Of(rule);
  const std::vector<SizeSample> numbers = NumbersOf(samples, value);
  std::optional<SizeFormula> formula = SizeFormula::Fit(numbers);
  if (!formula) formula = SizeFormula::FitTerms(numbers, samples[0].padded.sizes);
  if (formula) return *formula;
  return Fail(ErrorCode::kUnsupported, "{} follows no formula of the sizes", what);
}

Result<std::vector<SizedParameter>> FitParameters(const std::vector<PaddedSample>& samples) {
  std::vector<SizedParameter> parameters;
  for (size_t p = 0; p < samples[0].padded.parameters.size(); ++p) {
    const SizeParameter& first = samples[0].padded.parameters[p];
    SizedParameter parameter{first.value.type(), first.value.shape(), {}};
    for (int64_t e = 0; e < first.value.size(); ++e) {
      const auto number = [&](const PaddedGraph& padded) {
        return padded.parameters[p].value.GetDouble(e);
      };
      const SizeExpression rule = first.formulas.empty() ? SizeExpression() : first.formulas[e];
      TUNEC_ASSIGN(parameter.elements.emplace_back(),
                   FormulaFor(samples, first.name, rule, number));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Result<OutputForm> FitOutputs(const std::vector<PaddedSample>& samples) {
  OutputForm form;
  const auto& outputs = samples[0].padded.outputs;
  for (size_t o = 0; o < outputs.size(); ++o) {
    auto& axes = form.emplace_back();
    for (size_t a = 0; a < outputs[o].size(); ++a) {
      auto& parts = axes.emplace_back();
      for (size_t i = 0; i < outputs[o][a].size(); ++i) {
        const auto extent = [&](const PaddedGraph& padded) {
          return static_cast<double>(padded.outputs[o][a][i].exact);
        };
        TUNEC_ASSIGN(parts.emplace_back(),
                     FormulaFor(samples, "an output's size", outputs[o][a][i].formula, extent));
      }
    }
  }
  return form;
}

/// A formula wants each open dimension at two sizes.
bool Vary(const std::vector<PaddedSample>& samples, const std::vector<bool>& open) {
  for (size_t d = 0; d < open.size(); ++d) {
    std::set<int64_t> seen;
    for (const PaddedSample& sample : samples) seen.insert(sample.sizes[d]);
    if (open[d] && seen.size() < 2) return false;
  }
  return true;
}

bool Separates(const SizedSource& source, const PaddedGraph& padded, size_t dimension) {
  return std::ranges::find(padded.separable, source.dimensions[dimension]) !=
         padded.separable.end();
}

/// For all samples, and for one position, too, which a run may be of.
bool IsSeparable(const SizedSource& source, const Looked& looked, const Graph& bucket,
                 size_t dimension) {
  const std::vector<PaddedSample>& samples = looked.samples;
  for (const PaddedSample& sample : samples) {
    if (!Separates(source, sample.padded, dimension)) return false;
  }
  Sizes one = samples[0].sizes;
  one[dimension] = 1;
  const Result<Graph> exact = source.graph_at(one);
  if (!exact) return false;
  const Result<PaddedGraph> padded = PadGraph(
      *exact, bucket, OpenAxes(source, std::vector<bool>(one.size(), true)), looked.graphs);
  return padded && Separates(source, *padded, dimension) &&
         Print(padded->graph) == Print(samples[0].padded.graph);
}

}  // namespace

size_t SizedSource::IndexOf(const std::string& dimension) const {
  return static_cast<size_t>(std::ranges::find(dimensions, dimension) - dimensions.begin());
}

Result<SizedGraph> PaddedGraphFor(const SizedSource& source, const Sizes& sizes,
                                  const std::vector<bool>& open) {
  TUNEC_ASSIGN(const Graph bucket, source.graph_at(sizes));
  TUNEC_ASSIGN(const Looked looked, PadSamples(source, bucket, sizes, open));
  const std::vector<PaddedSample>& samples = looked.samples;
  if (!Vary(samples, open))
    return Fail(ErrorCode::kUnsupported, "{} is too small to be looked at in smaller sizes",
                bucket.name());
  SizedGraph result{samples[0].padded.graph, sizes, {}};
  TUNEC_ASSIGN(result.parameters, FitParameters(samples));
  return result;
}

Result<SizedShape> LearnShape(const SizedSource& source) {
  constexpr int64_t kLeast = 8;  // so that there are smaller sizes to look at
  Sizes sizes = source.example;
  for (int64_t& size : sizes) size = std::max(size, kLeast);
  const std::vector<bool> open(sizes.size(), true);
  TUNEC_ASSIGN(const Graph bucket, source.graph_at(sizes));
  TUNEC_ASSIGN(const Looked looked, PadSamples(source, bucket, sizes, open));
  const std::vector<PaddedSample>& samples = looked.samples;
  if (!Vary(samples, open))
    return Fail(ErrorCode::kUnsupported, "{} has a dimension of one size", bucket.name());
  SizedShape shape;
  TUNEC_ASSIGN(shape.outputs, FitOutputs(samples));
  for (size_t d = 0; d < sizes.size(); ++d)
    shape.separable.push_back(IsSeparable(source, looked, bucket, d));
  return shape;
}

}  // namespace tunec
