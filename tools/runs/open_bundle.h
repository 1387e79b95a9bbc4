// Bundles where a command is given a model.
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

/// Whether the file begins as a bundle; false where it cannot be read.
bool IsBundleFile(const std::string& path);

/// Of the settings the threads alone concern a model that is compiled already.
Result<LoadedBundle> OpenBundle(const CompileArguments& arguments);

/// Random inputs. There is no graph any more that says what integers index: they are 0 or 1.
Result<std::vector<Array>> RandomArrays(std::span<const TensorSpec> specs, uint64_t seed);

/// The inputs of a bundle's model, from a file, or random ones where none was given.
Result<std::vector<Array>> BundleInputs(const Executable& executable, const ArrayFile& given,
                                        uint64_t seed);

}  // namespace tunec
