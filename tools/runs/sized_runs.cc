#include "tools/runs/sized_runs.h"

#include <algorithm>

#include "ir/allocate_array.h"
#include "tools/runs/open_bundle.h"

namespace tunec {
namespace {

Status CheckNames(const SizedForm& form, const std::map<std::string, DimSizes>& dims) {
  for (const auto& [name, sizes] : dims) {
    if (std::ranges::find(form.dimensions, name) == form.dimensions.end())
      return Fail(ErrorCode::kInvalidArgument, "the bundle has no open dimension {}, expected {}",
                  name, fmt::join(form.dimensions, " or "));
    if (sizes.sizes.size() != 1)
      return Fail(ErrorCode::kInvalidArgument, "dimension {} has {} sizes, expected one", name,
                  sizes.sizes.size());
  }
  return {};
}

Result<std::vector<TensorSpec>> SpecsAt(const SizedForm& form,
                                        const std::map<std::string, DimSizes>& dims) {
  TUNEC_RETURN_IF_ERROR(CheckNames(form, dims));
  std::vector<TensorSpec> specs = form.inputs;
  for (const SizedAxis& axis : form.open) {
    const auto given = dims.find(form.dimensions[axis.dimension]);
    specs[axis.input].shape[axis.axis] =
        given == dims.end() ? form.listed[axis.dimension].sizes.back() : given->second.sizes[0];
  }
  return specs;
}

}  // namespace

Result<std::vector<Array>> SizedInputs(const SizedExecutable& model, const ArrayFile& given,
                                       uint64_t seed, const std::map<std::string, DimSizes>& dims) {
  if (given.file.empty()) {
    TUNEC_ASSIGN(const std::vector<TensorSpec> specs, SpecsAt(model.form(), dims));
    return RandomArrays(specs, seed);
  }
  std::vector<TensorSpec> specs = model.Inputs();
  for (TensorSpec& spec : specs) {
    const auto found = std::ranges::find_if(
        given.arrays, [&](const NamedArray& array) { return array.spec.name == spec.name; });
    if (found != given.arrays.end()) spec.shape = found->spec.shape;
  }
  return SelectArrays(given.arrays, specs, given.file);
}

Result<SizedRun> SizedRun::Make(const AnyShape& model, std::span<const Array> inputs) {
  SizedRun run{.model = &model, .shapes = {}, .results = model.Outputs(), .buffers = {}};
  for (const Array& input : inputs) {
    run.shapes.push_back(input.shape());
    run.buffers.from.push_back(input.data());
  }
  TUNEC_ASSIGN(const std::vector<Shape> shapes, model.OutputShapes(run.shapes));
  for (size_t i = 0; i < shapes.size(); ++i) {
    TensorSpec& spec = run.results[i];
    spec.shape = shapes[i];
    TUNEC_ASSIGN(Array output, AllocateArray(spec.type, spec.shape, "output " + spec.name));
    run.buffers.outputs.push_back(std::move(output));
  }
  for (Array& output : run.buffers.outputs) run.buffers.to.push_back(output.mutable_data());
  return run;
}

}  // namespace tunec
