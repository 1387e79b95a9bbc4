// A worker that does what the faults in its candidates' schedules say, for tests of the tuner.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "autotune/worker/worker.h"
#include "tests/autotune/fault.h"

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const tunec::Status served = tunec::ServeTuner(words, tunec::testing::PlantedFaults());
  if (served) return EXIT_SUCCESS;
  fmt::print(stderr, "faulty-worker: {}\n", served.error().Format());
  return EXIT_FAILURE;
}
