#include "compiler/sized/check_sizes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/sized/pad_samples.h"
#include "graph/pad/pad_graph.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

// Returns true for a quotient that was fitted to samples. The formula of a rule has the divisor 1,
// because all divisions are in its terms.
bool IsGuess(const SizeFormula& formula) { return formula.divisor != 1; }

/// Returns true if the formula gives the element of `array`. A float may have a relative error of
/// 2^-22, because the model may compute the number in float32, such as 1 / sqrt(n).
bool IsNumber(const SizeFormula& formula, const Sizes& sizes, const Array& array, int64_t element) {
  constexpr double kRounding = 0x1p-22;
  const double found = formula.At(sizes);
  if (!IsFloat(array.type())) return SaturateToInt(found, array.type()) == array.GetInt(element);
  const double expected = array.GetDouble(element);
  return found == expected || std::abs(found - expected) <= kRounding * std::abs(expected);
}

bool AreNumbers(const SizedParameter& parameter, const Sizes& sizes, const Array& value) {
  if (parameter.shape != value.shape() || parameter.type != value.type()) return false;
  for (int64_t e = 0; e < value.size(); ++e) {
    if (!IsNumber(parameter.elements[static_cast<size_t>(e)], sizes, value, e)) return false;
  }
  return true;
}

std::unexpected<Error> IsAnother(const Graph& graph, const Sizes& sizes, std::string_view why) {
  return Fail(ErrorCode::kUnsupported, "{} is another graph at {} than at other sizes: {}",
              graph.name(), JoinSizes(sizes), why);
}

/// Returns a flag per dimension: true if runs may be split along it and its size is more than 1.
std::vector<bool> CutDimensions(const SizedForm& form, const Sizes& sizes) {
  std::vector<bool> cut(sizes.size(), false);
  for (size_t d = 0; d < sizes.size(); ++d) cut[d] = form.separable[d] && sizes[d] > 1;
  return cut;
}

}  // namespace

bool NeedsChecks(const SizedSource& source, const SizedForm& form) {
  if (!form.output_extents) return false;
  if (!source.follows_rules) return true;
  for (const auto& axes : *form.output_extents) {
    for (const auto& parts : axes) {
      if (std::ranges::any_of(parts, IsGuess)) return true;
    }
  }
  return false;
}

bool NeedsChecks(const SizedSource& source, const SizedCode& code) {
  if (std::ranges::find(code.key.open, true) == code.key.open.end()) return false;
  const auto is_guess = [](const SizedParameter& parameter) {
    return std::ranges::any_of(parameter.elements, IsGuess);
  };
  return !source.follows_rules || std::ranges::any_of(code.parameters, is_guess);
}

Status CheckOutputsAt(const SizedForm& form, const Graph& graph, const Sizes& sizes) {
  if (!form.output_extents) return {};
  const Result<std::vector<std::vector<int64_t>>> shapes = ShapesAt(form, sizes);
  bool fits = shapes && shapes->size() == graph.outputs().size();
  for (size_t o = 0; fits && o < shapes->size(); ++o)
    fits = (*shapes)[o] == graph.value(graph.outputs()[o]).type.Shape();
  if (fits) return {};
  return Fail(ErrorCode::kUnsupported, "outputs of {} have sizes of another formula at {}",
              graph.name(), JoinSizes(sizes));
}

// Compares the graph with the graph that has size 1 along all separable dimensions. All sizes of
// these dimensions are compared with the same graph, so any two sizes also agree with each other.
Status CheckForm(const SizedSource& source, const SizedForm& form, const Sizes& sizes) {
  TUNEC_ASSIGN(const Graph graph, source.graph_at(sizes));
  TUNEC_RETURN_IF_ERROR(CheckOutputsAt(form, graph, sizes));
  const std::vector<bool> cut = CutDimensions(form, sizes);
  if (std::ranges::find(cut, true) == cut.end()) return {};
  Sizes one = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (cut[d]) one[d] = 1;
  }
  TUNEC_ASSIGN(const Graph exact, source.graph_at(one));
  TUNEC_ASSIGN(const PaddedGraph padded, PadGraph(exact, graph, OpenAxes(source, cut)));
  for (size_t d = 0; d < sizes.size(); ++d) {
    const std::string& name = source.dimensions[d];
    if (cut[d] && std::ranges::find(padded.separable, name) == padded.separable.end())
      return IsAnother(graph, sizes, "elements of " + name + " depend on how many there are");
  }
  return {};
}

Status CheckPadded(const SizedSource& source, const SizedGraph& padded, const Sizes& sizes) {
  const SizedCode& code = padded.code;
  const std::span<const Graph> compared(padded.compared);
  TUNEC_ASSIGN(const Graph exact, GraphLike(source, sizes, compared[0]));
  TUNEC_ASSIGN(const PaddedGraph own,
               PadGraph(exact, compared[0], OpenAxes(source, code.key.open), compared.subspan(1)));
  if (own.parameters.size() != code.parameters.size() || Print(own.graph) != Print(padded.graph))
    return IsAnother(exact, sizes, "what is constant there depends on the sizes");
  for (size_t p = 0; p < code.parameters.size(); ++p) {
    if (!AreNumbers(code.parameters[p], sizes, own.parameters[p].value))
      return IsAnother(exact, sizes, own.parameters[p].name + " follows no formula of the sizes");
  }
  return {};
}

}  // namespace tunec
