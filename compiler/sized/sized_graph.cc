// Inference of formulas. The padded graphs at several smaller sizes are compared, and numbers that
// differ between them become formulas.
#include "compiler/sized/sized_graph.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "compiler/sized/check_sizes.h"
#include "compiler/sized/pad_samples.h"
#include "compiler/sized/size_formula.h"

namespace tunec {
namespace {

std::vector<SizeSample> NumbersOf(const std::vector<PaddedSample>& samples,
                                  const std::function<double(const PaddedGraph&)>& value) {
  std::vector<SizeSample> numbers;
  for (const PaddedSample& sample : samples)
    numbers.push_back({sample.sizes, value(sample.padded)});
  return numbers;
}

/// Returns the formula of `rule` unless it is empty. Otherwise fits a formula to the samples.
Result<SizeFormula> FormulaFor(const std::vector<PaddedSample>& samples, std::string_view what,
                               const SizeExpression& rule,
                               const std::function<double(const PaddedGraph&)>& value) {
  if (!rule.empty()) return FormulaOf(rule);
  const std::vector<SizeSample> numbers = NumbersOf(samples, value);
  std::optional<SizeFormula> formula = FitFormula(numbers);
  if (!formula) formula = FitFormulaOfTerms(numbers, samples[0].padded.sizes);
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

Result<OutputExtents> FitOutputs(const std::vector<PaddedSample>& samples) {
  OutputExtents form;
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

/// Returns true if the samples have at least two sizes of each open dimension, as formulas require.
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

/// Returns true if the dimension is separable in all samples, and in the graph for one position. A
/// part of a split run may have one position.
Result<bool> IsSeparable(const SizedSource& source, const Looked& looked, const Graph& bucket,
                         size_t dimension) {
  const std::vector<PaddedSample>& samples = looked.samples;
  for (const PaddedSample& sample : samples) {
    if (!Separates(source, sample.padded, dimension)) return false;
  }
  Sizes one = samples[0].sizes;
  one[dimension] = 1;
  TUNEC_ASSIGN(const std::optional<Graph> exact, source.GraphIfAny(one));
  if (!exact) return false;
  const Result<PaddedGraph> padded = PadGraph(
      *exact, bucket, OpenAxes(source, std::vector<bool>(one.size(), true)), looked.graphs);
  return padded && Separates(source, *padded, dimension) &&
         Print(padded->graph) == Print(samples[0].padded.graph);
}

/// Returns served sizes that begin, in each open dimension, at the smaller of `least` and half of
/// the key's size.
ServedSizes AtMostHalf(const SizedKey& key, const Sizes& least) {
  ServedSizes served{key, key.sizes};
  for (size_t d = 0; d < least.size(); ++d)
    if (key.open[d]) served.least[d] = std::max<int64_t>(1, std::min(least[d], key.sizes[d] / 2));
  return served;
}

/// Returns the least sizes of runs on code with this key.
Sizes LeastWanted(const SizedForm& form, const SizedKey& key) {
  Sizes least = key.sizes;
  for (size_t d = 0; d < least.size(); ++d)
    if (key.open[d]) least[d] = LeastOfBucket(key.sizes[d], form.listed[d]);
  return least;
}

Result<SizedGraph> PaddedGraphFrom(const SizedSource& source, const SizedForm& form,
                                   const Graph& bucket, const ServedSizes& served) {
  TUNEC_ASSIGN(Looked looked, PadSamples(source, bucket, served));
  const std::vector<PaddedSample>& samples = looked.samples;
  if (!Vary(samples, served.key.open))
    return Fail(ErrorCode::kUnsupported, "{} is too small to be looked at in smaller sizes",
                bucket.name());
  for (size_t i = 0; i < looked.graphs.size(); ++i)
    TUNEC_RETURN_IF_ERROR(CheckOutputsAt(form, looked.graphs[i], samples[i].sizes));
  SizedGraph result{samples[0].padded.graph, {served.key, served.least, {}}};
  TUNEC_ASSIGN(result.code.parameters, FitParameters(samples));
  result.compared = std::move(looked.graphs);
  result.compared.insert(result.compared.begin(), bucket);
  return result;
}

/// Returns a padded graph that serves all runs of the key, if there is one. Otherwise begins with a
/// graph that serves sizes from half of the key's sizes, and extends each dimension separately. For
/// this, tries the least size of the dimension, and doubles it until a graph is found.
Result<SizedGraph> PaddedGraphFor(const SizedSource& source, const SizedForm& form,
                                  const SizedKey& key) {
  constexpr int64_t kStep = 2;
  TUNEC_ASSIGN(const Graph bucket, source.graph_at(key.sizes));
  const ServedSizes wanted = AtMostHalf(key, LeastWanted(form, key));
  Result<SizedGraph> all = PaddedGraphFrom(source, form, bucket, wanted);
  ServedSizes served = AtMostHalf(key, key.sizes);
  if (all || IsCancelled(all.error()) || wanted.least == served.least) return all;
  TUNEC_ASSIGN(SizedGraph best, PaddedGraphFrom(source, form, bucket, served));
  for (size_t d = 0; d < key.sizes.size(); ++d) {
    const int64_t half = served.least[d];
    for (served.least[d] = wanted.least[d]; served.least[d] < half; served.least[d] *= kStep) {
      Result<SizedGraph> more = PaddedGraphFrom(source, form, bucket, served);
      if (!more && IsCancelled(more.error())) return more;
      if (!more) continue;
      best = *std::move(more);
      break;
    }
    served.least[d] = std::min(served.least[d], half);
  }
  return best;
}

/// Checks the output formulas at sizes far from `seen` for which the source has a graph. Raises
/// `form.most` to these sizes.
Status CheckFarSizes(const SizedSource& source, const Sizes& seen, SizedForm& form) {
  for (const Sizes& sizes : SizesFarFrom(seen, form.listed)) {
    TUNEC_ASSIGN(const std::optional<Graph> graph, source.GraphIfAny(sizes));
    if (!graph) continue;
    TUNEC_RETURN_IF_ERROR(CheckOutputsAt(form, *graph, sizes));
    for (size_t d = 0; d < sizes.size(); ++d) form.most[d] = std::max(form.most[d], sizes[d]);
  }
  return {};
}

/// Returns true if runs may be split along the dimension up to its size in `large`. All other
/// dimensions have the example's sizes.
bool SeparatesUpTo(const SizedSource& source, const Graph& example, const Graph& large,
                   size_t dimension) {
  std::vector<bool> open(source.example.size(), false);
  open[dimension] = true;
  const Result<PaddedGraph> padded = PadGraph(example, large, OpenAxes(source, open));
  return padded && Separates(source, *padded, dimension);
}

Sizes ExampleWith(const SizedSource& source, size_t dimension, int64_t size) {
  Sizes sizes = source.example;
  sizes[dimension] = size;
  return sizes;
}

/// Checks the form along each separable dimension at a size that runs hardly exceed, and stores
/// this size in `most`. Split runs need no code for such sizes, so compilation does not check them.
/// A dimension that is not separable at this size is no longer separable.
Status LookFar(const SizedSource& source, SizedForm& form) {
  constexpr int64_t kFar = 64, kFarEnough = 1024;
  if (std::ranges::find(form.separable, true) == form.separable.end()) return {};
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  for (size_t d = 0; d < form.most.size(); ++d) {
    if (!form.separable[d]) continue;
    const int64_t seen = form.most[d];
    for (const int64_t size : {std::max(seen, std::min(kFar * seen, kFarEnough)), seen}) {
      const Sizes sizes = ExampleWith(source, d, size);
      TUNEC_ASSIGN(const std::optional<Graph> graph, source.GraphIfAny(sizes));
      if (!graph) continue;
      TUNEC_RETURN_IF_ERROR(CheckOutputsAt(form, *graph, sizes));
      form.separable[d] = SeparatesUpTo(source, example, *graph, d);
      form.most[d] = size;
      break;
    }
  }
  return {};
}

}  // namespace

Status CheckFurther(const SizedSource& source, const SizedForm& form, size_t dimension,
                    int64_t size) {
  const Sizes sizes = ExampleWith(source, dimension, size);
  TUNEC_ASSIGN(const Graph graph, source.graph_at(sizes));
  TUNEC_RETURN_IF_ERROR(CheckOutputsAt(form, graph, sizes));
  if (!form.separable[dimension]) return {};
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  if (SeparatesUpTo(source, example, graph, dimension)) return {};
  return Fail(ErrorCode::kUnsupported, "{} is another graph where {} is {} than at smaller sizes",
              graph.name(), source.dimensions[dimension], size);
}

Result<SizedGraph> GraphFor(const SizedSource& source, const SizedForm& form, const SizedKey& key) {
  if (std::ranges::find(key.open, true) != key.open.end()) return PaddedGraphFor(source, form, key);
  SizedGraph exact{{}, {key, key.sizes, {}}};
  TUNEC_ASSIGN(exact.graph, source.graph_at(key.sizes));
  return exact;
}

Status LearnShape(const SizedSource& source, SizedForm& form) {
  constexpr int64_t kLeast = 8;  // least size of the bucket, so that smaller samples exist
  SizedKey key{source.example, std::vector<bool>(source.example.size(), true)};
  for (int64_t& size : key.sizes) size = std::max(size, kLeast);
  TUNEC_ASSIGN(const Graph bucket, source.graph_at(key.sizes));
  TUNEC_ASSIGN(const Looked looked, PadSamples(source, bucket, AtMostHalf(key, key.sizes)));
  const std::vector<PaddedSample>& samples = looked.samples;
  if (!Vary(samples, key.open))
    return Fail(ErrorCode::kUnsupported, "{} has a dimension of one size", bucket.name());
  SizedForm learnt = form;
  TUNEC_ASSIGN(learnt.output_extents, FitOutputs(samples));
  learnt.most = key.sizes;
  TUNEC_RETURN_IF_ERROR(CheckFarSizes(source, key.sizes, learnt));
  for (size_t d = 0; d < key.sizes.size(); ++d) {
    TUNEC_ASSIGN(learnt.separable[d], IsSeparable(source, looked, bucket, d));
  }
  TUNEC_RETURN_IF_ERROR(LookFar(source, learnt));
  form = std::move(learnt);
  return {};
}

}  // namespace tunec
