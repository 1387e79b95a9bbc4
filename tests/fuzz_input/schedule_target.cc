// A fuzz target for schedules. An input is a Compute, a line `---` and a schedule.
#include "kernel/loop_pipeline.h"
#include "polyhedral/check_elements.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

void CheckSchedule(const Compute& compute, const Schedule& schedule) {
  const Result<Schedule> again = ParseSchedule(Print(schedule), "printed.sched");
  RequireOk(again, "a schedule's text parses");
  Require(*again == schedule, "a schedule's text reads back");
  const auto kernel = RunLoopPipeline(
      compute, schedule, {.rounding = ReductionOrder::kAny, .verify = VerifyStages::kEach});
  if (!kernel) RequireTheirFault(kernel.error(), "applying");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kBetween = "\n---\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find(kBetween);
  if (end == std::string_view::npos) return -1;
  const Result<Compute> compute = ParseCompute(text.substr(0, end + 1), "input.compute");
  // compute_target.cc covers inputs without a valid Compute.
  if (!compute || !Verify(*compute) || !CheckElements(*compute)) return -1;
  const Result<Schedule> schedule =
      ParseSchedule(text.substr(end + kBetween.size()), "input.sched");
  if (schedule) {
    CheckSchedule(*compute, *schedule);
  } else {
    RequireTheirFault(schedule.error(), "reading");
  }
  return 0;
}

}  // namespace tunec::fuzz
