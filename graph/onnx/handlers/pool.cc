// Import of pools with a sliding window. ceil_mode and auto_pad become explicit pads.
#include <algorithm>
#include <array>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"
#include "graph/onnx/handlers/window.h"

namespace tunec::onnx_import {
namespace {

/// Returns the pads that ceil_mode adds at the ends for the last, partial window. There is no such
/// window if it would begin in the padding after the input.
std::vector<Dim> CeilPads(const Window& window, const std::vector<Dim>& sizes) {
  const size_t rank = window.rank();
  std::vector<Dim> extra(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    const Dim begin = sizes[i] + window.pads[i];
    const Dim rest = begin + window.pads[i + rank] - window.Span(i);
    const Dim last =
        MinOf(Dim::CeilDiv(rest, window.strides[i]), Dim::FloorDiv(begin - 1, window.strides[i]));
    extra[i + rank] = MaxOf(0, last * window.strides[i] - rest);
  }
  return extra;
}

void AddPads(std::vector<Dim>& pads, const std::vector<Dim>& extra) {
  for (size_t i = 0; i < pads.size(); ++i) pads[i] = pads[i] + extra[i];
}

Attributes AttributesOf(const Window& window) {
  return {{"kernel", window.kernel},
          {"strides", window.strides},
          {"pads", SizesAttribute(window.pads)},
          {"dilations", window.dilations}};
}

/// Reads a pool's window. `extra` are the pads of ceil_mode, which the window does not include.
Result<Window> ReadPool(const NodeContext& node, const Operand& x, std::vector<Dim>& extra) {
  TUNEC_ASSIGN(const std::vector<Dim> sizes, SpatialSizes(x));
  TUNEC_ASSIGN(Window window, ReadWindow(node, {}));
  TUNEC_RETURN_IF_ERROR(ResolveAutoPad(node, sizes, window));
  TUNEC_ASSIGN(const int64_t ceil_mode, node.Int("ceil_mode", 0));
  extra.assign(2 * window.rank(), 0);
  if (ceil_mode != 0) extra = CeilPads(window, sizes);
  return window;
}

Result<Operands> MaxPool(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  if (node.HasOutput(1))
    return Fail(ErrorCode::kUnsupported, "the indices output is not supported");
  std::vector<Dim> extra;
  TUNEC_ASSIGN(Window window, ReadPool(node, x, extra));
  AddPads(window.pads, extra);
  return One(node.Emit(op, {x}, AttributesOf(window)));
}

Result<Operands> AveragePool(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(Operand x, node.Input(0));
  std::vector<Dim> extra;
  TUNEC_ASSIGN(Window window, ReadPool(node, x, extra));
  TUNEC_ASSIGN(int64_t count_pads, node.Int("count_include_pad", 0));
  const bool may_be_partial =
      std::ranges::any_of(extra, [](const Dim& pad) { return pad != Dim(0); });
  if (count_pads != 0 && may_be_partial) {
    // The average counts the given pads but not those of ceil_mode. So the given pads become zeros
    // of the input.
    std::vector<Dim> pads(2 * static_cast<size_t>(x->rank()), 0);
    const size_t rank = window.rank();
    std::copy_n(window.pads.begin(), rank, pads.begin() + 2);
    std::copy_n(window.pads.begin() + rank, rank, pads.begin() + 4 + rank);
    TUNEC_ASSIGN(x, node.Emit(Op::kPad, {x}, {{"pads", SizesAttribute(std::move(pads))}}));
    window.pads.assign(2 * rank, 0);
    count_pads = 0;
  }
  AddPads(window.pads, extra);
  Attributes attributes = AttributesOf(window);
  attributes.emplace("count_include_pad", int64_t{count_pads != 0});
  return One(node.Emit(op, {x}, std::move(attributes)));
}

Formula PowerOfAbsolute(const Formula& x, int64_t p) {
  if (p == 2) return x * x;
  Formula absolute = Apply(Op::kAbs, {x});
  if (p == 1) return absolute;
  return Apply(Op::kPow, {absolute, x.Number(static_cast<double>(p))});
}

Formula Root(const Formula& x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return Apply(Op::kSqrt, {x});
  return Apply(Op::kPow, {x, x.Number(1.0 / static_cast<double>(p))});
}

/// Imports LpPool: (sum of |x|^p over the window)^(1/p). The sum is an average that includes the
/// zero padding, times the window's size.
Result<Operands> LpPool(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const int64_t p, node.Int("p", 2));
  if (p < 1) return Fail(ErrorCode::kParse, "p is {}, expected at least 1", p);
  std::vector<Dim> extra;
  TUNEC_ASSIGN(Window window, ReadPool(node, x, extra));
  AddPads(window.pads, extra);
  Attributes attributes = AttributesOf(window);
  attributes.emplace("count_include_pad", int64_t{1});
  const auto volume = static_cast<double>(Product(window.kernel, 0, window.kernel.size()));
  const Formula given(node, x);
  const Formula sum =
      Apply(Op::kAveragePool, {PowerOfAbsolute(given, p)}, std::move(attributes)) * volume;
  return Results({Root(sum, p)});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"AveragePool", 1, AveragePool, Op::kAveragePool},
    {"LpPool", 2, LpPool},
    {"MaxPool", 1, MaxPool, Op::kMaxPool},
});

}  // namespace

std::span<const Handler> PoolHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
