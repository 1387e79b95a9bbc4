#include "tools/runs/model_inputs.h"

#include <algorithm>

#include "graph/random_inputs.h"
#include "ir/allocate_array.h"

namespace tunec {
namespace {

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

Result<std::vector<Array>> SelectArrays(const std::vector<NamedArray>& arrays,
                                        std::span<const TensorSpec> specs, const std::string& file,
                                        FloatTypes floats) {
  std::vector<Array> selected;
  for (const TensorSpec& spec : specs) {
    const auto found = std::ranges::find_if(
        arrays, [&](const NamedArray& array) { return array.spec.name == spec.name; });
    if (found == arrays.end())
      return Fail(ErrorCode::kInvalidArgument, "{} has no array '{}', expected {}", file, spec.name,
                  FormatType(spec));
    const bool both_float = IsFloat(found->spec.type) && IsFloat(spec.type);
    const bool type_fits =
        found->spec.type == spec.type || (floats == FloatTypes::kAny && both_float);
    if (!type_fits || found->spec.shape != spec.shape)
      return Fail(ErrorCode::kInvalidArgument, "{}: array '{}' is {}, expected {}", file, spec.name,
                  FormatType(found->spec), FormatType(spec));
    TUNEC_ASSIGN(Array copy, AllocateArray(found->spec.type, spec.shape, "array " + spec.name));
    std::copy_n(found->bytes.data(), copy.bytes(), copy.mutable_data());
    selected.push_back(std::move(copy));
  }
  return selected;
}

Result<ArrayFile> ReadArrays(const std::string& file) {
  ArrayFile given{.file = file, .arrays = {}};
  if (file.empty()) return given;
  TUNEC_ASSIGN(given.arrays, ReadNpz(file));
  return given;
}

Result<std::vector<Array>> MakeInputs(const Graph& graph, const ArrayFile& given, uint64_t seed) {
  if (given.file.empty()) return RandomInputs(graph, seed);
  return SelectArrays(given.arrays, InputSpecs(graph), given.file);
}

Result<ModelBuffers> ModelBuffers::Make(const Executable& executable,
                                        std::span<const Array> inputs) {
  ModelBuffers buffers;
  for (const Array& input : inputs) buffers.from.push_back(input.data());
  for (const TensorSpec& spec : executable.Outputs()) {
    TUNEC_ASSIGN(Array output, AllocateArray(spec.type, spec.shape, "output " + spec.name));
    buffers.outputs.push_back(std::move(output));
  }
  for (Array& output : buffers.outputs) buffers.to.push_back(output.mutable_data());
  return buffers;
}

Result<std::vector<Array>> RunModel(const Executable& executable, std::span<const Array> inputs) {
  TUNEC_ASSIGN(ModelBuffers buffers, ModelBuffers::Make(executable, inputs));
  TUNEC_RETURN_IF_ERROR(executable.Run(buffers.from, buffers.to));
  return std::move(buffers.outputs);
}

}  // namespace tunec
