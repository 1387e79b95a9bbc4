#include "graph/passes/split_batch_norm.h"

#include <algorithm>

#include "graph/derived_constant.h"

namespace tunec {
namespace {

bool AreOfOneWideType(const std::vector<ValueId>& values, const GraphBuilder& builder) {
  const DataType type = builder.TypeOf(values[0]).type;
  if (type != DataType::kF32 && type != DataType::kF64) return false;
  return std::ranges::all_of(values,
                             [&](ValueId value) { return builder.TypeOf(value).type == type; });
}

// Adds the nodes of scale / sqrt(variance + epsilon), and returns the quotient. The quotient has
// one element per channel.
Result<ValueId> FactorOf(const Node& node, ValueId scale, ValueId variance, GraphBuilder& builder) {
  Array epsilon(builder.TypeOf(variance).type, {});
  epsilon.SetDouble(0, node.Float("epsilon"));
  const ValueId added = AddDerivedConstant(builder, node.name + "_epsilon", std::move(epsilon));
  TUNEC_ASSIGN(ValueId value, builder.Add(Op::kAdd, {variance, added}, {}, "", node.where));
  TUNEC_ASSIGN(value, builder.Add(Op::kSqrt, {value}, {}, "", node.where));
  return builder.Add(Op::kDiv, {scale, value}, {}, node.name + "_factor", node.where);
}

}  // namespace

Result<std::optional<ValueId>> SplitBatchNorm(const Node& node, const std::vector<ValueId>& inputs,
                                              GraphBuilder& builder) {
  if (!AreOfOneWideType(inputs, builder) || !builder.TypeOf(inputs[1]).IsFixed())
    return std::optional<ValueId>();
  std::vector<int64_t> shape(builder.TypeOf(inputs[0]).dims.size() - 1, 1);
  shape[0] = builder.TypeOf(inputs[1]).Shape()[0];
  const auto of_channels = [&](ValueId value) {
    return builder.Add(Op::kReshape, {value}, {{"shape", shape}}, "", node.where);
  };
  TUNEC_ASSIGN(ValueId factor, FactorOf(node, inputs[1], inputs[4], builder));
  TUNEC_ASSIGN(factor, of_channels(factor));
  TUNEC_ASSIGN(const ValueId bias, of_channels(inputs[2]));
  TUNEC_ASSIGN(const ValueId mean, of_channels(inputs[3]));
  TUNEC_ASSIGN(ValueId value, builder.Add(Op::kSub, {inputs[0], mean}, {}, "", node.where));
  TUNEC_ASSIGN(value, builder.Add(Op::kMul, {value, factor}, {}, "", node.where));
  TUNEC_ASSIGN(value, builder.Add(Op::kAdd, {value, bias}, {}, node.name, node.where));
  return std::optional(value);
}

}  // namespace tunec
