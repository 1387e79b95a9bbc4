// bench_stencils ROUNDS COMPUTE NAME=FILE...: times one stencil with many time steps in several
// forms, whose runs alternate. A FILE is a schedule (`naive`: none; `automatic`: isl's scheduler),
// or a shared object with
//     void Run(const float* x, float* y, float* work)
// for the same loops. Prints a line of JSON for each form: milliseconds of every round after a
// warm-up, and the largest difference from the first form, relative to that form's largest result.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/must.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"
#include "kernel/compile_kernel.h"
#include "runtime/kernel_run.h"
#include "runtime/thread_pool.h"
#include "schedule/sketches/sketches.h"
#include "support/check.h"
#include "support/file.h"

namespace tunec::bench {
namespace {

constexpr int kThreads = 2;

class Floats {
 public:
  explicit Floats(int64_t count)
      : data_(static_cast<float*>(std::aligned_alloc(64, (count * 4 + 127) / 64 * 64)), std::free),
        count_(count) {
    std::fill(data(), data() + count, 0.0F);
  }
  float* data() { return data_.get(); }
  const float* begin() const { return data_.get(); }
  const float* end() const { return data_.get() + count_; }

 private:
  std::unique_ptr<float, void (*)(void*)> data_;
  int64_t count_;
};

using Form = std::function<void(const float* x, float* y, float* work)>;

Schedule ScheduleOf(const Compute& compute, const std::string& file, const Target& target) {
  if (file == "naive") return {.lowering = "direct"};
  if (file != "automatic") return Must(ParseSchedule(Must(ReadFile(file)), file));
  std::vector<Sketch> sketches;
  AddAffineSketches({"direct", compute}, target, sketches);
  TUNEC_CHECK(!sketches.empty(), "isl's scheduler finds nothing");
  return sketches[0].Fill(sketches[0].InitialDecisions());
}

Form SharedObject(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  TUNEC_CHECK(library != nullptr, "{}", dlerror());
  return reinterpret_cast<void (*)(const float*, float*, float*)>(dlsym(library, "Run"));
}

struct Contestant {
  std::string name;
  Form run;
  std::vector<double> milliseconds;
  double difference = 0;
};

double Difference(const Floats& a, const Floats& b) {
  double most = 0;
  double largest = 0;
  for (const float *p = a.begin(), *q = b.begin(); p != a.end(); ++p, ++q) {
    most = std::max(most, std::abs(static_cast<double>(*p) - *q));
    largest = std::max(largest, std::abs(static_cast<double>(*p)));
  }
  return most / largest;
}

class Contest {
 public:
  Contest(const Compute& compute, int64_t elements)
      : x_(elements),
        y_(elements),
        expected_(elements),
        work_(2 * elements + 64),
        compute_(compute) {
    for (int64_t i = 0; i < elements; ++i)
      x_.data()[i] = static_cast<float>(i * 7919 % 1013) / 1013;
    target_.host.threads = kThreads;
  }

  void Add(const std::string& name, const std::string& file) {
    if (file.ends_with(".so")) {
      contestants_.push_back({name, SharedObject(file)});
      return;
    }
    const CompiledKernel compiled =
        Must(CompileKernel(compute_, ScheduleOf(compute_, file, target_),
                           {.target = target_, .loops = {ReductionOrder::kAsWritten}}));
    const auto kernel = std::make_shared<KernelRun>(Must(KernelRun::Make(
        Must(LoadKernel(compiled.image, PerfMap::kOn)), {x_.data(), y_.data()}, kThreads)));
    contestants_.push_back(
        {name, [this, kernel](const float*, float*, float*) { kernel->Run(pool_); }});
  }

  void Run(int rounds) {
    for (int round = 0; round <= rounds; ++round) {
      for (Contestant& one : contestants_) {
        const double milliseconds = Time(one);
        if (round > 0) one.milliseconds.push_back(milliseconds);
        if (round > 0) continue;
        if (&one == &contestants_.front()) std::copy(y_.begin(), y_.end(), expected_.data());
        one.difference = Difference(expected_, y_);
      }
    }
    for (const Contestant& one : contestants_) {
      fmt::print("{{\"name\": \"{}\", \"difference\": {:.3g}, \"milliseconds\": [{:.4g}]}}\n",
                 one.name, one.difference, fmt::join(one.milliseconds, ", "));
    }
  }

 private:
  double Time(const Contestant& one) {
    const auto start = std::chrono::steady_clock::now();
    one.run(x_.data(), y_.data(), work_.data());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  Floats x_;
  Floats y_;
  Floats expected_;
  Floats work_;
  const Compute& compute_;
  Target target_ = Must(ParseCpu("native", kThreads));
  ThreadPool pool_{kThreads};
  std::vector<Contestant> contestants_;
};

int Main(int count, char** values) {
  if (count < 4) {
    fmt::print(stderr, "usage: bench_stencils ROUNDS FILE.compute NAME=FILE...\n");
    return 2;
  }
  const Compute compute = Must(ParseCompute(Must(ReadFile(values[2])), values[2]));
  Contest contest(compute, StorageElements(compute.tensors[TensorId(0)]));
  for (int i = 3; i < count; ++i) {
    const std::string argument = values[i];
    const size_t equals = argument.find('=');
    contest.Add(argument.substr(0, equals), argument.substr(equals + 1));
  }
  contest.Run(static_cast<int>(std::strtol(values[1], nullptr, 10)));
  return 0;
}

}  // namespace
}  // namespace tunec::bench

int main(int count, char** values) { return tunec::bench::Main(count, values); }
