#include "compiler/sized/learn_form.h"

#include <algorithm>
#include <utility>

#include "compiler/sized/sized_graph.h"
#include "graph/graph.h"

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

/// Without formulas: what differs at other sizes is open.
void OpenWhatDiffers(const SizedSource& source, const Graph& example,
                     std::vector<TensorSpec>& outputs) {
  for (size_t d = 0; d < source.dimensions.size(); ++d) {
    Sizes sizes = source.example;
    ++sizes[d];
    const Result<Graph> other = source.graph_at(sizes);
    if (!other || other->outputs().size() != example.outputs().size()) continue;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const auto small = example.value(example.outputs()[o]).type.Shape();
      const auto large = other->value(other->outputs()[o]).type.Shape();
      for (size_t a = 0; a < std::min(small.size(), large.size()); ++a) {
        if (small[a] != large[a]) outputs[o].shape[a] = -1;
      }
    }
  }
}

void OpenWhatVaries(const OutputExtents& form, std::vector<TensorSpec>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t a = 0; a < form[o].size(); ++a) {
      if (!std::ranges::all_of(form[o][a], &SizeFormula::IsConstant)) outputs[o].shape[a] = -1;
    }
  }
}

}  // namespace

Result<LearntForm> LearnForm(const SizedSource& source, std::vector<ListedSizes> listed) {
  listed.resize(source.dimensions.size());
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
  LearntForm learnt;
  SizedForm& form = learnt.form;
  form.dimensions = source.dimensions;
  form.inputs = SpecsOf(example, example.inputs(), nullptr);
  form.outputs = SpecsOf(example, example.outputs(), &example.output_names());
  form.separable.assign(source.dimensions.size(), false);
  form.listed = std::move(listed);
  for (const OpenAxis& axis : source.open) {
    form.inputs[axis.input].shape[axis.axis] = -1;
    form.open.push_back({axis.input, axis.axis, static_cast<int>(source.IndexOf(axis.dimension))});
  }
  Result<SizedShape> shape = LearnShape(source);
  if (!shape) {
    if (shape.error().code == ErrorCode::kCancelled) return std::unexpected(shape.error());
    learnt.refusal = shape.error().message;
    OpenWhatDiffers(source, example, form.outputs);
    return learnt;
  }
  form.separable = shape->separable;
  OpenWhatVaries(shape->outputs, form.outputs);
  form.output_extents = std::move(shape->outputs);
  return learnt;
}

}  // namespace tunec
