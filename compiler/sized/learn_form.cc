#include "compiler/sized/learn_form.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "graph/graph.h"
#include "graph/specialize.h"
#include "ir/size/compile_size.h"
#include "ir/size/size_text.h"

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

/// Marks the dynamic axes of outputs. Without a graph with named sizes, each axis may be dynamic.
void OpenOutputs(const SizedSource& source, std::vector<TensorSpec>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t a = 0; a < outputs[o].shape.size(); ++a) {
      const bool is_fixed =
          source.named && source.named->value(source.named->outputs()[o]).type.dims[a].IsConstant();
      if (!is_fixed) outputs[o].shape[a] = -1;
    }
  }
}

/// Returns the conditions of the graph that do not hold at all sizes from 1 on.
std::vector<SizeCondition> OpenConditionsOf(const SizedSource& source) {
  SizeRanges ranges;
  for (const std::string& name : source.dimensions) ranges[name] = {1, kUnbounded};
  std::vector<SizeCondition> conditions = ConditionsOf(*source.named);
  std::erase_if(conditions, [&](const SizeCondition& condition) {
    return Decide(condition, ranges) == Decision::kTrue;
  });
  return conditions;
}

/// Returns sizes for which the conditions hold: multiples of the example's sizes, but at least 8.
Result<SizeValues> SuitableSizes(const SizedSource& source,
                                 const std::vector<SizeCondition>& conditions) {
  constexpr int64_t kLeast = 8, kMostTimes = 64;
  for (int64_t times = 1; times <= kMostTimes; times *= 2) {
    Sizes sizes = source.example;
    for (int64_t& size : sizes) size = std::max(size, kLeast) * times;
    SizeValues values = source.ValuesOf(sizes);
    if (AllHold(conditions, values)) return values;
  }
  SizeValues example = source.ValuesOf(source.example);
  if (AllHold(conditions, example)) return example;
  return Fail(ErrorCode::kUnsupported, "{} assumes that {}", source.named->name(),
              Print(conditions[0]));
}

/// Returns the least number of which all multiples, from some multiple on, fulfil the conditions on
/// this dimension alone. Returns 1 if there is none. Padding rounds sizes up to its multiples.
int64_t StepOf(const std::string& name, const std::vector<SizeCondition>& conditions) {
  constexpr int64_t kMostStep = 128, kMultiples = 8;
  std::vector<SizeCondition> own;
  for (const SizeCondition& condition : conditions) {
    std::set<std::string> names = condition.left.Names();
    names.merge(condition.right.Names());
    if (names == std::set<std::string>{name}) own.push_back(condition);
  }
  for (int64_t step = 1; step <= kMostStep; ++step) {
    bool hold = true;
    for (int64_t i = kMultiples; hold && i < 2 * kMultiples; ++i)
      hold = AllHold(own, {{name, step * i}});
    if (hold) return step;
  }
  return 1;
}

/// Sets the step. A range then contains only multiples of the step.
void SetStep(int64_t step, ListedSizes& listed) {
  listed.step = step;
  if (listed.exact || step == 1 || listed.sizes.back() < step) return;
  listed.sizes = RoundedSizes(listed.sizes.front(), listed.sizes.back(), step);
}

/// Completes the form for padding. Fails with kUnsupported and the reason if the model cannot be
/// padded; the form is then unchanged.
Status LearnPadding(const SizedSource& source, LearntForm& learnt) {
  if (!source.named) return Fail(ErrorCode::kUnsupported, "{}", source.unnamed);
  const std::vector<SizeCondition> conditions = OpenConditionsOf(source);
  TUNEC_ASSIGN(const SizeValues sizes, SuitableSizes(source, conditions));
  TUNEC_ASSIGN(PaddedGraph padded, PadGraph(*source.named, sizes));
  OutputExtents extents;
  for (const std::vector<PaddedAxis>& axes : padded.outputs) {
    auto& of_axes = extents.emplace_back();
    for (const PaddedAxis& axis : axes) {
      auto& parts = of_axes.emplace_back();
      for (const PaddedExtent& part : axis) {
        TUNEC_ASSIGN(parts.emplace_back(), ProgramOf(part.exact, source.dimensions));
      }
    }
  }
  SizedForm& form = learnt.form;
  TUNEC_ASSIGN(form.conditions, ChecksOf(conditions, source.dimensions));
  form.output_extents = std::move(extents);
  for (const SizeCondition& condition : conditions) {
    for (const SizeExpr& side : {condition.left, condition.right})
      for (const std::string& name : side.Names()) padded.separable.erase(name);
  }
  for (size_t d = 0; d < source.dimensions.size(); ++d) {
    form.separable[d] = padded.separable.contains(source.dimensions[d]);
    SetStep(StepOf(source.dimensions[d], conditions), form.listed[d]);
  }
  learnt.outputs = std::move(padded.outputs);
  return {};
}

/// Two dimensions of a source with equal sizes.
struct EqualNames {
  std::string kept;
  std::string removed;
};

/// Returns two dimensions that a concatenation needs to be equal, or nullopt. A broadcast also
/// accepts a size of 1, so it does not make dimensions equal.
std::optional<EqualNames> EqualDimensions(const SizedSource& source) {
  if (!source.named) return std::nullopt;
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

/// Removes the listed sizes of one dimension, and adds them to those of another dimension.
void Join(std::vector<ListedSizes>& listed, size_t kept, size_t removed) {
  std::vector<int64_t>& sizes = listed[kept].sizes;
  listed[kept].exact = listed[kept].exact && listed[removed].exact;
  sizes.insert(sizes.end(), listed[removed].sizes.begin(), listed[removed].sizes.end());
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(removed));
}

}  // namespace

Result<SizeProgram> ProgramOf(const SizeExpr& size, std::span<const std::string> dimensions) {
  if (const auto program = CompileSize(size, dimensions)) return *program;
  return Fail(ErrorCode::kUnsupported, "the size {} is too long", Print(size));
}

Result<std::vector<SizeCheck>> ChecksOf(const std::vector<SizeCondition>& conditions,
                                        std::span<const std::string> dimensions) {
  std::vector<SizeCheck> checks;
  for (const SizeCondition& condition : conditions) {
    const auto check = CompileCondition(condition, dimensions);
    if (!check)
      return Fail(ErrorCode::kUnsupported, "the condition {} is too long", Print(condition));
    checks.push_back(*check);
  }
  return checks;
}

Result<LearntForm> LearnForm(SizedSource& source, std::vector<ListedSizes> listed) {
  listed.resize(source.dimensions.size());
  LearntForm learnt;
  while (const std::optional<EqualNames> equal = EqualDimensions(source)) {
    learnt.notes.push_back(fmt::format("dimensions {} and {} are equal, so they are one",
                                       equal->kept, equal->removed));
    Join(listed, source.IndexOf(equal->kept), source.IndexOf(equal->removed));
    source = MergeDimensions(std::move(source), equal->kept, equal->removed);
  }
  TUNEC_ASSIGN(const Graph example, source.graph_at(source.example));
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
  OpenOutputs(source, form.outputs);
  if (const Status known = LearnPadding(source, learnt); !known) {
    if (IsCancelled(known.error())) return std::unexpected(known.error());
    learnt.rejection = known.error().message;
  }
  return learnt;
}

}  // namespace tunec
