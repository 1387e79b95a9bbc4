// Reading ONNX's files of one tensor, such as the input_0.pb of its test data.
#pragma once

#include <string>

#include "ir/array.h"
#include "support/error.h"

namespace tunec {

/// A serialized TensorProto. Sizes are checked against the shape; external data is refused.
/// Errors name the file: kNotFound, kIo, kParse, kUnsupported.
Result<Array> ReadOnnxTensor(const std::string& path);

}  // namespace tunec
