#include "tools/model_inputs.h"

#include <algorithm>

#include "support/random.h"

namespace tunec {
namespace {

/// Operators whose output elements are their first input's, possibly converted.
bool PassesValuesOn(Op op) {
  switch (op) {
    case Op::kIdentity:
    case Op::kCast:
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kExpand:
    case Op::kSlice:
      return true;
    default:
      return false;
  }
}

/// The size of the smallest axis that the value indexes; 0 when it indexes none.
int64_t IndexBound(const Graph& graph, const std::vector<std::vector<NodeId>>& users,
                   ValueId value) {
  int64_t bound = 0;
  const auto lower = [&](int64_t size) {
    if (size > 0 && (bound == 0 || size < bound)) bound = size;
  };
  for (const NodeId user : users[value.index]) {
    const Node& node = graph.node(user);
    if (PassesValuesOn(node.op) && node.inputs[0] == value)
      lower(IndexBound(graph, users, node.outputs[0]));
    const bool gathers = node.op == Op::kGather || node.op == Op::kGatherElements;
    if (gathers && node.inputs[1] == value)
      lower(graph.value(node.inputs[0]).type.dims[node.Int("axis")].size());
    if (node.op == Op::kOneHot && node.inputs[0] == value) lower(node.Int("depth"));
  }
  return bound;
}

Array RandomArray(const TensorSpec& spec, uint64_t bound, Random random) {
  Array array(spec.type, spec.shape);
  if (IsFloat(spec.type)) {
    for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, 2.0 * random.Unit() - 1.0);
  } else {
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetInt(i, static_cast<int64_t>(random.Below(bound)));
  }
  return array;
}

TensorSpec SpecOf(const Graph& graph, ValueId value, const std::string& name) {
  return {name, graph.value(value).type.type, graph.value(value).type.Shape()};
}

}  // namespace

std::vector<TensorSpec> InputSpecs(const Graph& graph) {
  std::vector<TensorSpec> specs;
  for (const ValueId input : graph.inputs())
    specs.push_back(SpecOf(graph, input, graph.value(input).name));
  return specs;
}

std::vector<TensorSpec> OutputSpecs(const Graph& graph) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    specs.push_back(SpecOf(graph, graph.outputs()[i], graph.output_names()[i]));
  return specs;
}

std::vector<Array> RandomInputs(const Graph& graph, uint64_t seed) {
  const std::vector<std::vector<NodeId>> users = graph.Users();
  const std::vector<TensorSpec> specs = InputSpecs(graph);
  std::vector<Array> inputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    const int64_t bound = IndexBound(graph, users, graph.inputs()[i]);
    inputs.push_back(RandomArray(specs[i], bound > 0 ? static_cast<uint64_t>(bound) : 2,
                                 Random(StreamSeed(seed, specs[i].name))));
  }
  return inputs;
}

Result<std::vector<Array>> SelectArrays(const std::vector<NamedArray>& arrays,
                                        std::span<const TensorSpec> specs,
                                        const std::string& file) {
  std::vector<Array> selected;
  for (const TensorSpec& spec : specs) {
    const auto found = std::ranges::find_if(
        arrays, [&](const NamedArray& array) { return array.spec.name == spec.name; });
    if (found == arrays.end())
      return Fail(ErrorCode::kInvalidArgument, "{} has no array '{}', expected {}", file, spec.name,
                  FormatType(spec));
    if (found->spec.type != spec.type || found->spec.shape != spec.shape)
      return Fail(ErrorCode::kInvalidArgument, "{}: array '{}' is {}, expected {}", file, spec.name,
                  FormatType(found->spec), FormatType(spec));
    Array copy(spec.type, spec.shape);
    std::copy_n(found->bytes.data(), copy.bytes(), copy.mutable_data());
    selected.push_back(std::move(copy));
  }
  return selected;
}

Result<std::vector<Array>> MakeInputs(const Graph& graph, const std::string& file, uint64_t seed) {
  if (file.empty()) return RandomInputs(graph, seed);
  TUNEC_ASSIGN(const std::vector<NamedArray> arrays, ReadNpz(file));
  return SelectArrays(arrays, InputSpecs(graph), file);
}

RunBuffers::RunBuffers(const Executable& executable, std::span<const Array> inputs) {
  for (const Array& input : inputs) from.push_back(input.data());
  for (const TensorSpec& spec : executable.Outputs()) outputs.emplace_back(spec.type, spec.shape);
  for (Array& output : outputs) to.push_back(output.mutable_data());
}

Result<std::vector<Array>> RunModel(const Executable& executable, std::span<const Array> inputs) {
  RunBuffers buffers(executable, inputs);
  TUNEC_RETURN_IF_ERROR(executable.Run(buffers.from, buffers.to));
  return std::move(buffers.outputs);
}

}  // namespace tunec
