#include "tests/fuzz/any_size/check_any_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "compiler/sized/sized_model.h"
#include "graph/reference.h"
#include "jit/cpu/detect_cpu.h"
#include "support/random.h"
#include "tests/fuzz/any_size/open_model.h"
#include "tests/fuzz/random_values.h"
#include "tests/fuzz/run_code.h"
#include "tests/fuzz/run_schedule.h"
#include "tests/fuzz/stable_reference.h"

namespace tunec::fuzz {
namespace {

CheckResult Check(const std::string& stage, const Error& error) {
  return {IsRejection(error) ? Outcome::kRejected : Outcome::kWrong,
          fmt::format("{}: {}", stage, error.Format())};
}

std::vector<Shape> ShapesOf(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Shape> shapes;
  for (const ValueId value : values) shapes.push_back(graph.value(value).type.Shape());
  return shapes;
}

Result<std::vector<Array>> RunModel(const tunec::SizedModel& model, const Graph& exact,
                                    std::span<const Array> inputs) {
  const std::vector<Shape> shapes = ShapesOf(exact, exact.inputs());
  std::vector<const void*> sources;
  for (const Array& input : inputs) sources.push_back(input.data());
  std::vector<Array> outputs;
  std::vector<void*> targets;
  for (const ValueId value : exact.outputs()) {
    const ValueType& type = exact.value(value).type;
    outputs.push_back(Unwritten(type.type, type.Shape()));
  }
  for (Array& output : outputs) targets.push_back(output.mutable_data());
  TUNEC_RETURN_IF_ERROR(model.Run(shapes, sources, targets));
  return outputs;
}

/// Checks a run at the sizes of `exact`. Returns no value if the reference execution of `exact`
/// fails.
std::optional<CheckResult> CheckRun(const tunec::SizedModel& model, const Graph& exact,
                                    uint64_t seed) {
  const std::vector<Array> inputs = RandomInputs(exact, Values::kOrdinary, seed);
  auto expected = RunReference(exact, inputs);
  if (!expected) return {};
  const auto shapes = model.OutputShapes(ShapesOf(exact, exact.inputs()));
  if (!shapes) return Check("shapes", shapes.error());
  if (const auto expected_shapes = ShapesOf(exact, exact.outputs()); *shapes != expected_shapes) {
    return CheckResult{Outcome::kWrong,
                       fmt::format("shapes: {}, expected {}", *shapes, expected_shapes)};
  }
  const auto outputs = RunModel(model, exact, inputs);
  if (!outputs) return Check("run", outputs.error());
  OutputChecker checker(exact, inputs, *std::move(expected));
  const std::string problem = checker.Check(*outputs);
  if (problem.empty()) return CheckResult{};
  return CheckResult{Outcome::kWrong, "run: " + problem};
}

}  // namespace

SizedRuns DrawRuns(uint64_t seed, size_t dimensions) {
  Random random(StreamSeed(seed, "runs"));
  const auto size = [&] { return 1 + static_cast<int64_t>(random.Below(kGreatestSize)); };
  SizedRuns drawn;
  for (size_t d = 0; d < dimensions; ++d) {
    ListedSizes& listed = drawn.listed.emplace_back();
    for (uint64_t i = random.Below(4); i > 0; --i) listed.sizes.push_back(size());
    std::ranges::sort(listed.sizes);
    listed.sizes.erase(std::ranges::unique(listed.sizes).begin(), listed.sizes.end());
    listed.exact = listed.sizes.empty() || random.Below(2) == 0;
  }
  constexpr int kRuns = 5;
  for (int r = 0; r < kRuns; ++r) {
    Sizes& run = drawn.runs.emplace_back();
    for (const ListedSizes& listed : drawn.listed) {
      const bool near = !listed.sizes.empty() && random.Below(2) == 0;
      const int64_t drawn_size = near ? listed.sizes[random.Below(listed.sizes.size())] - 1 +
                                            static_cast<int64_t>(random.Below(3))
                                      : size();
      run.push_back(random.Below(8) == 0 ? 1 : std::max<int64_t>(1, drawn_size));
    }
  }
  return drawn;
}

CheckResult CheckAnySize(const SizedSource& source, const SizedRuns& runs, uint64_t seed,
                         const SizedSource& exact) {
  SizedOptions options;
  options.listed = runs.listed;
  options.compile.target = DetectCpu(kThreads);
  const auto model = tunec::SizedModel::Make(source, std::move(options), nullptr);
  if (!model) return Check("making", model.error());
  CheckResult rejected{Outcome::kRejected, "nothing to run"};
  bool ran = false;
  for (const Sizes& sizes : runs.runs) {
    const Result<Graph> graph = exact.graph_at(sizes);
    if (!graph) continue;
    const std::optional<CheckResult> result = CheckRun(**model, *graph, seed);
    if (!result) continue;
    if (result->outcome == Outcome::kWrong)
      return {Outcome::kWrong,
              fmt::format("{} (sizes {})", result->reason, fmt::join(sizes, ", "))};
    if (result->outcome == Outcome::kRejected) rejected = *result;
    ran |= result->outcome == Outcome::kEqual;
  }
  return ran ? CheckResult{} : rejected;
}

CheckResult CheckAnySize(uint64_t seed) {
  const SizedSource source = OpenModel(seed);
  if (source.open.empty()) return {Outcome::kRejected, "exact: there is no graph"};
  return CheckAnySize(source, DrawRuns(seed, source.dimensions.size()), seed, source);
}

}  // namespace tunec::fuzz
