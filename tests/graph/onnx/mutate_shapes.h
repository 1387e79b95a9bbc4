// A check that import and lowering do not crash if an operand has a wrong rank or extent.
#pragma once

#include <onnx/onnx_pb.h>

namespace tunec::onnx_test {

/// Imports and lowers copies of the model in a child process. One operand of each copy has another
/// shape: no axes, one axis less or more, or an extent of 0 or 1. Fails the test for a crash, an
/// internal error, or a time of more than 120 s. Skips models of more than 8 nodes, and models with
/// the operators of an earlier model.
void CheckMutatedShapes(const onnx::ModelProto& model);

}  // namespace tunec::onnx_test
