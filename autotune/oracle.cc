#include "autotune/oracle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autotune/reference_compute.h"
#include "autotune/run_kernel.h"

namespace tunec {
namespace {

// Arguments that no statement reads are not the nest's.
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

struct Evaluation {
  const Target& target;
  ThreadPool& pool;

  Result<std::vector<Array>> Run(const Compute& compute, const std::vector<Array>& arguments,
                                 Contraction contraction) const {
    TUNEC_ASSIGN(LoopNest nest, PlainLoops(WithContiguousIterator(compute)));
    nest.contraction = contraction;
    return CompileAndRun(nest, ArgumentsOf(nest, compute, arguments), target, pool);
  }
};

int64_t CountNonFinite(const std::vector<Array>& arrays) {
  int64_t count = 0;
  for (const Array& array : arrays) {
    if (array.type() != DataType::kF64) continue;
    for (const double value : array.As<double>()) count += std::isfinite(value) ? 0 : 1;
  }
  return count;
}

Result<std::vector<Array>> RunWide(const Evaluation& evaluation, const Compute& wide,
                                   const std::vector<Array>& arguments) {
  std::vector<Array> promoted;
  for (const Array& array : arguments) promoted.push_back(Widen(array));
  return evaluation.Run(wide, promoted, Contraction::kFused);
}

double Largest(const Array& array) {
  double largest = 0;
  for (const double value : array.As<double>()) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

OperandRounding RoundingFor(const Accuracy& accuracy) {
  if (accuracy.mode == AccuracyMode::kTf32) return OperandRounding::kTf32;
  if (accuracy.mode == AccuracyMode::kBf16) return OperandRounding::kBf16;
  return OperandRounding::kNone;
}

}  // namespace

Result<Oracle> ComputeOracle(const Compute& compute, const Accuracy& accuracy, uint64_t seed,
                             const Target& target, ThreadPool& pool) {
  const Evaluation evaluation{target, pool};
  const std::optional<StatementId> contraction = LastContraction(compute);
  Compute wide = PromoteToFloat64(compute);
  if (contraction) wide = WithMagnitudes(wide, *contraction);
  Oracle oracle;
  oracle.arguments = RandomArguments(compute, seed, ValueRange::kAroundZero);
  TUNEC_ASSIGN(std::vector<Array> expected, RunWide(evaluation, wide, oracle.arguments));
  if (const int64_t bad = CountNonFinite(expected); bad > 0) {
    std::vector<Array> positive = RandomArguments(compute, seed, ValueRange::kPositive);
    TUNEC_ASSIGN(std::vector<Array> other, RunWide(evaluation, wide, positive));
    if (CountNonFinite(other) < bad) {
      oracle.arguments = std::move(positive);
      expected = std::move(other);
    }
  }
  if (contraction) {
    // The added output is the last tensor of all.
    oracle.magnitude = Largest(expected.back());
    expected.pop_back();
  }
  const std::vector<Array> rounded = RoundOperands(oracle.arguments, RoundingFor(accuracy));
  TUNEC_ASSIGN(std::vector<Array> sequential,
               evaluation.Run(WithoutLayouts(compute), rounded, ContractionFor(accuracy)));
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role != TensorRole::kOutput) continue;
    const size_t i = oracle.judges.size();
    oracle.judges.push_back({tensor.name, std::move(expected[i]), std::move(sequential[i])});
  }
  SetAllowances(oracle.judges, compute, oracle.magnitude, accuracy);
  return oracle;
}

}  // namespace tunec
