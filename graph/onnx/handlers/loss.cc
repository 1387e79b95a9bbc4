// Import of classification losses.
#include <array>
#include <optional>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

/// Labels, and an optional mask of the labels that contribute to the loss.
struct Labels {
  Formula positions;              // the labels, with 0 for ignored labels
  std::optional<Formula> counts;  // bool; absent if all labels count
};

Result<Labels> ReadLabels(const NodeContext& node, const Formula& labels) {
  if (!node.HasAttribute("ignore_index")) return Labels{labels, std::nullopt};
  TUNEC_ASSIGN(const int64_t ignored, node.Int("ignore_index", 0));
  const Formula is_ignored = Equal(labels, labels.Number(static_cast<double>(ignored)));
  return Labels{Where(is_ignored, labels.Number(0), labels), Apply(Op::kNot, {is_ignored})};
}

/// Returns -log_prob[n, label, ...] for each label, or 0 for an ignored label. Applies the node's
/// weights and reduction.
Result<Formula> Loss(const NodeContext& node, const Formula& log_prob, const Formula& given) {
  TUNEC_ASSIGN(const Operand input, log_prob.Take());
  TUNEC_ASSIGN(const Operand labelled, given.Take());
  TUNEC_RETURN_IF_ERROR(node.RequireRank(input, 2, kMostAxes));
  TUNEC_RETURN_IF_ERROR(node.RequireRank(labelled, input->rank() - 1, input->rank() - 1));
  TUNEC_ASSIGN(const std::string reduction, node.Choice("reduction", {"mean", "sum", "none"}));
  TUNEC_ASSIGN(const Labels labels, ReadLabels(node, given));
  const Formula at = labels.positions.Unsqueeze(1);
  Formula picked =
      Apply(Op::kGatherElements, {log_prob, at}, {{"axis", int64_t{1}}}).Reshape(given.shape());
  std::optional<Formula> weights;
  if (node.HasInput(2)) weights = Gather(In(node, 2), labels.positions);
  if (labels.counts) {
    const Formula one = weights ? *weights : log_prob.Number(1).Expand(given.shape());
    weights = Where(*labels.counts, one, one.Number(0));
    picked = Where(*labels.counts, picked, picked.Number(0));  // the value of an ignored label may
                                                               // be infinite
  }
  Formula loss = weights ? -picked * *weights : -picked;
  if (reduction == "none") return loss;
  std::vector<int64_t> all = AllAxes(given.rank());
  if (reduction == "sum") return Sum(loss, all);
  if (weights) return Sum(loss, all) / Sum(*weights, all);
  return Apply(Op::kReduceMean, {loss}, {{"axes", all}, {"keepdims", int64_t{0}}});
}

Result<Operands> NegativeLogLikelihood(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Formula loss, Loss(node, In(node, 0), In(node, 1)));
  return Results({loss});
}

Result<Operands> SoftmaxCrossEntropy(const NodeContext& node, Op) {
  const Formula log_prob = Apply(Op::kLogSoftmax, {In(node, 0)}, {{"axis", int64_t{1}}});
  TUNEC_ASSIGN(const Formula loss, Loss(node, log_prob, In(node, 1)));
  return Results({loss, log_prob});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"NegativeLogLikelihoodLoss", 12, NegativeLogLikelihood},
    {"SoftmaxCrossEntropyLoss", 12, SoftmaxCrossEntropy},
});

}  // namespace

std::span<const Handler> LossHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
