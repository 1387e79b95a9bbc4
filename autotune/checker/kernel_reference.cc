#include "autotune/checker/kernel_reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "autotune/checker/error_bounds.h"
#include "autotune/checker/order_tolerance.h"
#include "autotune/checker/reference_compute.h"
#include "kernel/run_once.h"
#include "support/check.h"

namespace tunec {
namespace {

// Returns the inputs and weights of the nest, in its order. `arguments` has those of the compute.
std::vector<Array> ArgumentsOf(const LoopNest& nest, const Compute& compute,
                               const std::vector<Array>& arguments) {
  std::vector<Array> chosen;
  for (const TensorId id : Arguments(nest)) {
    if (nest.tensors[id].role == TensorRole::kOutput) continue;
    size_t position = 0;
    for (const Tensor& tensor : compute.tensors) {
      if (tensor.name == nest.tensors[id].name) break;
      position += tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight ? 1 : 0;
    }
    chosen.push_back(arguments[position]);
  }
  return chosen;
}

using Results = std::map<std::string, Array>;  // key: name of the output

struct Evaluation {
  const Target& target;
  ThreadPool& pool;

  Result<Results> Run(const Compute& compute, const std::vector<Array>& arguments,
                      Contraction contraction) const {
    TUNEC_ASSIGN(const LoopNest nest, PlainLoops(WithContiguousIterator(compute), contraction));
    TUNEC_ASSIGN(std::vector<Array> outputs,
                 CompileAndRun(nest, ArgumentsOf(nest, compute, arguments), target, pool));
    Results results;
    size_t next = 0;
    for (const TensorId id : Arguments(nest)) {
      const Tensor& tensor = nest.tensors[id];
      if (tensor.role == TensorRole::kOutput) results[tensor.name] = std::move(outputs[next++]);
    }
    return results;
  }
};

int64_t CountNonFinite(const Results& results) {
  int64_t count = 0;
  for (const auto& [name, array] : results) {
    if (array.type() != DataType::kF64) continue;
    for (const double value : array.As<double>()) count += std::isfinite(value) ? 0 : 1;
  }
  return count;
}

Result<Results> RunWide(const Evaluation& evaluation, const Compute& wide,
                        const std::vector<Array>& arguments) {
  std::vector<Array> promoted;
  for (const Array& array : arguments) promoted.push_back(Widen(array));
  return evaluation.Run(wide, promoted, Contraction::kFused);
}

OperandRounding RoundingFor(const Accuracy& accuracy) {
  if (accuracy.mode == AccuracyMode::kTf32) return OperandRounding::kTf32;
  if (accuracy.mode == AccuracyMode::kBf16) return OperandRounding::kBf16;
  return OperandRounding::kNone;
}

// Returns a factor rounded to bfloat16, as bfloat16 instructions round it. A factor that is already
// stored as bfloat16 is unchanged. Returns none for factors that such instructions cannot take.
std::optional<Expr> RoundedFactor(const Expr& factor) {
  const bool is_cast = factor.kind() == ExprKind::kCast;
  const Expr& read = is_cast ? factor.operands()[0] : factor;
  if (read.kind() != ExprKind::kRead || factor.type() != DataType::kF32) return std::nullopt;
  if (is_cast) return read.type() == DataType::kBF16 ? std::optional(factor) : std::nullopt;
  return Expr::Cast(Expr::Cast(factor, DataType::kBF16), DataType::kF32);
}

// Rounds the operands of sums of float32 products to bfloat16 where they are multiplied, as
// bfloat16 instructions do. Other uses of the operands are not rounded. Returns false if bfloat16
// instructions can compute no sum of the compute.
bool RoundFactors(Compute& compute) {
  bool any = false;
  for (Statement& statement : compute.statements) {
    if (statement.reducer != Reducer::Sum(DataType::kF32)) continue;
    if (statement.values.size() != 1 || !statement.values[0].Is(ScalarOp::kMul)) continue;
    std::vector<Expr> factors;
    for (const Expr& factor : statement.values[0].operands()) {
      if (std::optional<Expr> rounded = RoundedFactor(factor)) factors.push_back(*rounded);
    }
    if (factors.size() != statement.values[0].operands().size()) continue;
    statement.values[0] = Expr::Apply(ScalarOp::kMul, std::move(factors));
    any = true;
  }
  return any;
}

const std::string& TensorOf(const Compute& compute, StatementId statement) {
  return compute.tensors[compute.statements[statement].writes[0].tensor].name;
}

Compute WithSumsAsOutputs(Compute compute, const std::vector<StatementId>& sums) {
  for (const StatementId sum : sums) {
    compute.tensors[compute.statements[sum].writes[0].tensor].role = TensorRole::kOutput;
  }
  return compute;
}

// Returns the largest distance of legal evaluations from the float64 sum, relative to the sum of
// its terms' magnitudes. In mode kBound the bound is returned. In other modes the result is an ulp
// plus twice the distance of the sequential evaluation. Modes that round operands add the tolerance
// of another order. A step before the sum may make the sequential evaluation's distance very large.
// So the result is limited by the distance that rounding alone explains, plus an ulp.
double ErrorOfSum(const Statement& sum, const std::string& tensor, const Results& expected,
                  const Results& sequential, const Accuracy& accuracy) {
  if (accuracy.mode == AccuracyMode::kBound) return accuracy.bound;
  constexpr double kUlp = 0x1p-23;
  const Array& magnitude = expected.at(MagnitudeTensor(tensor));
  const Array& wide = expected.at(tensor);
  const Array& typed = sequential.at(tensor);
  double relative = 0;
  for (int64_t i = 0; i < wide.size(); ++i) {
    const double error = std::abs(typed.GetDouble(i) - wide.GetDouble(i)) / magnitude.GetDouble(i);
    if (std::isfinite(error)) relative = std::max(relative, error);
  }
  const double operands = OperandError(accuracy.mode);
  const double order = operands > 0 ? OrderTolerance(sum) : 0;
  return kUlp + std::min(2 * relative + order, LargestSumError(sum) + operands);
}

// The float sums of a compute from which the tolerances are computed.
struct ReferenceSums {
  std::optional<StatementId> contraction;  // last contraction
  bool check_steps = false;                // WithErrorBounds bounds some output
  std::vector<StatementId> watched;        // sums whose magnitudes are needed
  int computed_factors = 0;                // ComputedFactors; 0 if the mode rounds no operands
};

ReferenceSums SumsOf(const Compute& compute, const Accuracy& accuracy) {
  ReferenceSums sums{.contraction = LastContraction(compute), .check_steps = HasSteps(compute)};
  if (sums.contraction && OperandError(accuracy.mode) > 0)
    sums.computed_factors = ComputedFactors(compute, *sums.contraction);
  if (sums.check_steps) {
    sums.watched = FloatSums(compute);
  } else if (sums.contraction) {
    sums.watched = {*sums.contraction};
  }
  return sums;
}

// A builder of the reference of one workload. It evaluates the workload in float64, and also
// sequentially in the workload's own types.
class ReferenceEvaluation {
 public:
  ReferenceEvaluation(const Compute& compute, const Accuracy& accuracy,
                      const Evaluation& evaluation)
      : compute_(compute),
        accuracy_(accuracy),
        evaluation_(evaluation),
        sums_(SumsOf(compute, accuracy)) {}

  Result<KernelReference> Make(uint64_t seed) const;
  Result<KernelReference> MakeFor(std::vector<Array> arguments) const;

 private:
  Result<Results> ChooseArguments(uint64_t seed, KernelReference& reference) const;
  Result<KernelReference> WithCheckers(Results expected, KernelReference reference) const;
  Result<Results> RunSequentially(const std::vector<Array>& arguments) const;
  Result<Results> Bounds(const KernelReference& reference, const Results& expected,
                         const Results& sequential) const;
  std::optional<ContractionScale> ScaleOf(const KernelReference& reference,
                                          const Results& expected) const;
  Compute Wide() const;
  Compute WithSums(Compute compute) const {
    return sums_.check_steps ? WithSumsAsOutputs(std::move(compute), sums_.watched) : compute;
  }

  const Compute& compute_;
  const Accuracy& accuracy_;
  const Evaluation& evaluation_;
  ReferenceSums sums_;
};

Compute ReferenceEvaluation::Wide() const {
  Compute wide = WithMagnitudes(WithSums(PromoteToFloat64(compute_)), sums_.watched);
  if (sums_.computed_factors == 0) return wide;
  return WithSquares(wide, *wide.FindStatement(compute_.statements[*sums_.contraction].name));
}

// Sets the arguments of `reference` and returns their float64 results. If some results are not
// finite, positive arguments are tried. They are taken if fewer of their results are not finite.
Result<Results> ReferenceEvaluation::ChooseArguments(uint64_t seed,
                                                     KernelReference& reference) const {
  const Compute wide = Wide();
  reference.arguments = RandomArguments(compute_, seed, ValueRange::kAroundZero);
  TUNEC_ASSIGN(Results expected, RunWide(evaluation_, wide, reference.arguments));
  if (const int64_t bad = CountNonFinite(expected); bad > 0) {
    std::vector<Array> positive = RandomArguments(compute_, seed, ValueRange::kPositive);
    TUNEC_ASSIGN(Results other, RunWide(evaluation_, wide, positive));
    if (CountNonFinite(other) < bad) {
      reference.arguments = std::move(positive);
      expected = std::move(other);
    }
  }
  return expected;
}

Result<Results> ReferenceEvaluation::Bounds(const KernelReference& reference,
                                            const Results& expected,
                                            const Results& sequential) const {
  std::vector<double> errors;
  for (const StatementId sum : sums_.watched) {
    errors.push_back(ErrorOfSum(compute_.statements[sum], TensorOf(compute_, sum), expected,
                                sequential, accuracy_));
  }
  const std::optional<Compute> bounded = WithErrorBounds(compute_, errors);
  TUNEC_CHECK(bounded.has_value(), "compute {} has lost its steps", compute_.name);
  return RunWide(evaluation_, *bounded, reference.arguments);
}

// Evaluates the compute sequentially in its own types. Mode bf16 rounds operands by RoundFactors if
// possible. Otherwise modes tf32 and bf16 round all float32 arguments of a contraction.
Result<Results> ReferenceEvaluation::RunSequentially(const std::vector<Array>& arguments) const {
  Compute compute = WithSums(WithoutLayouts(compute_));
  const Contraction contraction = ContractionFor(accuracy_);
  if (accuracy_.mode == AccuracyMode::kBf16 && RoundFactors(compute)) {
    return evaluation_.Run(compute, arguments, contraction);
  }
  if (!sums_.contraction) return evaluation_.Run(compute, arguments, contraction);
  const std::vector<Array> rounded = RoundOperands(arguments, RoundingFor(accuracy_));
  return evaluation_.Run(compute, rounded, contraction);
}

std::optional<ContractionScale> ReferenceEvaluation::ScaleOf(const KernelReference& reference,
                                                             const Results& expected) const {
  if (!sums_.contraction) return std::nullopt;
  ContractionScale scale{
      .magnitude = *reference.magnitude,
      .flushed = FlushTolerance(compute_, *sums_.contraction, reference.arguments)};
  if (sums_.computed_factors > 0) {
    const std::string squares = SquaresTensor(TensorOf(compute_, *sums_.contraction));
    scale.rounded = RoundingTolerance(sums_.computed_factors, OperandError(accuracy_.mode) / 2,
                                      LargestFinite(expected.at(squares)));
  }
  return scale;
}

Result<KernelReference> ReferenceEvaluation::Make(uint64_t seed) const {
  KernelReference reference;
  TUNEC_ASSIGN(Results expected, ChooseArguments(seed, reference));
  return WithCheckers(std::move(expected), std::move(reference));
}

Result<KernelReference> ReferenceEvaluation::MakeFor(std::vector<Array> arguments) const {
  TUNEC_ASSIGN(Results expected, RunWide(evaluation_, Wide(), arguments));
  return WithCheckers(std::move(expected), {.arguments = std::move(arguments)});
}

Result<KernelReference> ReferenceEvaluation::WithCheckers(Results expected,
                                                          KernelReference reference) const {
  if (sums_.contraction) {
    reference.magnitude =
        LargestFinite(expected.at(MagnitudeTensor(TensorOf(compute_, *sums_.contraction))));
  }
  TUNEC_ASSIGN(Results sequential, RunSequentially(reference.arguments));
  Results bounds;
  if (sums_.check_steps) {
    TUNEC_ASSIGN(bounds, Bounds(reference, expected, sequential));
  }
  for (const Tensor& tensor : compute_.tensors) {
    if (tensor.role != TensorRole::kOutput) continue;
    OutputChecker checker{tensor.name, std::move(expected[tensor.name]),
                          std::move(sequential[tensor.name])};
    const auto found = bounds.find(BoundTensor(tensor.name));
    if (found != bounds.end()) checker.bounds = std::move(found->second);
    reference.checkers.push_back(std::move(checker));
  }
  SetTolerances(reference.checkers, compute_, ScaleOf(reference, expected), accuracy_);
  return reference;
}

}  // namespace

Result<KernelReference> ComputeKernelReference(const Compute& compute, const Accuracy& accuracy,
                                               uint64_t seed, const Target& target,
                                               ThreadPool& pool) {
  const Target host{.host = target.host};
  return ReferenceEvaluation(compute, accuracy, Evaluation{host, pool}).Make(seed);
}

Result<KernelReference> ComputeKernelReferenceFor(const Compute& compute,
                                                  std::vector<Array> arguments,
                                                  const Accuracy& accuracy, const Target& target,
                                                  ThreadPool& pool) {
  const Target host{.host = target.host};
  return ReferenceEvaluation(compute, accuracy, Evaluation{host, pool})
      .MakeFor(std::move(arguments));
}

}  // namespace tunec
