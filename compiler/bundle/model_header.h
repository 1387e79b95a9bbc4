// The C header of a library that holds one model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor_spec.h"

namespace tunec {

/// What goes in and comes out; sizes that are open are -1.
struct ModelTensors {
  const std::vector<TensorSpec>& inputs;
  const std::vector<TensorSpec>& outputs;
};

/// `model` is what its functions begin with, `library` the file's name. The text is C99 and C++,
/// and includes nothing of tunec's.
std::string ModelHeader(std::string_view model, std::string_view library,
                        const ModelTensors& tensors);

}  // namespace tunec
