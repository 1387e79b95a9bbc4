// A harness that applies schedules to small Computes and checks the loops with the interpreter.
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

/// Parses a schedule without the first line, `lower direct`. Aborts if the text cannot be parsed.
Schedule MustParseSteps(std::string_view lines);

/// Returns one array for each input and weight, in order. Floats are multiples of 1/8 from -1 to 1,
/// so that short sums of products are exact in any order. Integers are within the tensor's range,
/// or 0 and 1 without a range.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed);

/// The orders in which the tasks of a checked nest run. kBothWays runs the nest twice.
enum class Tasks { kBothWays, kBackwards };

/// A checker that compares the results of loop nests with the interpreter's result for a Compute.
class ScheduleChecker {
 public:
  explicit ScheduleChecker(Compute compute);
  const Compute& compute() const { return compute_; }

  /// Verifies and interprets the nest and its prepacks, and compares the results with those of the
  /// Compute. By default the nest's tasks run in order and backwards, because dependences between
  /// tasks can then change the results. Returns the difference or an error, or an empty string.
  std::string Disagreement(const KernelLoops& kernel, Tasks tasks = Tasks::kBothWays) const;
  /// A function that runs a nest on arguments, for example as machine code. Returns the outputs.
  using Runner =
      std::function<Result<std::vector<Array>>(const LoopNest&, const std::vector<Array>&)>;
  std::string Disagreement(const KernelLoops& kernel, const Runner& run) const;
  /// Runs the loop pipeline. Returns its error, or the Disagreement of the resulting loops.
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

/// Returns the nest with reversed iterations of all loops over tasks, and reversed top-level nodes
/// of all phases. A machine may run the tasks in this order, too. GPU threads are not reversed,
/// because code uses the thread numbers. The interpreter finds dependences on the order of threads.
LoopNest TasksBackwards(const LoopNest& nest);

/// Parses a Compute, and steps as MustParseSteps does. Returns their ScheduleChecker::Outcome.
std::string Outcome(std::string_view compute, std::string_view steps,
                    const RoundingFreedom& rounding = ReductionOrder::kAny);

/// Returns the freedom of an accuracy mode that accepts any rounding. Schedules under this freedom
/// can be checked, because RandomArguments have few bits.
RoundingFreedom AnyRounding();

Target Avx2();
Target Avx512();
/// Returns a CPU with AVX-512 and AVX512_BF16.
Target Avx512Bf16();
/// Returns a CPU with AVX-512 and emulated AMX.
Target EmulatedAmx();
/// Returns a GPU of two processors, so that small Computes have tiles of many elements.
Target SmallGpu();

/// Returns the sketches of the lowering `direct` for AVX-512. They may reorder additions.
std::vector<Sketch> SketchesOn(const Compute& compute);

}  // namespace tunec::test
