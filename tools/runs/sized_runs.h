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

/// Returns the inputs from a file, with the shapes in the file. Without a file, returns random
/// inputs: a dimension has the size in `dims`, else the largest listed size. Random integers are 0
/// or 1.
Result<std::vector<Array>> SizedInputs(const SizedExecutable& model, const ArrayFile& given,
                                       uint64_t seed, const std::map<std::string, DimSizes>& dims);

/// A prepared run of a model: shapes and pointers of the inputs, and memory for the outputs.
/// Requires: the model and the inputs outlive this object.
struct SizedRun {
  const AnyShape* model = nullptr;
  std::vector<Shape> shapes;
  std::vector<TensorSpec> results;
  ModelBuffers buffers;

  static Result<SizedRun> Make(const AnyShape& model, std::span<const Array> inputs);
  Status Run() const { return model->Run(shapes, buffers.from, buffers.to); }
};

}  // namespace tunec
