// A check of import and lowering of models with an operand of another rank or extent.
#pragma once

#include <onnx/onnx_pb.h>

namespace tunec::onnx_test {

/// Imports and lowers copies of the model in a child process. One operand of each copy has another
/// shape: no axes, one axis less or more, or an extent of 0 or 1. Fails the test for a crash, an
/// internal error, or more than 120 s for all copies. Skips models of more than 8 nodes. Also skips
/// models with the operators and numbers of node inputs of an earlier model.
void CheckMutatedShapes(const onnx::ModelProto& model);

}  // namespace tunec::onnx_test
