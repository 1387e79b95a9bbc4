// bench_dispatch [THREADS] [ROUNDS]: measures the cost of starting a kernel beyond its work. A
// model of many kernels with few tasks alternates with a model of one kernel with all these tasks.
// Both do the same work, so the difference divided by the number of kernels is about the cost of
// each further kernel: publishing its tasks, and the barrier after it. Prints the least and the
// median times of all rounds, divided by the number of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/must.h"
#include "runtime/executable.h"
#include "support/statistics.h"

namespace tunec::bench {
namespace {

constexpr int64_t kKernels = 200;
constexpr int kMostThreads = 64;

// Does one task. The argument is the number of dependent arithmetic steps.
void WorkTask(void* const* args, void*, void* scratch, int64_t) {
  int64_t steps = *static_cast<const int64_t*>(args[0]);
  auto value =
      static_cast<double>(steps);  // opaque to the compiler, which would compute the result
  for (; steps > 0; --steps) value = value * 0.999 + 0.001;
  *static_cast<volatile double*>(scratch) = value;
}

Executable Make(int64_t kernels, int64_t tasks, int threads) {
  const Kernel kernel{.phases = {{WorkTask, tasks}}, .scratch_bytes = sizeof(double)};
  ExecutablePlan plan{.inputs = {{"steps", DataType::kI64, {1}}}, .threads = threads};
  for (int64_t k = 0; k < kernels; ++k)
    plan.steps.push_back({"work", kernel, {ValueRef::Input(0)}});
  return Must(Executable::Make(std::move(plan)));
}

double SecondsOf(const Executable& executable, int64_t steps) {
  const void* const input = &steps;
  const auto start = std::chrono::steady_clock::now();
  const Status ran = executable.Run({&input, 1}, {});
  TUNEC_CHECK(ran.has_value(), "{}", ran.error().Format());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Report(int64_t tasks, int64_t steps, int threads, int rounds) {
  const Executable many = Make(kKernels, tasks, threads);
  const Executable one = Make(1, kKernels * tasks, threads);
  std::vector<double> of_many;
  std::vector<double> of_one;
  for (int round = 0; round < rounds; ++round) {
    of_many.push_back(SecondsOf(many, steps));
    of_one.push_back(SecondsOf(one, steps));
  }
  const auto print = [](const char* name, double kernel, double work) {
    constexpr double kEach = 1e6 / kKernels;
    fmt::print("  {} {:>8.3f} us a kernel {:>8.3f} us of work {:>7.3f} us beyond", name,
               kernel * kEach, work * kEach, (kernel - work) * kEach);
  };
  fmt::print("{:>5} tasks a kernel", tasks);
  print("least", *std::ranges::min_element(of_many), *std::ranges::min_element(of_one));
  print("median", Median(of_many), Median(of_one));
  fmt::print("\n");
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  const long threads = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2;
  const long rounds = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 200;
  if (threads < 1 || threads > tunec::bench::kMostThreads || rounds < 1) {
    fmt::print(stderr, "usage: bench_dispatch [THREADS, at most {}] [ROUNDS]\n",
               tunec::bench::kMostThreads);
    return 2;
  }
  fmt::print("{} kernels, {} threads, {} rounds\n", tunec::bench::kKernels, threads, rounds);
  for (const int64_t steps : {0, 1000})
    for (const int64_t tasks : {1, 2, 4, 16, 64})
      tunec::bench::Report(tasks, steps, static_cast<int>(threads), static_cast<int>(rounds));
}
