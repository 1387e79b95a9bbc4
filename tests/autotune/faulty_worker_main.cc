// A worker program for tests of the tuner. It causes the faults that the schedules of
// candidates name. It also has the device of a second target, on which the third run of each kernel
// fails.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "autotune/worker/worker.h"
#include "tests/autotune/fault.h"
#include "tests/kernel/second_target/interpreting_device.h"
#include "tests/kernel/second_target/printing_generator.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const tunec::RegisteredGenerator generator(tunec::second_target::MakePrintingGenerator());
  tunec::second_target::Paper paper{.failing_run = 3};
  const tunec::RegisteredDriver driver(tunec::second_target::DriverOf(paper));
  const tunec::Status served = tunec::ServeTuner(words, tunec::testing::PlantedFaults());
  if (served) return EXIT_SUCCESS;
  fmt::print(stderr, "faulty-worker: {}\n", served.error().Format());
  return EXIT_FAILURE;
}
