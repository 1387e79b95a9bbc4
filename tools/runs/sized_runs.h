// Functions that make inputs for a model with dynamic shapes and run the model.
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

/// Returns inputs from a file, with the shapes of its arrays, or random inputs. Random inputs have
/// the sizes in `dims`, or the largest sizes that the bundle has code for. Integers are 0 or 1.
Result<std::vector<Array>> SizedInputs(const SizedExecutable& model, const ArrayFile& given,
                                       uint64_t seed, const std::map<std::string, DimSizes>& dims);

/// A model with inputs of fixed sizes and memory for the outputs. Requires: the model and the
/// inputs outlive this object.
struct SizedRun {
  const AnyShape* model = nullptr;
  std::vector<Shape> shapes;
  std::vector<TensorSpec> results;
  ModelBuffers buffers;

  static Result<SizedRun> Make(const AnyShape& model, std::span<const Array> inputs);
  Status Run() const { return model->Run(shapes, buffers.from, buffers.to); }
};

}  // namespace tunec
