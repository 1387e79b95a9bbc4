// Padded graphs are compared at several smaller sizes, and what differs between these becomes
// formulas.
#include "compiler/sized/sized_graph.h"

#include <algorithm>
#include <set>

#include "compiler/sized/size_formula.h"

namespace tunec {
namespace {

/// What a padded graph was for some sizes.
struct PaddedSample {
  Sizes sizes;
  PaddedGraph padded;
};

std::vector<OpenAxis> OpenAxes(const SizedSource& source, const std::vector<bool>& open) {
  std::vector<OpenAxis> axes;
  for (const OpenAxis& axis : source.open) {
    if (open[source.IndexOf(axis.dimension)]) axes.push_back(axis);
  }
  return axes;
}

/// Both ends of what is served, each dimension by itself between them, and the middle.
std::vector<Sizes> SamplesBelow(const Sizes& sizes, const std::vector<bool>& open) {
  Sizes low = sizes, high = sizes, middle = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!open[d]) continue;
    low[d] = std::max<int64_t>(1, sizes[d] / 2);
    high[d] = std::max<int64_t>(1, sizes[d] - 1);
    middle[d] = (low[d] + high[d]) / 2;
  }
  std::vector<Sizes> samples = {low, high, middle};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!open[d]) continue;
    samples.push_back(low);
    samples.back()[d] = high[d];
  }
  std::ranges::sort(samples);
  samples.erase(std::ranges::unique(samples).begin(), samples.end());
  return samples;
}

Result<std::vector<PaddedSample>> PadSamples(const SizedSource& source, const Graph& bucket,
                                             const Sizes& sizes, const std::vector<bool>& open) {
  std::vector<PaddedSample> result;
  const std::vector<OpenAxis> axes = OpenAxes(source, open);
  std::string text;
  for (const Sizes& sample : SamplesBelow(sizes, open)) {
    TUNEC_ASSIGN(const Graph exact, source.graph_at(sample));
    TUNEC_ASSIGN(PaddedGraph padded, PadGraph(exact, bucket, axes));
    std::string printed = Print(padded.graph);
    if (!result.empty() && printed != text)
      return Fail(ErrorCode::kUnsupported,
                  "what {} computes depends on its sizes otherwise than "
                  "by numbers",
                  bucket.name());
    text = std::move(printed);
    result.push_back({sample, std::move(padded)});
  }
  // At its own sizes, too, where that is no other graph.
  Result<PaddedGraph> whole = PadGraph(bucket, bucket, axes);
  if (whole && Print(whole->graph) == text) result.push_back({sizes, *std::move(whole)});
  return result;
}

/// A formula for what `value` says of each sample.
template <class Value>
Result<SizeFormula> Fit(const std::vector<PaddedSample>& samples, std::string_view what,
                        Value value) {
  std::vector<SizeSample> numbers;
  for (const PaddedSample& sample : samples)
    numbers.push_back({sample.sizes, value(sample.padded)});
  std::optional<SizeFormula> formula = FitFormula(numbers);
  if (formula) return *formula;
  return Fail(ErrorCode::kUnsupported, "{} follows no formula of the sizes", what);
}

Result<std::vector<SizedParameter>> FitParameters(const std::vector<PaddedSample>& samples) {
  std::vector<SizedParameter> parameters;
  for (size_t p = 0; p < samples[0].padded.parameters.size(); ++p) {
    const SizeParameter& first = samples[0].padded.parameters[p];
    SizedParameter parameter{first.value.type(), first.value.shape(), {}};
    for (int64_t e = 0; e < first.value.size(); ++e) {
      TUNEC_ASSIGN(parameter.elements.emplace_back(),
                   Fit(samples, first.name, [&](const PaddedGraph& padded) {
                     return padded.parameters[p].value.GetDouble(e);
                   }));
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
        TUNEC_ASSIGN(parts.emplace_back(), Fit(samples, "an output's size", extent));
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
bool IsSeparable(const SizedSource& source, const std::vector<PaddedSample>& samples,
                 const Graph& bucket, size_t dimension) {
  for (const PaddedSample& sample : samples) {
    if (!Separates(source, sample.padded, dimension)) return false;
  }
  Sizes one = samples[0].sizes;
  one[dimension] = 1;
  const Result<Graph> exact = source.graph_at(one);
  if (!exact) return false;
  const Result<PaddedGraph> padded =
      PadGraph(*exact, bucket, OpenAxes(source, std::vector<bool>(one.size(), true)));
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
  TUNEC_ASSIGN(std::vector<PaddedSample> samples, PadSamples(source, bucket, sizes, open));
  if (!Vary(samples, open))
    return Fail(ErrorCode::kUnsupported, "{} is too small to be looked at in smaller sizes",
                bucket.name());
  SizedGraph result{samples[0].padded.graph, sizes, {}};
  TUNEC_ASSIGN(result.parameters, FitParameters(samples));
  return result;
}

Result<SizedGraph> GraphFor(const SizedSource& source, const SizedKey& key) {
  if (std::ranges::find(key.open, true) != key.open.end())
    return PaddedGraphFor(source, key.sizes, key.open);
  SizedGraph exact{{}, key.sizes, {}};
  TUNEC_ASSIGN(exact.graph, source.graph_at(key.sizes));
  return exact;
}

Result<SizedShape> LearnShape(const SizedSource& source) {
  constexpr int64_t kLeast = 8;  // so that there are smaller sizes to look at
  Sizes sizes = source.example;
  for (int64_t& size : sizes) size = std::max(size, kLeast);
  const std::vector<bool> open(sizes.size(), true);
  TUNEC_ASSIGN(const Graph bucket, source.graph_at(sizes));
  TUNEC_ASSIGN(const std::vector<PaddedSample> samples, PadSamples(source, bucket, sizes, open));
  if (!Vary(samples, open))
    return Fail(ErrorCode::kUnsupported, "{} has a dimension of one size", bucket.name());
  SizedShape shape;
  TUNEC_ASSIGN(shape.outputs, FitOutputs(samples));
  for (size_t d = 0; d < sizes.size(); ++d)
    shape.separable.push_back(IsSeparable(source, samples, bucket, d));
  return shape;
}

}  // namespace tunec
