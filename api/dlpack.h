// DLPack tensors against what an executable wants.
#pragma once

#include <string_view>

#include "api/include/tunec/tunec.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// The type as DLPack states it.
DLDataType DlpackType(DataType type);

/// Where the tensor's elements lie, once it is on the CPU, dense row-major and of the spec's type
/// and shape. `what` ("input", "output") and the spec's name begin the message of an error.
Result<void*> CheckedData(const DLTensor* tensor, const TensorSpec& spec, std::string_view what);

}  // namespace tunec
