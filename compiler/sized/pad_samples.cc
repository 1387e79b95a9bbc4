#include "compiler/sized/pad_samples.h"

#include <algorithm>

namespace tunec {
namespace {

constexpr int kMostRounds = 4;  // rounds of samples, until every remainder occurs

/// Renumbers the sizes in all formulas: from the padded graph's dimensions to the source's.
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

/// Makes the graph at each of the points, and pads it to the bucket's sizes. Fails with
/// kUnsupported if two padded graphs have different texts.
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

/// Returns the formulas of derived sizes and of parameters. They are equal in all samples.
std::vector<SizeExpression> FormulasOf(const PaddedGraph& padded) {
  std::vector<SizeExpression> formulas = padded.sizes;
  for (const SizeParameter& parameter : padded.parameters)
    formulas.insert(formulas.end(), parameter.formulas.begin(), parameter.formulas.end());
  return formulas;
}

/// Adds the bucket's own sizes as a sample, if the padded graph is also the same at these sizes.
void AddWhole(const SizedSource& source, const Graph& bucket, const Sizes& sizes,
              const std::vector<bool>& open, Looked& looked) {
  Result<PaddedGraph> whole = PadGraph(bucket, bucket, OpenAxes(source, open), looked.graphs);
  if (!whole || Print(whole->graph) != Print(looked.samples[0].padded.graph)) return;
  NumberAsSource(source, *whole);
  looked.samples.push_back({sizes, *std::move(whole)});
}

}  // namespace

Result<Graph> GraphLike(const SizedSource& source, const Sizes& sizes, const Graph& bucket) {
  TUNEC_ASSIGN(Graph graph, source.graph_at(sizes));
  if (graph.nodes().size() != bucket.nodes().size()) return graph;
  size_t number = 0;
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>&,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   const Node& other = bucket.nodes()[number++];
                   if (node.op != Op::kConstant || other.op != Op::kConstant) return {};
                   if (!HaveSameBytes(node.constant, other.constant)) return {};
                   const std::string init = node.Has("init") ? node.String("init") : "";
                   return std::vector<ValueId>{
                       builder.AddWeight(node.name, other.constant, node.weight_name, init)};
                 });
}

std::vector<OpenAxis> OpenAxes(const SizedSource& source, const std::vector<bool>& open) {
  std::vector<OpenAxis> axes;
  for (const OpenAxis& axis : source.open) {
    if (open[source.IndexOf(axis.dimension)]) axes.push_back(axis);
  }
  return axes;
}

Result<Looked> PadSamples(const SizedSource& source, const Graph& bucket,
                          const ServedSizes& served) {
  const auto& [sizes, open] = served.key;
  std::vector<Sizes> points = SamplesOf(served);
  Looked looked;
  // A number that is divided and rounded, such as by a stride, may have another formula for each
  // remainder.
  for (int round = 0; round < kMostRounds; ++round) {
    TUNEC_RETURN_IF_ERROR(PadAll(source, bucket, open, points, looked));
    const std::vector<Sizes> further =
        SamplesOfRemainders(served, points, FormulasOf(looked.samples[0].padded));
    if (further.empty()) {
      AddWhole(source, bucket, sizes, open, looked);
      return looked;
    }
    points.insert(points.end(), further.begin(), further.end());
  }
  return Fail(ErrorCode::kUnsupported, "how {} depends on its sizes is not told by {} of them",
              bucket.name(), points.size());
}

}  // namespace tunec
