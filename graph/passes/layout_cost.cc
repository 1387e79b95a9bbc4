#include "graph/passes/layout_cost.h"

#include <algorithm>

#include "support/check.h"

namespace tunec {
namespace {

// The dimension of an image along which vectors run. kWidth is the last dimension.
enum class Along : uint8_t { kChannels, kWidth };

using Shape = std::vector<int64_t>;

int64_t RoundUp(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

Along ContiguousAlong(ImageOrder order) {
  return order == ImageOrder::kChannelsFirst ? Along::kWidth : Along::kChannels;
}

int64_t Vectors(const Shape& shape, Along along, int64_t lanes) {
  const int64_t length = along == Along::kChannels ? shape[1] : shape.back();
  return ElementCount(shape) / std::max<int64_t>(length, 1) * (RoundUp(length, lanes) / lanes);
}

// Returns the cycles to move the padding elements of a blocked order. Returns 0 for other orders.
double PaddingCost(ImageOrder order, const Shape& shape, const FusionMachine& machine) {
  if (order != ImageOrder::kBlocked || shape[1] == 0) return 0;
  const int64_t padding =
      ElementCount(shape) / shape[1] * (RoundUp(shape[1], machine.vector_lanes) - shape[1]);
  return static_cast<double>(padding) / static_cast<double>(machine.vector_lanes) /
         machine.vectors_per_cycle;
}

// Returns the cycles to move all elements of an image once, in vectors along the dimension `along`.
// The vectors of a blocked order also move its padding. If `along` is not contiguous, the elements
// are moved one by one.
double MoveCost(ImageOrder order, const Shape& shape, Along along, const FusionMachine& machine) {
  if (ContiguousAlong(order) != along) {
    return static_cast<double>(ElementCount(shape)) / machine.elements_per_cycle;
  }
  return static_cast<double>(Vectors(shape, along, machine.vector_lanes)) /
             machine.vectors_per_cycle +
         PaddingCost(order, shape, machine);
}

const std::vector<int64_t>& Strides(const Node& node) { return node.Ints("strides"); }

// Returns the cycles of a pool or a depthwise convolution whose windows have `taps` elements, with
// vectors along the dimension `along`. Input elements are read one by one if the input is not
// contiguous along `along`, or if windows have a stride along it.
double WindowCost(const Graph& graph, const Node& node, const NodeOrders& orders, Along along,
                  double taps, const FusionMachine& machine) {
  const Shape in = graph.value(node.inputs[0]).type.Shape();
  const Shape out = graph.value(node.outputs[0]).type.Shape();
  const bool apart = ContiguousAlong(orders.inputs[0]) != along ||
                     (along == Along::kWidth && Strides(node).back() != 1);
  const double reads =
      apart ? taps * static_cast<double>(ElementCount(out)) / machine.elements_per_cycle
            : taps * static_cast<double>(Vectors(out, along, machine.vector_lanes));
  return reads + MoveCost(orders.outputs[0], out, along, machine) +
         PaddingCost(orders.inputs[0], in, machine);
}

// Returns the cycles of a convolution that is not depthwise. With vectors along the channels, input
// elements are broadcast and may have any order. With vectors along the width, the input costs more
// if its vectors run along the channels.
double ConvCost(const Graph& graph, const Node& node, const NodeOrders& orders, Along along,
                const FusionMachine& machine) {
  const Shape in = graph.value(node.inputs[0]).type.Shape();
  const Shape out = graph.value(node.outputs[0]).type.Shape();
  const Shape weight = graph.value(node.inputs[1]).type.Shape();
  const bool transposed = node.op == Op::kConvTranspose;
  // Number of multiply-adds per element of the result, or of the operand if transposed.
  const double taps = static_cast<double>(ElementCount(weight)) /
                      static_cast<double>(std::max<int64_t>(weight[0], 1));
  const Shape& walked = transposed ? in : out;
  double cost = taps * static_cast<double>(Vectors(walked, along, machine.vector_lanes)) /
                machine.multiply_adds_per_cycle;
  const bool strided = along == Along::kWidth && (transposed || Strides(node).back() != 1);
  if (strided || (along == Along::kWidth && ContiguousAlong(orders.inputs[0]) != along)) {
    cost += taps * static_cast<double>(ElementCount(walked)) / machine.elements_per_cycle / 4;
  }
  return cost + MoveCost(orders.outputs[0], out, along, machine) +
         MoveCost(orders.inputs[0], in, ContiguousAlong(orders.inputs[0]), machine);
}

bool IsDepthwise(const Graph& graph, const Node& node) {
  const Shape weight = graph.value(node.inputs[1]).type.Shape();
  return weight[1] == 1 && node.Int("group") > 1;
}

template <class CostAlong>
double Cheapest(const CostAlong& cost) {
  return std::min(cost(Along::kChannels), cost(Along::kWidth));
}

double ContractionCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                       const FusionMachine& machine) {
  return Cheapest([&](Along along) {
    if (!IsDepthwise(graph, node)) return ConvCost(graph, node, orders, along, machine);
    const Shape weight = graph.value(node.inputs[1]).type.Shape();
    const int64_t taps = ElementCount(weight) / std::max<int64_t>(weight[0], 1);
    return WindowCost(graph, node, orders, along, static_cast<double>(taps), machine);
  });
}

double PoolCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                const FusionMachine& machine) {
  const double taps = static_cast<double>(ElementCount(node.Ints("kernel")));
  return Cheapest(
      [&](Along along) { return WindowCost(graph, node, orders, along, taps, machine); });
}

bool IsImage(const Graph& graph, ValueId value) {
  return value.valid() && graph.value(value).type.dims.size() >= 3;
}

// Returns the cycles to move all images among the node's operands and results once. LayoutCost uses
// this for all operators except convolutions, pools and operators that only rename indices.
double ElementCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                   const FusionMachine& machine) {
  return Cheapest([&](Along along) {
    double cost = 0;
    const auto add = [&](ValueId value, ImageOrder order) {
      if (!IsImage(graph, value)) return;
      cost += MoveCost(order, graph.value(value).type.Shape(), along, machine);
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) add(node.inputs[i], orders.inputs[i]);
    for (size_t i = 0; i < node.outputs.size(); ++i) add(node.outputs[i], orders.outputs[i]);
    return cost;
  });
}

bool HasFixedShapes(const Graph& graph, const Node& node) {
  const auto fixed = [&](ValueId value) {
    return !value.valid() || graph.value(value).type.IsFixed();
  };
  return std::ranges::all_of(node.inputs, fixed) && std::ranges::all_of(node.outputs, fixed);
}

}  // namespace

double LayoutCost(const Graph& graph, const Node& node, const NodeOrders& orders,
                  const FusionMachine& machine) {
  if (!HasFixedShapes(graph, node)) return 0;
  switch (ImageUseOf(node.op)) {
    case ImageUse::kConvolution:
      return ContractionCost(graph, node, orders, machine);
    case ImageUse::kPool:
      return PoolCost(graph, node, orders, machine);
    case ImageUse::kRenamed:
      return 0;
    case ImageUse::kSameOrder:
    case ImageUse::kNeighbours:
    case ImageUse::kAnyOrder:
      return ElementCost(graph, node, orders, machine);
  }
  TUNEC_UNREACHABLE("image use of {}", Name(node.op));
}

}  // namespace tunec
