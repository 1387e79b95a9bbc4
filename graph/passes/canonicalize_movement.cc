// Rules on transposes, reshapes and the like.
#include <algorithm>
#include <numeric>

#include "graph/passes/canonicalize.h"

namespace tunec {
namespace {

constexpr std::nullopt_t kUnchanged = std::nullopt;
using Axes = std::vector<int64_t>;

bool IsIdentity(const Axes& permutation) { return std::ranges::is_sorted(permutation); }

// Operators that with these attributes return their input.
RewriteResult RemoveNoMove(const RewriteSite& site) {
  switch (site.node.op) {
    case Op::kReshape:
    case Op::kExpand:
    case Op::kTile:
    case Op::kConcat:
      break;
    case Op::kTranspose:
      if (!IsIdentity(site.node.Ints("perm"))) return kUnchanged;
      break;
    case Op::kSlice: {
      const Axes& steps = site.node.Ints("steps");
      if (std::ranges::any_of(steps, [](int64_t step) { return step != 1; })) return kUnchanged;
      break;
    }
    case Op::kPad:
      if (std::ranges::any_of(site.node.Ints("pads"), [](int64_t p) { return p != 0; }))
        return kUnchanged;
      break;
    default:
      return kUnchanged;
  }
  if (site.inputs.size() != 1 || !site.HasOutputType(site.inputs[0])) return kUnchanged;
  return site.inputs[0];
}

// transpose(transpose(x))
RewriteResult ComposeTransposes(const RewriteSite& site) {
  if (site.node.op != Op::kTranspose) return kUnchanged;
  const Node* inner = site.Producer(0, Op::kTranspose);
  if (inner == nullptr) return kUnchanged;
  const Axes first = inner->Ints("perm");
  Axes composed;
  for (const int64_t axis : site.node.Ints("perm")) composed.push_back(first[axis]);
  return site.builder.Add(Op::kTranspose, {inner->inputs[0]}, {{"perm", composed}}, site.node.name,
                          site.node.where);
}

RewriteResult ComposeReshapes(const RewriteSite& site) {
  if (site.node.op != Op::kReshape) return kUnchanged;
  const Node* inner = site.Producer(0, Op::kReshape);
  if (inner == nullptr) return kUnchanged;
  return site.builder.Add(Op::kReshape, {inner->inputs[0]}, {{"shape", site.node.Ints("shape")}},
                          site.node.name, site.node.where);
}

// A transpose that moves only axes of extent 1 leaves the elements in order.
RewriteResult TransposeAsReshape(const RewriteSite& site) {
  if (site.node.op != Op::kTranspose || !site.output_type().IsFixed()) return kUnchanged;
  const Axes shape = site.graph().value(site.inputs[0]).type.Shape();
  Axes moved;
  for (const int64_t axis : site.node.Ints("perm"))
    if (shape[axis] != 1) moved.push_back(axis);
  if (!std::ranges::is_sorted(moved)) return kUnchanged;
  return site.builder.Add(Op::kReshape, {site.inputs[0]}, {{"shape", site.output_type().Shape()}},
                          site.node.name, site.node.where);
}

bool SwapsLastTwo(const Axes& permutation) {
  const size_t rank = permutation.size();
  if (rank < 2) return false;
  Axes swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  return permutation == swapped;
}

// matmul(transpose(a), b) = matmul(a, b) with transpose_a.
RewriteResult TransposeIntoMatmul(const RewriteSite& site) {
  if (site.node.op != Op::kMatmul) return kUnchanged;
  for (const size_t i : {0, 1}) {
    const Node* transpose = site.Producer(i, Op::kTranspose);
    if (transpose == nullptr || !SwapsLastTwo(transpose->Ints("perm"))) continue;
    Attributes attributes = site.node.attributes;
    const char* flag = i == 0 ? "transpose_a" : "transpose_b";
    attributes[flag] = int64_t{site.node.Int(flag) == 0 ? 1 : 0};
    std::vector<ValueId> inputs = site.inputs;
    inputs[i] = transpose->inputs[0];
    return site.builder.Add(Op::kMatmul, inputs, attributes, site.node.name, site.node.where);
  }
  return kUnchanged;
}

// An elementwise operator broadcasts by itself: expand is needed only if it alone gives the
// output its shape.
RewriteResult DropExpand(const RewriteSite& site) {
  const bool broadcasts = PatternOf(site.node.op) == OpPattern::kElementwise &&
                          site.inputs.size() > 1 && site.node.op != Op::kBatchNorm &&
                          site.node.op != Op::kPrelu;
  if (!broadcasts) return kUnchanged;
  for (size_t i = 0; i < site.inputs.size(); ++i) {
    const Node* expand = site.Producer(i, Op::kExpand);
    if (expand == nullptr) continue;
    bool gives_shape = true;
    for (size_t j = 0; j < site.inputs.size(); ++j)
      if (j != i && site.graph().value(site.inputs[j]).type.dims == site.output_type().dims)
        gives_shape = false;
    if (gives_shape) continue;
    std::vector<ValueId> inputs = site.inputs;
    inputs[i] = expand->inputs[0];
    return site.builder.Add(site.node.op, inputs, site.node.attributes, site.node.name,
                            site.node.where);
  }
  return kUnchanged;
}

// The operand of an elementwise node whose other operands are single constants.
std::optional<size_t> OnlyTensorOperand(const RewriteSite& site) {
  if (PatternOf(site.node.op) != OpPattern::kElementwise || site.node.op == Op::kBatchNorm)
    return {};
  std::optional<size_t> tensor;
  for (size_t i = 0; i < site.inputs.size(); ++i) {
    const Array* constant = site.graph().ConstantOf(site.inputs[i]);
    // A constant of more axes than the tensor would change its rank.
    if (constant != nullptr && constant->size() == 1 && constant->shape().size() <= 1) continue;
    if (tensor) return {};
    tensor = i;
  }
  return tensor;
}

// f(reshape(x)) = reshape(f(x)): the work then joins what makes x (a contraction's epilogue),
// and the movement what reads the result.
RewriteResult MoveWorkBeforeMovement(const RewriteSite& site) {
  const std::optional<size_t> operand = OnlyTensorOperand(site);
  if (!operand || !site.IsOnlyUse(*operand)) return kUnchanged;
  const Node* movement = site.Producer(*operand, Op::kReshape);
  if (movement == nullptr) movement = site.Producer(*operand, Op::kTranspose);
  if (movement == nullptr) return kUnchanged;
  const Op op = movement->op;
  const Attributes attributes = movement->attributes;
  std::vector<ValueId> inputs = site.inputs;
  inputs[*operand] = movement->inputs[0];
  if (site.graph().value(inputs[*operand]).type.dims.empty()) return kUnchanged;
  if (KindOf(site.graph().producer(inputs[*operand]).op) == OpKind::kData) return kUnchanged;
  TUNEC_ASSIGN(const ValueId work, site.builder.Add(site.node.op, inputs, site.node.attributes,
                                                    site.node.name, site.node.where));
  return site.builder.Add(op, {work}, attributes);
}

// A zero pad of the spatial axes is the convolution's own.
RewriteResult PadIntoConv(const RewriteSite& site) {
  if (site.node.op != Op::kConv) return kUnchanged;
  const Node* pad = site.Producer(0, Op::kPad);
  if (pad == nullptr || pad->String("mode") != "constant" || pad->Float("value") != 0)
    return kUnchanged;
  const Axes& pads = pad->Ints("pads");
  const size_t rank = pads.size() / 2;
  if (std::ranges::any_of(pads, [](int64_t p) { return p < 0; })) return kUnchanged;
  if (pads[0] + pads[1] + pads[rank] + pads[rank + 1] != 0) return kUnchanged;
  Attributes attributes = site.node.attributes;
  Axes joined = site.node.Ints("pads");
  for (size_t d = 0; d + 2 < rank; ++d) {
    joined[d] += pads[d + 2];
    joined[rank - 2 + d] += pads[rank + d + 2];
  }
  attributes["pads"] = joined;
  std::vector<ValueId> inputs = site.inputs;
  inputs[0] = pad->inputs[0];
  return site.builder.Add(Op::kConv, inputs, attributes, site.node.name, site.node.where);
}

constexpr RewriteRule kRules[] = {
    {"no-move", RemoveNoMove},
    {"compose-transposes", ComposeTransposes},
    {"compose-reshapes", ComposeReshapes},
    {"transpose-as-reshape", TransposeAsReshape},
    {"transpose-into-matmul", TransposeIntoMatmul},
    {"drop-expand", DropExpand},
    {"work-before-movement", MoveWorkBeforeMovement},
    {"pad-into-conv", PadIntoConv},
};

}  // namespace

std::span<const RewriteRule> MovementRules() { return kRules; }

}  // namespace tunec
