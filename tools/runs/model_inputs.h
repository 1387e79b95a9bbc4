// Functions that make a model's inputs and run the model.
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

/// The float types of accepted arrays: only the type of the spec, or any float type.
enum class FloatTypes { kSame, kAny };

/// Returns copies of the arrays that the specs name, in the order of the specs and with unchanged
/// types. Returns kInvalidArgument if an array is missing, has another shape, or a type that
/// `floats` does not accept. The message begins with `file`.
Result<std::vector<Array>> SelectArrays(const std::vector<NamedArray>& arrays,
                                        std::span<const TensorSpec> specs, const std::string& file,
                                        FloatTypes floats = FloatTypes::kSame);

/// Returns the names, types and shapes of the graph's inputs. Requires: fixed shapes. OutputSpecs
/// does the same for outputs.
std::vector<TensorSpec> InputSpecs(const Graph& graph);
std::vector<TensorSpec> OutputSpecs(const Graph& graph);

/// The content of a .npz file; no arrays if `file` is empty.
struct ArrayFile {
  std::string file;
  std::vector<NamedArray> arrays;
};
Result<ArrayFile> ReadArrays(const std::string& file);

/// Returns the inputs from a file, or random inputs if `given.file` is empty.
Result<std::vector<Array>> MakeInputs(const Graph& graph, const ArrayFile& given, uint64_t seed);

/// Memory for the outputs of one run, and pointers to outputs and inputs. Requires: the inputs
/// outlive the buffers.
struct ModelBuffers {
  static Result<ModelBuffers> Make(const Executable& executable, std::span<const Array> inputs);
  std::vector<Array> outputs;
  std::vector<const void*> from;
  std::vector<void*> to;
};

/// Runs the model once. Returns one array per output.
Result<std::vector<Array>> RunModel(const Executable& executable, std::span<const Array> inputs);

}  // namespace tunec
