// Applies schedules to small Computes and judges the loops by the interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"
#include "ir/loop_nest.h"
#include "ir/target.h"
#include "kernel/loop_pipeline.h"
#include "schedule/sketch.h"
#include "tests/ir/must_parse.h"

namespace tunec::test {

/// A schedule from its lines, without the first (`lower direct`), which is added.
Schedule MustParseSteps(std::string_view lines);

/// One array for each input and weight, in order. Floats are small multiples of 1/8, so that
/// short sums of products are exact in any order; integers lie within the tensor's range.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed);

/// In which order an examined nest's tasks run.
enum class Tasks { kBothWays, kBackwards };

/// Holds a Compute, arguments and the result that the interpreter gives for them.
class Judge {
 public:
  explicit Judge(Compute compute);
  const Compute& compute() const { return compute_; }

  /// Verifies the nest and the prepacks, runs them and compares with the Compute: tasks in order
  /// and backwards (tasks that depend on each other then differ). Empty where all agree, else
  /// what is wrong.
  std::string Disagreement(const KernelLoops& kernel, Tasks tasks = Tasks::kBothWays) const;
  /// The same of whatever runs nests: machine code.
  using Runner =
      std::function<Result<std::vector<Array>>(const LoopNest&, const std::vector<Array>&)>;
  std::string Disagreement(const KernelLoops& kernel, const Runner& run) const;
  /// What the pipeline's error says, or how its result disagrees; empty where all is well.
  std::string Outcome(const Schedule& schedule,
                      const RoundingFreedom& rounding = ReductionOrder::kAny,
                      Tasks tasks = Tasks::kBothWays) const;

 private:
  Result<std::vector<Array>> NestArguments(const KernelLoops& kernel) const;
  const Array* ArgumentNamed(const std::string& name) const;

  Compute compute_;
  std::vector<Array> arguments_;
  std::vector<Array> wanted_;
};

/// The nest with the iterations of all parallel loops, and the parts of all phases, reversed:
/// another order in which a machine may run the tasks. Threads keep theirs, as they are known by
/// their numbers; the interpreter finds what another order of theirs would change.
LoopNest TasksBackwards(const LoopNest& nest);

/// Judge's outcome of a schedule's lines for the text of a Compute.
std::string Outcome(std::string_view compute, std::string_view steps,
                    const RoundingFreedom& rounding = ReductionOrder::kAny);

/// Of a contract that takes everything: the arguments above have few bits.
RoundingFreedom AnyRounding();

Target Avx2();
Target Avx512();
/// A GPU of two processors, so that small Computes have tiles of many elements.
Target SmallGpu();

/// Of the lowering `direct`, for AVX-512, where sums may be regrouped.
std::vector<Sketch> SketchesOn(const Compute& compute);

}  // namespace tunec::test
