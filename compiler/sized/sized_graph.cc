#include "compiler/sized/sized_graph.h"

#include <utility>

#include "graph/pad/pad_graph.h"
#include "graph/specialize.h"

namespace tunec {
namespace {

using OutputParts = std::vector<std::vector<PaddedAxis>>;

/// Returns the parts with numbers for some sizes. Neighbouring fixed parts are merged.
OutputParts Fixed(const OutputParts& outputs, const std::map<std::string, SizeExpr>& sizes) {
  OutputParts all;
  for (const std::vector<PaddedAxis>& axes : outputs) {
    std::vector<PaddedAxis>& fixed = all.emplace_back();
    for (const PaddedAxis& axis : axes) {
      PaddedAxis& parts = fixed.emplace_back();
      for (const PaddedExtent& part : axis) {
        const SizeExpr exact = Substitute(part.exact, sizes);
        if (exact == 1) continue;
        const bool joins = exact.IsConstant() && !parts.empty() && parts.back().exact.IsConstant();
        if (joins) parts.back().exact = parts.back().exact * exact;
        if (!joins) parts.push_back({.padded = 0, .exact = exact});
      }
    }
  }
  return all;
}

/// Returns the dimensions that are exact or dynamic in the key, with their sizes.
SizeValues ValuesOf(const SizedSource& source, const SizedKey& key, bool open) {
  SizeValues values;
  for (size_t d = 0; d < key.sizes.size(); ++d)
    if (key.open[d] == open) values[source.dimensions[d]] = key.sizes[d];
  return values;
}

Result<SizedGraph> PaddedGraphFor(const SizedSource& source, const LearntForm& learnt,
                                  const SizedKey& key) {
  const SizeValues fixed = ValuesOf(source, key, false);
  TUNEC_ASSIGN(const Graph named, Specialize(*source.named, fixed));
  TUNEC_ASSIGN(PaddedGraph padded, PadGraph(named, ValuesOf(source, key, true)));
  const std::map<std::string, SizeExpr> numbers(fixed.begin(), fixed.end());
  if (Fixed(padded.outputs, {}) != Fixed(learnt.outputs, numbers))
    return Fail(ErrorCode::kUnsupported, "{} has outputs of other parts than at other sizes",
                named.name());
  SizedGraph result{std::move(padded.graph), {.key = key}};
  for (const SizeParameter& parameter : padded.parameters) {
    TUNEC_ASSIGN(SizeProgram value, ProgramOf(parameter.value, source.dimensions));
    result.code.parameters.push_back({parameter.type, std::move(value)});
  }
  TUNEC_ASSIGN(result.code.conditions, ChecksOf(padded.conditions, source.dimensions));
  return result;
}

}  // namespace

Result<SizedGraph> GraphFor(const SizedSource& source, const LearntForm& learnt,
                            const SizedKey& key) {
  if (!key.IsExact() && source.named) return PaddedGraphFor(source, learnt, key);
  SizedGraph exact{{}, {.key = key}};
  TUNEC_ASSIGN(exact.graph, source.graph_at(key.sizes));
  return exact;
}

}  // namespace tunec
