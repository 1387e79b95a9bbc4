#include "tests/fuzz/run_code.h"

#include <cstring>
#include <utility>

#include "compiler/compiler.h"
#include "jit/cpu/detect_cpu.h"
#include "schedule/sketch.h"
#include "support/random.h"
#include "tests/fuzz/run_groups.h"
#include "tests/fuzz/run_schedule.h"
#include "tests/schedule/loops_of.h"

namespace tunec::fuzz {
namespace {

const Target& ThisMachine() {
  static const Target target = DetectCpu(kThreads);
  return target;
}

// Runs a random schedule of the group. If the schedule is rejected, draws again. The last try uses
// the last sketch, the naive one, whose schedule is always legal.
Result<std::vector<Array>> RunRandomly(const std::vector<Lowering>& lowerings,
                                       std::span<const Array> arguments, Random& random) {
  const std::vector<NamedCompute> named = Named(lowerings);
  const std::vector<Sketch> sketches = SketchesFor({named, ThisMachine(), ReductionOrder::kAny});
  constexpr int kTries = 4;
  for (int tries = 0; tries <= kTries; ++tries) {
    const Sketch& sketch =
        tries < kTries ? sketches[random.Below(sketches.size())] : sketches.back();
    const Schedule schedule = sketch.Fill(RandomDecisions(sketch, random));
    for (const NamedCompute& lowering : named) {
      if (lowering.name != schedule.lowering) continue;
      const auto kernel = test::LoopsOf(lowering.compute, schedule, ReductionOrder::kAny);
      if (kernel) return RunScheduled(*kernel, lowering.compute, arguments, ThisMachine());
      if (!MayReject(kernel.error().code)) return std::unexpected(kernel.error());
    }
  }
  return Fail(ErrorCode::kInternal, "the naive schedule does not apply");
}

}  // namespace

Array Unwritten(DataType type, std::vector<int64_t> shape) {
  Array array(type, std::move(shape));
  if (array.bytes() > 0) std::memset(array.mutable_data(), 0xff, array.bytes());
  return array;
}

Result<std::vector<Array>> RunCompiled(const Graph& graph, FusionMode fusion,
                                       std::span<const Array> inputs) {
  CompileOptions options;
  options.target = ThisMachine();
  options.fusion = fusion;
  TUNEC_ASSIGN(const CompiledModel model, Compile(graph, nullptr, options));
  std::vector<const void*> sources;
  for (const Array& input : inputs) sources.push_back(input.data());
  std::vector<Array> outputs;
  std::vector<void*> targets;
  for (const TensorSpec& spec : model.executable->Outputs())
    outputs.push_back(Unwritten(spec.type, spec.shape));
  for (Array& output : outputs) targets.push_back(output.mutable_data());
  TUNEC_RETURN_IF_ERROR(model.executable->Run(sources, targets));
  return outputs;
}

Result<std::vector<Array>> RunRandomSchedules(const Graph& graph, const FusionPlan& plan,
                                              std::span<const Array> inputs, uint64_t seed) {
  Random random(StreamSeed(seed, "schedule"));
  const size_t chosen = plan.groups.empty() ? 0 : random.Below(plan.groups.size());
  return RunGroups(graph, plan, inputs,
                   [&](size_t group, const std::vector<Lowering>& lowerings,
                       std::span<const Array> arguments) -> Result<std::vector<Array>> {
                     if (group == chosen) return RunRandomly(lowerings, arguments, random);
                     return InterpretLowering(lowerings.front().compute, arguments);
                   });
}

}  // namespace tunec::fuzz
