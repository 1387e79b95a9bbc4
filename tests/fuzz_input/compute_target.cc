// A fuzz target for texts of Computes. A text is read and verified. A valid Compute is printed,
// read again and converted into its original loops.
#include "ir/loop_nest.h"
#include "polyhedral/check_elements.h"
#include "schedule/apply.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

void CheckLoops(const Compute& compute) {
  const Result<LoopNest> nest = OriginalLoops(compute, ReductionOrder::kAny);
  if (!nest) return RequireTheirFault(nest.error(), "the original loops");
  RequireOk(Verify(*nest), "the original loops verify");
  const std::string text = Print(*nest);
  const Result<LoopNest> again = ParseLoopNest(text, "printed.nest");
  RequireOk(again, "the loops' text parses");
  if (Print(*again) != text) Finding("the loops' text reads back", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Compute> compute = ParseCompute(text, "input.compute");
  if (!compute) {
    RequireTheirFault(compute.error(), "reading");
    return 0;
  }
  if (const Status valid = Verify(*compute); !valid) {
    RequireTheirFault(valid.error(), "verifying");
    return 0;
  }
  const std::string printed = Print(*compute);
  const Result<Compute> again = ParseCompute(printed, "printed.compute");
  RequireOk(again, "a compute's text parses");
  // Texts are compared, because a NaN is not equal to itself.
  Require(Print(*again) == printed, "a compute's text reads back");
  if (const Status valid = CheckElements(*compute); !valid) {
    RequireTheirFault(valid.error(), "checking elements");
    return 0;
  }
  CheckLoops(*compute);
  return 0;
}

}  // namespace tunec::fuzz
