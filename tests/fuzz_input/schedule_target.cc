// The text of a Compute, a line `---`, and the text of a schedule, which is applied to it.
#include "ir/loop_nest.h"
#include "polyhedral/check_elements.h"
#include "schedule/apply.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

/// A schedule may stage in registers what loops index, and is then compiled with memory of the
/// thread in their place: the verifier says so, and it is no finding.
void CheckLoops(const LoopNest& nest) {
  const Status valid = Verify(nest);
  if (valid || valid.error().message.find(": register ") != std::string::npos) return;
  Finding("the scheduled loops verify", valid.error().Format());
}

void CheckSchedule(const Compute& compute, const Schedule& schedule) {
  const Result<Schedule> again = ParseSchedule(Print(schedule), "printed.sched");
  RequireOk(again, "a schedule's text parses");
  Require(*again == schedule, "a schedule's text reads back");
  const Result<ScheduledKernel> kernel = ApplySchedule(compute, schedule, ReductionOrder::kAny);
  if (!kernel) return RequireTheirFault(kernel.error(), "applying");
  CheckLoops(kernel->nest);
  for (const LoopNest& nest : kernel->prepack) CheckLoops(nest);
}

}  // namespace
}  // namespace tunec::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tunec;
  constexpr std::string_view kBetween = "\n---\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find(kBetween);
  if (end == std::string_view::npos) return -1;
  const Result<Compute> compute = ParseCompute(text.substr(0, end + 1), "input.compute");
  // What the target compute is for.
  if (!compute || !Verify(*compute) || !CheckElements(*compute)) return -1;
  const Result<Schedule> schedule =
      ParseSchedule(text.substr(end + kBetween.size()), "input.sched");
  if (schedule) {
    fuzz::CheckSchedule(*compute, *schedule);
  } else {
    fuzz::RequireTheirFault(schedule.error(), "reading");
  }
  return 0;
}
