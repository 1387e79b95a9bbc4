// Models with operands of other ranks and extents than they should have.
#pragma once

#include <onnx/onnx_pb.h>

namespace tunec::onnx_test {

/// Gives each operand of the model in turn no axes, one less, one more, and each of its extents 0
/// and 1; imports and lowers what comes of it in a child process. A crash, a hang or an error of
/// ours fails the test. Once for models of the same operators; models of many are left out.
void CheckMutatedShapes(const onnx::ModelProto& model);

}  // namespace tunec::onnx_test
