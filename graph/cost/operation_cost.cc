#include "graph/cost/operation_cost.h"

#include <algorithm>

namespace tunec {
namespace {

double Product(std::span<const int64_t> extents) {
  return static_cast<double>(ElementCount(extents));
}

// An operand of `node` that the node's kernel computes, with `operations` for each element.
struct ComputedOperand {
  const Graph& graph;
  const Node& node;
  ValueId operand;
  double operations;
  bool IsFirst() const { return !node.inputs.empty() && node.inputs[0] == operand; }
};
using Repeats = double (*)(const ComputedOperand& computed);

// Returns the number of result elements per element of the operand; 1 if the operand is empty.
double Spread(const Graph& graph, const Node& node, ValueId operand) {
  const int64_t elements = graph.value(operand).type.Elements();
  if (elements == 0) return 1;
  return static_cast<double>(graph.value(node.outputs[0]).type.Elements()) /
         static_cast<double>(elements);
}

// Returns roughly how many windows of a convolution contain an element of the input, on average.
double TimesInWindows(const Graph& graph, const Node& node) {
  const auto spatial = [&](ValueId value) {
    const std::vector<int64_t> shape = graph.value(value).type.Shape();
    return Product(std::span(shape).subspan(2));
  };
  return spatial(node.outputs[0]) * spatial(node.inputs[1]) /
         std::max(1.0, spatial(node.inputs[0]));
}

// The functions of the column `repeats` of op_list.h implement CountComputations.
double RepeatsSpread(const ComputedOperand& c) { return Spread(c.graph, c.node, c.operand); }

double RepeatsOnce(const ComputedOperand&) { return 1; }

double RepeatsPairs(const ComputedOperand& c) { return c.IsFirst() ? 2 : RepeatsSpread(c); }

double RepeatsConvWindows(const ComputedOperand& c) {
  return c.IsFirst() ? TimesInWindows(c.graph, c.node) : RepeatsSpread(c);
}

double RepeatsWindows(const ComputedOperand& c) {
  return c.IsFirst() ? RepeatsSpread(c) * Product(c.node.Ints("kernel")) : RepeatsSpread(c);
}

// Returns how often an element of the operand is computed if the operator reads its first operand
// in `passes` passes. An expensive first operand is stored before the second pass.
double InPasses(const ComputedOperand& c, double passes) {
  if (!c.IsFirst()) return RepeatsSpread(c);
  return c.operations > kRecomputeLimit ? 1 : passes;
}

template <int kPasses>
double RepeatsPasses(const ComputedOperand& c) {
  return InPasses(c, kPasses);
}

double RepeatsNeighbours(const ComputedOperand& c) {
  return InPasses(c, static_cast<double>(c.node.Int("size")) + 1);
}

constexpr Repeats kRepeats[] = {
#define TUNEC_REPEATS(id, name, kind, pattern, operands, cost, repeats, ...) Repeats##repeats,
    TUNEC_OPS(TUNEC_REPEATS)
#undef TUNEC_REPEATS
};

// An entry of the column `cost` of op_list.h: a number, or a function of the node's attributes.
class Cost {
 public:
  constexpr Cost(int operations) : operations_(operations) {}              // NOLINT: a number
  constexpr Cost(int (*of_node)(const Node& node)) : of_node_(of_node) {}  // NOLINT: or a function
  int Of(const Node& node) const { return of_node_ == nullptr ? operations_ : of_node_(node); }

 private:
  int operations_ = 0;
  int (*of_node_)(const Node& node) = nullptr;
};

int OfResize(const Node& node) { return node.String("mode") == "cubic" ? 30 : 6; }

// Cost per element of the result of an operator over rows or windows, whatever their length.
constexpr int kRowCost = 16;

constexpr Cost kCosts[] = {
#define TUNEC_COST(id, name, kind, pattern, operands, cost, ...) cost,
    TUNEC_OPS(TUNEC_COST)
#undef TUNEC_COST
};

}  // namespace

int OperationsPerElement(const Node& node) { return kCosts[static_cast<size_t>(node.op)].Of(node); }

bool HasNoWindows(const Graph& graph, const Node& node) {
  if (node.op == Op::kMatmul) return true;
  if (node.op != Op::kConv) return false;
  const std::vector<int64_t> weight = graph.value(node.inputs[1]).type.Shape();
  const auto is_one = [](int64_t extent) { return extent == 1; };
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  return std::all_of(weight.begin() + 2, weight.end(), is_one) &&
         std::ranges::all_of(node.Ints("pads"), is_zero);
}

double CountComputations(const Graph& graph, const Node& node, ValueId operand, double operations) {
  return kRepeats[static_cast<size_t>(node.op)]({graph, node, operand, operations});
}

}  // namespace tunec
