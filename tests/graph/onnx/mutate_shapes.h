// Models with operands of wrong ranks and extents.
#pragma once

#include <onnx/onnx_pb.h>

namespace tunec::onnx_test {

/// Gives each operand in turn no axes, one axis less, one more, and each extent 0 and 1. Imports
/// and lowers the result in a child process. The test fails for a crash, a hang or an internal
/// error. Runs once for models of the same operators, and skips models of many operators.
void CheckMutatedShapes(const onnx::ModelProto& model);

}  // namespace tunec::onnx_test
