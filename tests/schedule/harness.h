// Applies schedules to small Computes and checks the loops with the interpreter.
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
#include "tests/programs/must_parse.h"

namespace tunec::test {

/// Returns a schedule from its lines. The first line (`lower direct`) is added.
Schedule MustParseSteps(std::string_view lines);

/// Returns one array for each input and weight, in order. Floats are multiples of 1/8 from -1 to 1,
/// so that short sums of products are exact in any order. Integers are within the tensor's range,
/// or 0 and 1 without a range.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed);

/// The order in which a checked nest's tasks run.
enum class Tasks { kBothWays, kBackwards };

/// A checker with a Compute, arguments and the interpreter's result for them.
class ScheduleChecker {
 public:
  explicit ScheduleChecker(Compute compute);
  const Compute& compute() const { return compute_; }

  /// Verifies the nest and its prepacks, runs the nest and compares with the Compute. By default
  /// tasks run in order and backwards, so that the results differ if tasks depend on each other.
  /// Returns the difference or an error, or an empty string.
  std::string Disagreement(const KernelLoops& kernel, Tasks tasks = Tasks::kBothWays) const;
  /// A function that runs nests, for example as machine code, for the same check.
  using Runner =
      std::function<Result<std::vector<Array>>(const LoopNest&, const std::vector<Array>&)>;
  std::string Disagreement(const KernelLoops& kernel, const Runner& run) const;
  /// Returns the pipeline's error, or the disagreement of its result, or an empty string.
  std::string Outcome(const Schedule& schedule,
                      const RoundingFreedom& rounding = ReductionOrder::kAny,
                      Tasks tasks = Tasks::kBothWays) const;

 private:
  Result<std::vector<Array>> NestArguments(const KernelLoops& kernel) const;
  const Array* ArgumentNamed(const std::string& name) const;

  Compute compute_;
  std::vector<Array> arguments_;
  std::vector<Array> expected_;
};

/// Returns the nest with the iterations of all parallel loops, and the parts of all phases,
/// reversed. A machine may run the tasks in this order, too. Threads are not reversed, because code
/// uses their numbers. The interpreter itself finds dependences on the order of threads.
LoopNest TasksBackwards(const LoopNest& nest);

/// Returns the checker's outcome of a schedule's lines for the text of a Compute.
std::string Outcome(std::string_view compute, std::string_view steps,
                    const RoundingFreedom& rounding = ReductionOrder::kAny);

/// Returns the freedom of an accuracy mode that accepts any rounding. Schedules under this freedom
/// can be checked, because RandomArguments have few bits.
RoundingFreedom AnyRounding();

Target Avx2();
Target Avx512();
/// Returns AVX-512 with AVX512_BF16.
Target Avx512Bf16();
/// Returns AVX-512 with emulated AMX.
Target EmulatedAmx();
/// Returns a GPU of two processors, so that small Computes have tiles of many elements.
Target SmallGpu();

/// Returns the sketches of the lowering `direct` for AVX-512, with sums in any order.
std::vector<Sketch> SketchesOn(const Compute& compute);

}  // namespace tunec::test
