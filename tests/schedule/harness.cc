#include "tests/schedule/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/interpret/interpret.h"
#include "ir/nest/visit_loop_nest.h"
#include "jit/cuda/arch.h"
#include "support/check.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {

Schedule MustParseSteps(std::string_view lines) {
  Result<Schedule> schedule = ParseSchedule(fmt::format("lower direct\n{}", lines), "test.sched");
  TUNEC_CHECK(schedule.has_value(), "{}", schedule.error().Format());
  return std::move(*schedule);
}

std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Array> arguments;
  for (const Tensor& tensor : compute.tensors) {
    if (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kWeight) continue;
    Array array(tensor.type, tensor.shape);
    for (int64_t i = 0; i < array.size(); ++i) {
      if (IsFloat(tensor.type)) {
        array.SetDouble(i, static_cast<double>(random() % 17) / 8 - 1);
      } else {
        const Interval range = tensor.range.value_or(Interval{0, 1});
        const auto count = static_cast<uint64_t>(range.hi - range.lo + 1);
        array.SetInt(i, range.lo + static_cast<int64_t>(random() % count));
      }
    }
    arguments.push_back(std::move(array));
  }
  return arguments;
}

namespace {

std::string Compare(const std::vector<Array>& expected, const std::vector<Array>& found) {
  if (expected.size() != found.size()) return "another number of outputs";
  for (size_t o = 0; o < expected.size(); ++o) {
    double largest = 1;
    for (int64_t i = 0; i < expected[o].size(); ++i) {
      const double magnitude = std::abs(expected[o].GetDouble(i));
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
    for (int64_t i = 0; i < expected[o].size(); ++i) {
      const double a = expected[o].GetDouble(i);
      const double b = found[o].GetDouble(i);
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      if (!same && !(std::abs(a - b) <= 1e-5 * largest)) {
        return fmt::format("output {} element {}: {} instead of {}", o, i, b, a);
      }
    }
  }
  return {};
}

// A rewriter that replaces a variable in every index expression of a body.
class Reverser {
 public:
  Reverser(VarId variable, IndexExpr replacement)
      : variable_(variable), replacement_(std::move(replacement)) {}

  void Rewrite(Body& body) const {
    for (NestNode& node : body) Rewrite(node);
  }

 private:
  void Rewrite(IndexExpr& index) const {
    index = Substitute(index,
                       [&](VarId v) { return v == variable_ ? replacement_ : IndexExpr::Var(v); });
  }
  void Rewrite(std::vector<IndexExpr>& all) const {
    for (IndexExpr& index : all) Rewrite(index);
  }
  void Rewrite(Store& store) const {
    for (Read& read : store.reads) {
      Rewrite(read.index);
      if (read.guard) Rewrite(read.guard->nonnegative);
    }
    for (Write& write : store.writes) Rewrite(write.index);
    for (Expr& value : store.values) {
      value = TransformIndices(value, [&](IndexExpr index) {
        Rewrite(index);
        return index;
      });
    }
  }
  void Rewrite(NestNode& node) const {
    Visit(
        node,
        [&](Loop& loop) {
          Rewrite(loop.lower);
          Rewrite(loop.upper);
          Rewrite(loop.body);
        },
        [&](If& branch) {
          Rewrite(branch.nonnegative);
          Rewrite(branch.body);
        },
        [&](Alloc& alloc) { Rewrite(alloc.body); }, [&](Tile& tile) { Rewrite(tile.body); },
        [&](Roles& roles) {
          for (Role& role : roles.roles) Rewrite(role.body);
        },
        [&](Store& store) { Rewrite(store); },
        [&](AsyncCopy& copy) {
          Rewrite(copy.from.index);
          if (copy.from.guard) Rewrite(copy.from.guard->nonnegative);
          Rewrite(copy.to.index);
        },
        [&](Prefetch& prefetch) { Rewrite(prefetch.address.index); },
        [&](Arrive& arrive) { Rewrite(arrive.stage); },
        [&](Wait& wait) {
          Rewrite(wait.stage);
          Rewrite(wait.parity);
        },
        [&](Shuffle& shuffle) {
          Rewrite(shuffle.from.index);
          Rewrite(shuffle.to.index);
        },
        [](const Barrier&) {});
  }

  VarId variable_;
  IndexExpr replacement_;
};

void ReverseTasks(Body& part) {
  for (NestNode& node : part) {
    auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr || !NumbersTasks(loop->kind)) continue;
    if (loop->kind == LoopKind::kWave) {
      ReverseTasks(loop->body);
      continue;
    }
    const IndexExpr mirrored = loop->lower[0] + loop->upper[0] - 1 - IndexExpr::Var(loop->var);
    Reverser(loop->var, mirrored).Rewrite(loop->body);
    ReverseTasks(loop->body);
  }
}

}  // namespace

LoopNest TasksBackwards(const LoopNest& nest) {
  LoopNest result = nest;
  for (Phase& phase : result.phases) {
    std::ranges::reverse(phase.body);
    ReverseTasks(phase.body);
  }
  return result;
}

ScheduleChecker::ScheduleChecker(Compute compute)
    : compute_(std::move(compute)), arguments_(RandomArguments(compute_, 1)) {
  Result<std::vector<Array>> expected = Interpret(compute_, arguments_, Precision::kNative);
  TUNEC_CHECK(expected.has_value(), "the compute fails: {}", expected.error().message);
  expected_ = std::move(*expected);
}

const Array* ScheduleChecker::ArgumentNamed(const std::string& name) const {
  size_t position = 0;
  for (const Tensor& tensor : compute_.tensors) {
    if (tensor.role != TensorRole::kInput && tensor.role != TensorRole::kWeight) continue;
    if (tensor.name == name) return &arguments_[position];
    ++position;
  }
  return nullptr;
}

// Returns the nest's arguments except outputs. An argument that the Compute lacks is a packed
// weight, which its prepack nest computes. Fails if a prepack nest is invalid or fails.
Result<std::vector<Array>> ScheduleChecker::NestArguments(const KernelLoops& kernel) const {
  std::vector<Array> found;
  for (const TensorId id : Arguments(kernel.nest)) {
    const Tensor& tensor = kernel.nest.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    if (const Array* given = ArgumentNamed(tensor.name)) {
      found.push_back(*given);
      continue;
    }
    for (const LoopNest& prepack : kernel.prepack) {
      if (prepack.name != tensor.name) continue;
      TUNEC_RETURN_IF_ERROR(Verify(prepack));
      const Array* packed = ArgumentNamed(prepack.tensors[TensorId(0)].name);
      TUNEC_CHECK(packed != nullptr, "prepack of an unknown weight for {}", tensor.name);
      TUNEC_ASSIGN(
          std::vector<Array> outputs,
          Interpret(TasksBackwards(prepack), std::vector<Array>{*packed}, Precision::kNative));
      found.push_back(std::move(outputs[0]));
    }
  }
  return found;
}

std::string ScheduleChecker::Disagreement(const KernelLoops& kernel, Tasks tasks) const {
  if (const Status valid = Verify(kernel.nest); !valid) {
    return "the nest is invalid: " + valid.error().message;
  }
  const auto given = NestArguments(kernel);
  if (!given) return "a prepack fails: " + given.error().message;
  std::vector<LoopNest> nests = {TasksBackwards(kernel.nest)};
  if (tasks == Tasks::kBothWays) nests.push_back(kernel.nest);
  for (const LoopNest& nest : nests) {
    const auto found = Interpret(nest, *given, Precision::kNative);
    if (!found) return "the nest fails: " + found.error().message;
    if (std::string difference = Compare(expected_, *found); !difference.empty()) return difference;
  }
  return {};
}

std::string ScheduleChecker::Disagreement(const KernelLoops& kernel, const Runner& run) const {
  const auto given = NestArguments(kernel);
  if (!given) return "a prepack fails: " + given.error().message;
  const auto found = run(kernel.nest, *given);
  return found ? Compare(expected_, *found) : "it fails: " + found.error().message;
}

std::string ScheduleChecker::Outcome(const Schedule& schedule, const RoundingFreedom& rounding,
                                     Tasks tasks) const {
  const auto kernel = LoopsOf(compute_, schedule, rounding);
  return kernel ? Disagreement(*kernel, tasks) : kernel.error().message;
}

std::string Outcome(std::string_view compute, std::string_view steps,
                    const RoundingFreedom& rounding) {
  return ScheduleChecker(MustParse(compute)).Outcome(MustParseSteps(steps), rounding);
}

RoundingFreedom AnyRounding() {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.min_bf16_parts = 1;
  rounding.tf32_operands = true;
  rounding.allowed_error = 1;
  return rounding;
}

namespace {

Target Cpu(int bits, int registers) {
  Target target;
  target.host.vector_bits = bits;
  target.host.vector_registers = registers;
  target.host.threads = 2;
  target.host.cores = 2;
  return target;
}

}  // namespace

Target Avx2() { return Cpu(256, 16); }
Target Avx512() { return Cpu(512, 32); }

Target Avx512Bf16() {
  Target target = Avx512();
  target.host.features = {"avx512f", "avx512bf16"};
  return target;
}

Target EmulatedAmx() {
  Target target = Avx512();
  target.host.features = {"avx512f", "amx-emulated"};
  return target;
}

Target SmallGpu() {
  Target target = Avx512();
  target.device = *CudaAccelerator("sm_90a");
  target.device->processors = 2;
  return target;
}

std::vector<Sketch> SketchesOn(const Compute& compute) {
  return SketchesFor({{{"direct", compute}}, Avx512(), ReductionOrder::kAny});
}

}  // namespace tunec::test
