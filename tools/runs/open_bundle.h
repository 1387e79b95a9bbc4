// Functions for commands that accept a bundle in place of a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/bundle/load_bundle.h"
#include "support/error.h"
#include "tools/options/model_options.h"
#include "tools/runs/model_inputs.h"

namespace tunec {

/// Returns true if the file begins like a bundle, and false for others and unreadable files.
bool IsBundleFile(const std::string& path);

/// Loads a bundle. Only the settings of threads are used, since the model is compiled already.
Result<LoadedBundle> OpenBundle(const CompileArguments& arguments);

/// Makes random inputs. Integers are 0 or 1, because the specs have no ranges of indices.
Result<std::vector<Array>> RandomArrays(std::span<const TensorSpec> specs, uint64_t seed);

/// Returns the inputs of a bundle's model from a file, or random inputs if none is given.
Result<std::vector<Array>> BundleInputs(const Executable& executable, const ArrayFile& given,
                                        uint64_t seed);

}  // namespace tunec
