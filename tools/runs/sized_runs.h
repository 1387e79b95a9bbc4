// Runs of a bundle's model whose sizes are open.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "runtime/any_shape.h"
#include "runtime/sized/sized_executable.h"
#include "support/error.h"
#include "tools/runs/model_inputs.h"

namespace tunec {

/// Inputs from a file, of its arrays' sizes; random ones where none was given, of the sizes that
/// `dims` gives dimensions, or of the largest that there is code for. Integers are 0 or 1.
Result<std::vector<Array>> SizedInputs(const SizedExecutable& model, const ArrayFile& given,
                                       uint64_t seed, const std::map<std::string, DimSizes>& dims);

/// A model with inputs of some sizes and memory for its outputs. Keeps addresses of the inputs.
struct SizedRun {
  const AnyShape* model = nullptr;
  std::vector<Shape> shapes;
  std::vector<TensorSpec> results;
  ModelBuffers buffers;

  static Result<SizedRun> Make(const AnyShape& model, std::span<const Array> inputs);
  Status Run() const { return model->Run(shapes, buffers.from, buffers.to); }
};

}  // namespace tunec
