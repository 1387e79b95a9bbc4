// What a model is run on, and the run itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/random_inputs.h"
#include "ir/array.h"
#include "numpy/npz.h"
#include "runtime/executable.h"
#include "support/error.h"

namespace tunec {

/// Whether an array of another float type than its spec's will do.
enum class FloatTypes { kSame, kAny };

/// The specs' arrays among `arrays`, by name, in the types that they have there. kInvalidArgument
/// when one is missing or has another type or shape; `file` begins the message.
Result<std::vector<Array>> SelectArrays(const std::vector<NamedArray>& arrays,
                                        std::span<const TensorSpec> specs, const std::string& file,
                                        FloatTypes floats = FloatTypes::kSame);

/// Name, type and shape of the graph's inputs and outputs. Requires: fixed shapes.
std::vector<TensorSpec> InputSpecs(const Graph& graph);
std::vector<TensorSpec> OutputSpecs(const Graph& graph);

/// A .npz file; no arrays where `file` is empty.
struct ArrayFile {
  std::string file;
  std::vector<NamedArray> arrays;
};
Result<ArrayFile> ReadArrays(const std::string& file);

/// The inputs from a file, or random ones where none was given.
Result<std::vector<Array>> MakeInputs(const Graph& graph, const ArrayFile& given, uint64_t seed);

/// Memory for the outputs of one run, and pointers to it and to the inputs.
struct ModelBuffers {
  static Result<ModelBuffers> Make(const Executable& executable, std::span<const Array> inputs);
  std::vector<Array> outputs;
  std::vector<const void*> from;
  std::vector<void*> to;
};

/// Runs once; one array per output.
Result<std::vector<Array>> RunModel(const Executable& executable, std::span<const Array> inputs);

}  // namespace tunec
