#include "graph/reference/run.h"

namespace tunec {
namespace reference {
namespace {

/// Fails if a result has more than 2^33 elements or an unknown size. This is an error of the model,
/// so the program must not abort.
Status CheckOutputs(const Node& node, std::span<const ValueType> types) {
  constexpr int64_t kMostElements = int64_t{1} << 33;
  for (const ValueType& type : types) {
    if (!type.IsFixed())
      return Fail(ErrorCode::kUnsupported, "node {}: {} has a result of unknown size", node.name,
                  Name(node.op));
    const int64_t count = ElementCount(type.Shape());
    if (count < 0 || count > kMostElements)
      return Fail(ErrorCode::kResourceLimit,
                  "node {}: {} has a result of {} elements, expected at most {}", node.name,
                  Name(node.op), count, kMostElements);
  }
  return {};
}

}  // namespace
}  // namespace reference

Result<std::vector<Array>> RunNode(const Node& node, std::span<const Array> inputs,
                                   std::span<const ValueType> output_types, Precision precision) {
  TUNEC_RETURN_IF_ERROR(reference::CheckOutputs(node, output_types));
  const reference::RunOp run = reference::DefinitionOf(node.op).run;
  if (run == nullptr)
    return Fail(ErrorCode::kUnsupported, "node {}: the reference does not execute {}", node.name,
                Name(node.op));
  TUNEC_ASSIGN(std::vector<Array> outputs, run({node, inputs, output_types, precision}));
  if (precision == Precision::kFloat64)
    for (Array& output : outputs) output = reference::Widened(output);
  return outputs;
}

}  // namespace tunec
