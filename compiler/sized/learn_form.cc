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

/// Returns two dimensions that a concatenation in the named graph needs to be equal, or nullopt. A
/// broadcast also accepts a size of 1, so it does not make dimensions equal.
std::optional<EqualNames> EqualDimensions(const SizedSource& source) {
  const auto is_dimension = [&](const std::optional<std::string>& name) {
    return name && source.IndexOf(*name) < source.dimensions.size();
  };
  for (const Node& node : source.named->nodes()) {
    if (node.op != Op::kConcat) continue;
    const auto dims_of = [&](ValueId value) -> const std::vector<Dim>& {
      return source.named->value(value).type.dims;
    };
    for (const ValueId input : node.inputs) {
      for (size_t a = 0; a < dims_of(input).size(); ++a) {
        if (static_cast<int64_t>(a) == node.Int("axis")) continue;
        const auto left = dims_of(node.inputs[0])[a].AsName(), right = dims_of(input)[a].AsName();
        if (is_dimension(left) && is_dimension(right) && left != right)
          return EqualNames{*left, *right};
      }
    }
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

/// Removes the listed sizes of one dimension, and adds them to those of another dimension.
void Join(std::vector<ListedSizes>& listed, size_t kept, size_t removed) {
  std::vector<int64_t>& sizes = listed[kept].sizes;
  listed[kept].exact = listed[kept].exact && listed[removed].exact;
  sizes.insert(sizes.end(), listed[removed].sizes.begin(), listed[removed].sizes.end());
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(removed));
}

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
    Join(listed, merged.IndexOf(equal->kept), merged.IndexOf(equal->removed));
    merged = MergeDimensions(std::move(merged), equal->kept, equal->removed);
    Result<LearntForm> learnt = LearnFormOf(merged, listed);
    if (!learnt && IsCancelled(learnt.error())) return learnt;
    if (!learnt || !learnt->rejection.empty()) continue;
    source = std::move(merged);
    learnt->notes = std::move(notes);
    return learnt;
  }
  return apart;
}

}  // namespace tunec
