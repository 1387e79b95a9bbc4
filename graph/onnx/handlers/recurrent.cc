// Import of RNN, GRU and LSTM, expanded step by step. The number of steps is fixed, so each step
// has separate nodes. In each direction, one product with the inputs serves all steps.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "graph/onnx/handlers/formula.h"
#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {
namespace {

constexpr int64_t kMostSteps = 1024;

using Activation = std::function<Formula(const Formula&)>;

Result<Activation> ActivationOf(const std::string& name, std::optional<double> alpha,
                                std::optional<double> beta) {
  const auto plain = [](Op op) { return [op](const Formula& x) { return Apply(op, {x}); }; };
  const auto with = [&](Op op, const Attributes& attributes) {
    return [op, attributes](const Formula& x) { return Apply(op, {x}, attributes); };
  };
  if (name == "Sigmoid") return plain(Op::kSigmoid);
  if (name == "Tanh") return plain(Op::kTanh);
  if (name == "Relu") return plain(Op::kRelu);
  if (name == "Softsign") return plain(Op::kSoftsign);
  if (name == "Softplus") return plain(Op::kSoftplus);
  if (name == "LeakyRelu") return with(Op::kLeakyRelu, {{"alpha", alpha.value_or(0.01)}});
  if (name == "ThresholdedRelu") return with(Op::kThresholdedRelu, {{"alpha", alpha.value_or(1)}});
  if (name == "Elu") return with(Op::kElu, {{"alpha", alpha.value_or(1)}});
  if (name == "HardSigmoid") {
    return with(Op::kHardSigmoid, {{"alpha", alpha.value_or(0.2)}, {"beta", beta.value_or(0.5)}});
  }
  if (name == "Affine") {
    return [a = alpha.value_or(1), b = beta.value_or(0)](const Formula& x) { return x * a + b; };
  }
  if (name == "ScaledTanh") {
    return [a = alpha.value_or(1), b = beta.value_or(1)](const Formula& x) {
      return Apply(Op::kTanh, {x * b}) * a;
    };
  }
  return Fail(ErrorCode::kUnsupported, "activation '{}' is not supported", name);
}

/// Common sizes, attributes and inputs of RNN, GRU and LSTM, without weights, biases and states.
struct Recurrence {
  int64_t steps = 0;
  Dim batch;
  int64_t hidden = 0;
  int64_t directions = 1;
  bool backward_first = false;  // direction="reverse"
  bool batch_first = false;     // layout=1
  std::optional<double> clip;
  std::vector<Activation> activations;  // for the first direction, then for the second
  Formula x;                            // [steps, batch, inputs]
  std::optional<Formula> lengths;       // [batch, 1], i64
};

Result<std::vector<Activation>> ReadActivations(const NodeContext& node,
                                                std::vector<std::string> defaults,
                                                int64_t directions) {
  std::vector<std::string> names;
  for (int64_t d = 0; d < directions; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  TUNEC_ASSIGN(names, node.Strings("activations", names));
  std::vector<double> alphas;
  std::vector<double> betas;
  if (node.HasAttribute("activation_alpha")) {
    TUNEC_ASSIGN(alphas, node.Floats("activation_alpha"));
  }
  if (node.HasAttribute("activation_beta")) {
    TUNEC_ASSIGN(betas, node.Floats("activation_beta"));
  }
  if (names.size() != defaults.size() * static_cast<size_t>(directions)) {
    return Fail(ErrorCode::kParse, "{} activations, expected {}", names.size(),
                defaults.size() * static_cast<size_t>(directions));
  }
  std::vector<Activation> activations;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = [i](const std::vector<double>& values) {
      return i < values.size() ? std::optional(values[i]) : std::nullopt;
    };
    TUNEC_ASSIGN(Activation activation, ActivationOf(names[i], at(alphas), at(betas)));
    activations.push_back(std::move(activation));
  }
  return activations;
}

/// Checks the ranks of X, W, R, B, the initial states and the peepholes, unless omitted. The
/// lengths need no check, because ReadRecurrence reshapes them.
Status RequireRanks(const NodeContext& node) {
  constexpr std::array<std::pair<size_t, int64_t>, 7> kRanks{
      {{0, 3}, {1, 3}, {2, 3}, {3, 2}, {5, 3}, {6, 3}, {7, 2}}};
  for (const auto& [input, rank] : kRanks) {
    if (!node.HasInput(input)) continue;
    TUNEC_RETURN_IF_ERROR(node.RequireRank(node.OptionalInput(input), rank, rank));
  }
  return {};
}

Result<Recurrence> ReadRecurrence(const NodeContext& node, std::vector<std::string> activations) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand r, node.Input(2));
  TUNEC_ASSIGN(const std::string direction,
               node.Choice("direction", {"forward", "reverse", "bidirectional"}));
  TUNEC_ASSIGN(const int64_t layout, node.Int("layout", 0));
  Recurrence recurrence{.x = Formula(node, x), .lengths = {}};
  recurrence.batch_first = layout != 0;
  recurrence.backward_first = direction == "reverse";
  recurrence.directions = direction == "bidirectional" ? 2 : 1;
  TUNEC_RETURN_IF_ERROR(RequireRanks(node));
  if (recurrence.batch_first) recurrence.x = recurrence.x.Transpose({1, 0, 2});
  TUNEC_ASSIGN(recurrence.steps, recurrence.x.Extent(0));
  TUNEC_ASSIGN(recurrence.batch, recurrence.x.DimOf(1));
  TUNEC_ASSIGN(const auto r_extents, node.Extents<3>(r));
  recurrence.hidden = r_extents[2];
  if (r_extents[0] != recurrence.directions) {
    return Fail(ErrorCode::kInvalidArgument, "{}, expected {} direction(s)", node.Describe(r),
                recurrence.directions);
  }
  if (recurrence.steps > kMostSteps) {
    return Fail(ErrorCode::kUnsupported, "a sequence of {} steps, expected at most {}",
                recurrence.steps, kMostSteps);
  }
  if (node.HasAttribute("clip")) {
    TUNEC_ASSIGN(recurrence.clip, node.Float("clip", 0));
  }
  if (node.HasInput(4)) {
    recurrence.lengths = In(node, 4).Cast(DataType::kI64).Reshape({recurrence.batch, 1});
  }
  TUNEC_ASSIGN(recurrence.activations,
               ReadActivations(node, std::move(activations), recurrence.directions));
  return recurrence;
}

/// Slices of a tensor along axis 0. All steps share them, so each slice is made once.
class SharedSlices {
 public:
  explicit SharedSlices(Formula of) : of_(std::move(of)) {}

  const Formula& operator()(int64_t begin, int64_t end) const {
    const auto known = slices_.find({begin, end});
    if (known != slices_.end()) return known->second;
    return slices_.emplace(std::pair(begin, end), of_.Slice(0, begin, end)).first->second;
  }

 private:
  Formula of_;
  mutable std::map<std::pair<int64_t, int64_t>, Formula> slices_;
};

/// The recurrent weights and the attributes of a cell in one direction.
struct Weights {
  SharedSlices r;                      // [gates * hidden, hidden]
  std::optional<SharedSlices> r_bias;  // [gates * hidden]
  std::vector<Activation> activations;
  std::optional<double> clip;
  int64_t hidden = 0;

  Formula Activate(size_t which, const Formula& x) const {
    return activations[which](clip ? Clamp(x, -*clip, *clip) : x);
  }
  /// Returns state times the transposed rows of R of the gates begin..end-1.
  Formula Recurrent(const Formula& state, int64_t begin, int64_t end) const {
    return Apply(Op::kMatmul, {state, r(begin * hidden, end * hidden)},
                 {{"transpose_b", int64_t{1}}});
  }
};

/// A function that computes one step. `x` is the product of the input and W, plus any bias except
/// r_bias: [batch, gates * hidden]. Returns the new states, first the output of the step.
using Cell = std::function<std::vector<Formula>(const Weights& weights, const Formula& x,
                                                const std::vector<Formula>& states)>;

struct DirectionResult {
  std::vector<Formula> outputs;  // output of each step, [batch, hidden]
  std::vector<Formula> states;   // states after the last step
};

/// Runs the cell over the steps. Beyond a sequence's length states do not change and outputs are 0.
/// So a backward run starts at the end of each shorter sequence.
DirectionResult RunSteps(const Recurrence& recurrence, const Weights& weights,
                         const Formula& products, std::vector<Formula> states, bool backward,
                         const Cell& cell) {
  DirectionResult result{{}, std::move(states)};
  result.outputs.resize(static_cast<size_t>(recurrence.steps), products);
  for (int64_t i = 0; i < recurrence.steps; ++i) {
    const int64_t step = backward ? recurrence.steps - 1 - i : i;
    std::vector<Formula> next = cell(weights, products.At(0, step), result.states);
    Formula output = next[0];
    if (recurrence.lengths) {
      const Formula runs =
          Less(recurrence.lengths->Number(static_cast<double>(step)), *recurrence.lengths);
      output = Where(runs, output, output.Number(0));
      for (size_t s = 0; s < next.size(); ++s) next[s] = Where(runs, next[s], result.states[s]);
    }
    result.states = std::move(next);
    result.outputs[static_cast<size_t>(step)] = output;
  }
  return result;
}

/// Properties in which RNN, GRU and LSTM differ.
struct RecurrenceKind {
  int64_t gates = 1;
  size_t states = 1;
  bool adds_r_bias = true;  // added to the products with the inputs; if false, the cell adds it
  Cell cell;
};

Formula InitialState(const NodeContext& node, const Recurrence& recurrence, size_t state,
                     int64_t direction) {
  if (!node.HasInput(5 + state)) {
    return recurrence.x.Number(0).Expand({recurrence.batch, recurrence.hidden});
  }
  const Formula given = In(node, 5 + state);
  return (recurrence.batch_first ? given.Transpose({1, 0, 2}) : given).At(0, direction);
}

DirectionResult RunDirection(const NodeContext& node, const Recurrence& recurrence,
                             const RecurrenceKind& kind, int64_t direction) {
  const int64_t rows = kind.gates * recurrence.hidden;
  const auto count = static_cast<std::ptrdiff_t>(recurrence.activations.size()) /
                     static_cast<std::ptrdiff_t>(recurrence.directions);
  const auto first = recurrence.activations.begin() + direction * count;
  Weights weights{.r = SharedSlices(In(node, 2).At(0, direction)),
                  .r_bias = {},
                  .activations = {first, first + count},
                  .clip = recurrence.clip,
                  .hidden = recurrence.hidden};
  Formula products = Apply(Op::kMatmul, {recurrence.x, In(node, 1).At(0, direction)},
                           {{"transpose_b", int64_t{1}}});
  if (node.HasInput(3)) {
    const Formula bias = In(node, 3).At(0, direction);
    const Formula r_bias = bias.Slice(0, rows, 2 * rows);
    products = products + bias.Slice(0, 0, rows);
    if (kind.adds_r_bias) products = products + r_bias;
    if (!kind.adds_r_bias) weights.r_bias.emplace(r_bias);
  }
  std::vector<Formula> states;
  for (size_t s = 0; s < kind.states; ++s) {
    states.push_back(InitialState(node, recurrence, s, direction));
  }
  return RunSteps(recurrence, weights, products, std::move(states),
                  recurrence.backward_first || direction == 1, kind.cell);
}

/// Returns the outputs of all steps and the last states.
Result<Operands> Run(const NodeContext& node, const Recurrence& recurrence,
                     const RecurrenceKind& kind) {
  std::vector<DirectionResult> results;
  for (int64_t d = 0; d < recurrence.directions; ++d) {
    results.push_back(RunDirection(node, recurrence, kind, d));
  }
  // Outputs of all directions for each step: [1, directions, batch, hidden].
  std::vector<Formula> outputs;
  for (int64_t step = 0; step < recurrence.steps; ++step) {
    std::vector<Formula> parts;
    for (const DirectionResult& result : results) {
      parts.push_back(result.outputs[static_cast<size_t>(step)].Unsqueeze(0).Unsqueeze(0));
    }
    outputs.push_back(Concat(parts, 1));
  }
  const Formula y = recurrence.steps > 0
                        ? Concat(outputs, 0)
                        : recurrence.x.Number(0).Expand(
                              {0, recurrence.directions, recurrence.batch, recurrence.hidden});
  std::vector<Formula> all{recurrence.batch_first ? y.Transpose({2, 0, 1, 3}) : y};
  for (size_t s = 0; s < kind.states; ++s) {
    std::vector<Formula> parts;
    for (const DirectionResult& result : results) parts.push_back(result.states[s].Unsqueeze(0));
    const Formula state = Concat(parts, 0);
    all.push_back(recurrence.batch_first ? state.Transpose({1, 0, 2}) : state);
  }
  return Results(all);
}

/// Imports RNN: h = f(Wx + Rh + b).
Result<Operands> Rnn(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Recurrence recurrence, ReadRecurrence(node, {"Tanh"}));
  const Cell cell = [](const Weights& w, const Formula& x, const std::vector<Formula>& states) {
    return std::vector<Formula>{w.Activate(0, x + w.Recurrent(states[0], 0, 1))};
  };
  return Run(node, recurrence, {.gates = 1, .states = 1, .adds_r_bias = true, .cell = cell});
}

/// Imports GRU with gates z, r, h. The reset gate acts before the product with R, or after this
/// product if linear_before_reset is set.
Result<Operands> Gru(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Recurrence recurrence, ReadRecurrence(node, {"Sigmoid", "Tanh"}));
  TUNEC_ASSIGN(const int64_t linear, node.Int("linear_before_reset", 0));
  const int64_t n = recurrence.hidden;
  const Cell cell = [n, linear](const Weights& w, const Formula& x,
                                const std::vector<Formula>& states) {
    const Formula& h = states[0];
    Formula gates = x.Slice(1, 0, 2 * n) + w.Recurrent(h, 0, 2);
    if (w.r_bias) gates = gates + (*w.r_bias)(0, 2 * n);
    const Formula update = w.Activate(0, gates.Slice(1, 0, n));
    const Formula reset = w.Activate(0, gates.Slice(1, n, 2 * n));
    Formula inner = w.Recurrent(linear != 0 ? h : reset * h, 2, 3);
    if (w.r_bias) inner = inner + (*w.r_bias)(2 * n, 3 * n);
    if (linear != 0) inner = reset * inner;
    const Formula candidate = w.Activate(1, x.Slice(1, 2 * n, 3 * n) + inner);
    return std::vector<Formula>{(1 - update) * candidate + update * h};
  };
  return Run(node, recurrence, {.gates = 3, .states = 1, .adds_r_bias = false, .cell = cell});
}

/// Imports LSTM with gates i, o, f, c. Peepholes from the cell state may be given if there is only
/// one direction.
Result<Operands> Lstm(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Recurrence recurrence, ReadRecurrence(node, {"Sigmoid", "Tanh", "Tanh"}));
  TUNEC_ASSIGN(const int64_t input_forget, node.Int("input_forget", 0));
  if (input_forget != 0) return Fail(ErrorCode::kUnsupported, "input_forget=1 is not supported");
  if (node.HasInput(7) && recurrence.directions == 2) {
    return Fail(ErrorCode::kUnsupported, "peepholes in two directions are not supported");
  }
  const int64_t n = recurrence.hidden;
  std::optional<SharedSlices> peepholes;  // for the gates i, o, f
  if (node.HasInput(7)) peepholes.emplace(In(node, 7).At(0, 0));
  const Cell cell = [n, peepholes](const Weights& w, const Formula& x,
                                   const std::vector<Formula>& states) {
    const Formula& c = states[1];
    const Formula gates = x + w.Recurrent(states[0], 0, 4);
    const auto gate = [&](int64_t i, const Formula& seen) {
      const Formula sum = gates.Slice(1, i * n, (i + 1) * n);
      return w.Activate(0, peepholes ? sum + (*peepholes)(i * n, (i + 1) * n) * seen : sum);
    };
    const Formula candidate = w.Activate(1, gates.Slice(1, 3 * n, 4 * n));
    const Formula next = gate(2, c) * c + gate(0, c) * candidate;
    return std::vector<Formula>{gate(1, next) * w.activations[2](next), next};
  };
  return Run(node, recurrence, {.gates = 4, .states = 2, .adds_r_bias = true, .cell = cell});
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"GRU", 7, Gru},
    {"LSTM", 7, Lstm},
    {"RNN", 7, Rnn},
});

}  // namespace

std::span<const Handler> RecurrentHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
