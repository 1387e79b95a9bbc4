#include "compiler/sized/learn_form.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "compiler/sized/choose_samples.h"
#include "compiler/sized/sized_graph.h"
#include "graph/graph.h"
#include "graph/specialize.h"

namespace tunec {
namespace {

std::vector<TensorSpec> SpecsOf(const Graph& graph, const std::vector<ValueId>& values,
                                const std::vector<std::string>* names) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph.value(values[i]);
    specs.push_back(
        {names == nullptr ? value.name : (*names)[i], value.type.type, value.type.Shape()});
  }
  return specs;
}

/// Marks an axis of an output as dynamic if its size differs from the example's at any of `others`,
/// or at the example with one dimension larger by 1. Skips sizes without a graph.
Status OpenWhatDiffers(const SizedSource& source, std::vector<Sizes> others, const Graph& example,
                       std::vector<TensorSpec>& outputs) {
  for (size_t d = 0; d < source.dimensions.size(); ++d) ++others.emplace_back(source.example)[d];
  for (const Sizes& sizes : others) {
    TUNEC_ASSIGN(const std::optional<Graph> other, source.GraphIfAny(sizes));
    if (!other || other->outputs().size() != example.outputs().size()) continue;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const auto small = example.value(example.outputs()[o]).type.Shape();
      const auto large = other->value(other->outputs()[o]).type.Shape();
      for (size_t a = 0; a < std::min(small.size(), large.size()); ++a) {
        if (small[a] != large[a]) outputs[o].shape[a] = -1;
      }
    }
  }
  return {};
}

/// Marks an axis of an output as dynamic if its size contains a named size.
void OpenWhatIsNamed(const Graph& named, std::vector<TensorSpec>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<Dim>& dims = named.value(named.outputs()[o]).type.dims;
    for (size_t a = 0; a < dims.size(); ++a) {
      if (!dims[a].IsConstant()) outputs[o].shape[a] = -1;
    }
  }
}

/// Marks an axis of an output as dynamic if its formula is not constant.
void OpenWhatVaries(const OutputExtents& form, std::vector<TensorSpec>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t a = 0; a < form[o].size(); ++a) {
      if (!std::ranges::all_of(form[o][a], &SizeFormula::IsConstant)) outputs[o].shape[a] = -1;
    }
  }
}

/// Two dimensions of a source with equal sizes.
struct EqualNames {
  std::string kept;
  std::string removed;
};

/// Returns two dimensions that a condition of the named graph needs to be equal, or nullopt.
std::optional<EqualNames> EqualDimensions(const SizedSource& source) {
  const auto is_dimension = [&](const std::optional<std::string>& name) {
    return name && source.IndexOf(*name) < source.dimensions.size();
  };
  for (const SizeCondition& condition : ConditionsOf(*source.named)) {
    const auto left = condition.left.AsName(), right = condition.right.AsName();
    if (condition.kind == SizeCondition::Kind::kEqual && is_dimension(left) &&
        is_dimension(right) && left != right)
      return EqualNames{*left, *right};
  }
  return std::nullopt;
}

}  // namespace

Status RejectForm(const SizedSource& source, std::string why, LearntForm& learnt,
                  std::vector<Sizes> seen) {
  learnt.rejection = std::move(why);
  learnt.form.output_extents.reset();
  learnt.form.separable.assign(learnt.form.separable.size(), false);
  if (source.named) {
    OpenWhatIsNamed(*source.named, learnt.form.outputs);
    return {};
  }
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  std::ranges::copy(SizesFarFrom(source.example, learnt.form.listed), std::back_inserter(seen));
  return OpenWhatDiffers(source, std::move(seen), example, learnt.form.outputs);
}

namespace {

/// Infers the form of the source as it is.
Result<LearntForm> LearnFormOf(const SizedSource& source, std::vector<ListedSizes> listed) {
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  LearntForm learnt;
  SizedForm& form = learnt.form;
  form.dimensions = source.dimensions;
  form.inputs = SpecsOf(example, example.inputs(), nullptr);
  form.outputs = SpecsOf(example, example.outputs(), &example.output_names());
  form.separable.assign(source.dimensions.size(), false);
  form.most = source.example;
  form.listed = std::move(listed);
  for (const OpenAxis& axis : source.open) {
    form.inputs[axis.input].shape[axis.axis] = -1;
    form.open.push_back({axis.input, axis.axis, static_cast<int>(source.IndexOf(axis.dimension))});
  }
  if (const Status known = LearnShape(source, form); known) {
    OpenWhatVaries(*form.output_extents, form.outputs);
    if (source.named) OpenWhatIsNamed(*source.named, form.outputs);
  } else if (IsCancelled(known.error())) {
    return std::unexpected(known.error());
  } else {
    TUNEC_RETURN_IF_ERROR(RejectForm(source, known.error().message, learnt));
  }
  return learnt;
}

}  // namespace

Result<LearntForm> LearnForm(SizedSource& source, std::vector<ListedSizes> listed) {
  listed.resize(source.dimensions.size());
  TUNEC_ASSIGN(LearntForm apart, LearnFormOf(source, listed));
  SizedSource merged = source;
  std::vector<std::string> notes;
  while (!apart.rejection.empty() && merged.named) {
    const std::optional<EqualNames> equal = EqualDimensions(merged);
    if (!equal) break;
    notes.push_back(fmt::format("dimensions {} and {} are equal, so they are one", equal->kept,
                                equal->removed));
    listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(merged.IndexOf(equal->removed)));
    merged = MergeDimensions(std::move(merged), equal->kept, equal->removed);
    TUNEC_ASSIGN(LearntForm learnt, LearnFormOf(merged, listed));
    if (!learnt.rejection.empty()) continue;
    source = std::move(merged);
    learnt.notes = std::move(notes);
    return learnt;
  }
  return apart;
}

}  // namespace tunec
