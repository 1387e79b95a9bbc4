// Models with operands of wrong ranks and extents.
#pragma once

#include <onnx/onnx_pb.h>

namespace tunec::onnx_test {

/// Gives each operand in turn no axes, one axis less, one more, and each extent 0 and 1. Imports
/// and lowers the result in a child process. The test fails for a crash, a hang or an internal
/// error. Skips models of more than 8 nodes, and models with the operators of an earlier model.
void CheckMutatedShapes(const onnx::ModelProto& model);

}  // namespace tunec::onnx_test
