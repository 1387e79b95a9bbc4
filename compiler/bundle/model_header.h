// Generation of the C header of a library that holds one model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor_spec.h"

namespace tunec {

/// Inputs and outputs of a model. A dynamic size is -1.
struct ModelTensors {
  const std::vector<TensorSpec>& inputs;
  const std::vector<TensorSpec>& outputs;
};

/// Returns the text of the header, which is valid C99 and C++ and includes no header of tunec. The
/// names of all functions begin with `model`; `library` is the name of the library's file.
std::string ModelHeader(std::string_view model, std::string_view library,
                        const ModelTensors& tensors);

}  // namespace tunec
