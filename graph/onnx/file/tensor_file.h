// Reader of ONNX files with one tensor, such as input_0.pb of ONNX's test data.
#pragma once

#include <string>

#include "ir/array.h"
#include "support/error.h"

namespace tunec {

/// Reads a serialized TensorProto. Fails if the amount of data does not match the shape, or for
/// external data.
/// Errors contain the file's name: kNotFound, kIo, kParse, kUnsupported.
Result<Array> ReadOnnxTensor(const std::string& path);

}  // namespace tunec
