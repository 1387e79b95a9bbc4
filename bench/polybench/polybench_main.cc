// bench_polybench ROUNDS COMPUTE NAME=THREADS:FILE...: times one kernel in several forms, whose
// runs alternate. A FILE is `naive` (the loops as written), `auto` (tunec's first schedule, without
// trials), a schedule, or a shared object (.so) for the same kernel. A shared object has a function
//     void Run(void** arguments)
// The arguments are the tensors of COMPUTE in order, without workspaces. Prints a line of JSON for
// each form, with the milliseconds of the runs and the difference from the first form's results. If
// the second form is a shared object, elements in which the first two forms differ are omitted,
// because only rounding decides them. `undecided` is the share of these elements. A form has no
// further run after 3 seconds of run time.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autotune/best_schedule.h"
#include "bench/must.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"
#include "kernel/compile_kernel.h"
#include "runtime/kernel_run.h"
#include "runtime/thread_pool.h"
#include "support/check.h"
#include "support/file.h"

namespace tunec::bench {
namespace {

constexpr double kMostMilliseconds = 3000;  // run time of a form after which it has no further run
constexpr const char* kLowering = "direct";

// Memory that is aligned to a cache line and filled with zeros.
class Buffer {
 public:
  explicit Buffer(int64_t bytes)
      : data_(std::aligned_alloc(64, (bytes + 127) / 64 * 64), std::free), bytes_(bytes) {
    std::memset(data(), 0, bytes);
  }
  void* data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, void (*)(void*)> data_;
  int64_t bytes_;
};

double Element(const Buffer& buffer, DataType type, int64_t i) {
  if (type == DataType::kF64) return static_cast<const double*>(buffer.data())[i];
  if (type == DataType::kF32) return static_cast<const float*>(buffer.data())[i];
  return static_cast<const int32_t*>(buffer.data())[i];
}

void SetElement(Buffer& buffer, DataType type, int64_t i, double value) {
  if (type == DataType::kF64) {
    static_cast<double*>(buffer.data())[i] = value;
  } else if (type == DataType::kF32) {
    static_cast<float*>(buffer.data())[i] = static_cast<float>(value);
  } else {
    static_cast<int32_t*>(buffer.data())[i] = static_cast<int32_t>(value);
  }
}

// Returns the difference of the first two forms above which an element is undecided, relative to
// the largest magnitude in the output.
double Undecided(DataType type) {
  if (type == DataType::kF64) return 1e-10;
  return type == DataType::kF32 ? 1e-5 : 0;
}

struct Argument {
  const Tensor* tensor;
  Buffer buffer;
};

using Form = std::function<void(const std::vector<Argument>&)>;

// A scheduled kernel with its arguments and a thread pool.
class Scheduled {
 public:
  Scheduled(const Compute& compute, const Schedule& schedule, const Target& target,
            const std::vector<Argument>& all)
      : pool_(target.host.threads), run_(MakeRun(compute, schedule, target, all)) {}

  void Run() { run_.Run(pool_); }

 private:
  static KernelRun MakeRun(const Compute& compute, const Schedule& schedule, const Target& target,
                           const std::vector<Argument>& all) {
    const CompiledKernel compiled =
        Must(CompileKernel(compute, schedule, {.target = target, .loops = {ReductionOrder::kAny}}));
    TUNEC_CHECK(compiled.prepacks.empty(), "{} has constants", compute.name);
    std::vector<void*> addresses;
    for (const std::string& name : compiled.arguments) {
      const auto found = std::ranges::find(
          all, name, [](const Argument& a) -> const std::string& { return a.tensor->name; });
      addresses.push_back(found->buffer.data());
    }
    return Must(KernelRun::Make(Must(LoadKernel(compiled.image, PerfMap::kOff)),
                                std::move(addresses), target.host.threads));
  }

  ThreadPool pool_;
  KernelRun run_;
};

Schedule ScheduleOf(const Compute& compute, const std::string& file, const Target& target) {
  if (file == "naive") return {.lowering = kLowering};
  if (file != "auto") {
    Schedule schedule = Must(ParseSchedule(Must(ReadFile(file)), file));
    schedule.lowering = kLowering;
    return schedule;
  }
  return Must(BestSchedule(nullptr, {.lowerings = {{kLowering, compute}}}, {.target = target}));
}

Form SharedObject(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  TUNEC_CHECK(library != nullptr, "{}", dlerror());
  const auto run = reinterpret_cast<void (*)(void**)>(dlsym(library, "Run"));
  TUNEC_CHECK(run != nullptr, "{}", dlerror());
  return [run](const std::vector<Argument>& all) {
    std::vector<void*> arguments;
    for (const Argument& argument : all) arguments.push_back(argument.buffer.data());
    run(arguments.data());
  };
}

struct Contestant {
  std::string name;
  Form run;
  bool is_reference = false;  // the form is a shared object
  std::vector<double> milliseconds = {};
  double difference = 0;
};

class Contest {
 public:
  explicit Contest(const Compute& compute) : compute_(compute) {
    for (const Tensor& tensor : compute.tensors) {
      if (tensor.role == TensorRole::kWorkspace) continue;
      arguments_.push_back({&tensor, Buffer(StorageBytes(tensor))});
      Fill(arguments_.back());
    }
  }

  void Add(const std::string& name, int threads, const std::string& file) {
    if (file.ends_with(".so")) {
      contestants_.push_back({name, SharedObject(file), /*is_reference=*/true});
      return;
    }
    const Target target = Must(ParseCpu("native", threads));
    const auto kernel = std::make_shared<Scheduled>(compute_, ScheduleOf(compute_, file, target),
                                                    target, arguments_);
    contestants_.push_back({name, [kernel](const std::vector<Argument>&) { kernel->Run(); }});
  }

  // Runs up to `rounds` rounds and prints the results. Each form has a run before the rounds, whose
  // time is printed only if the form has no other run. Results are compared after this run.
  void Run(int rounds) {
    for (Contestant& one : contestants_) {
      Forget();
      one.milliseconds = {Time(one)};
      if (&one == &contestants_.front()) {
        Remember(expected_);
      } else {
        if (&one == &contestants_[1] && one.is_reference) Remember(second_);
        one.difference = Difference();
      }
    }
    std::vector<double> spent;
    for (Contestant& one : contestants_) {
      spent.push_back(one.milliseconds[0]);
      if (rounds > 0 && spent.back() < kMostMilliseconds) one.milliseconds.clear();
    }
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < contestants_.size(); ++i) {
        if (spent[i] >= kMostMilliseconds) continue;
        contestants_[i].milliseconds.push_back(Time(contestants_[i]));
        spent[i] += contestants_[i].milliseconds.back();
      }
    }
    const double undecided = UndecidedShare();
    for (const Contestant& one : contestants_) {
      fmt::print(
          "{{\"name\": \"{}\", \"difference\": {:.3g}, \"undecided\": {:.3g}, "
          "\"milliseconds\": [{:.4g}]}}\n",
          one.name, one.difference, undecided, fmt::join(one.milliseconds, ", "));
    }
  }

 private:
  // Fills an argument with numbers in [0, 1), or with integers in the tensor's range (0 to 100 by
  // default). Skips outputs.
  static void Fill(Argument& argument) {
    const Tensor& tensor = *argument.tensor;
    if (tensor.role == TensorRole::kOutput) return;
    const Interval range = tensor.range.value_or(Interval{0, 100});
    for (int64_t i = 0; i < StorageElements(tensor); ++i) {
      const int64_t mixed = i * 7919 % 1013;
      SetElement(argument.buffer, tensor.type, i,
                 IsFloat(tensor.type)
                     ? static_cast<double>(mixed) / 1013
                     : static_cast<double>(range.lo + mixed % (range.hi - range.lo + 1)));
    }
  }

  // Overwrites the outputs, so that no form reuses the results of another form.
  void Forget() {
    for (const Argument& argument : arguments_) {
      if (argument.tensor->role == TensorRole::kOutput) {
        std::memset(argument.buffer.data(), 0x7f, argument.buffer.bytes());
      }
    }
  }

  void Remember(std::vector<Buffer>& into) const {
    for (const Argument& argument : arguments_) {
      Buffer copy(argument.buffer.bytes());
      std::memcpy(copy.data(), argument.buffer.data(), copy.bytes());
      into.push_back(std::move(copy));
    }
  }

  double Difference() const {
    double greatest = 0;
    for (size_t a = 0; a < arguments_.size(); ++a) {
      if (arguments_[a].tensor->role != TensorRole::kOutput) continue;
      greatest = std::max(greatest, DifferenceOf(a));
    }
    return greatest;
  }

  // Returns the greatest difference of an output from that of the first form, relative to
  // Largest. Undecided elements are skipped; NaN counts as infinite.
  double DifferenceOf(size_t argument) const {
    const DataType type = arguments_[argument].tensor->type;
    const int64_t elements = StorageElements(*arguments_[argument].tensor);
    const double largest = Largest(argument);
    double most = 0;
    for (int64_t i = 0; i < elements; ++i) {
      if (IsUndecided(argument, i, largest)) continue;
      const double expected = Element(expected_[argument], type, i);
      const double off = std::abs(Element(arguments_[argument].buffer, type, i) - expected);
      most = off <= most ? most : std::isnan(off) ? INFINITY : off;
    }
    return most / largest;
  }

  // Returns the largest magnitude of the elements of an output of the first form, at least 1e-300.
  double Largest(size_t argument) const {
    const Tensor& tensor = *arguments_[argument].tensor;
    double largest = 1e-300;
    for (int64_t i = 0; i < StorageElements(tensor); ++i) {
      largest = std::max(largest, std::abs(Element(expected_[argument], tensor.type, i)));
    }
    return largest;
  }

  bool IsUndecided(size_t argument, int64_t element, double largest) const {
    if (second_.empty()) return false;
    const DataType type = arguments_[argument].tensor->type;
    const double apart = std::abs(Element(second_[argument], type, element) -
                                  Element(expected_[argument], type, element));
    return !(apart <= Undecided(type) * largest);
  }

  // Returns the share of output elements in which the first two forms differ (IsUndecided).
  double UndecidedShare() const {
    double open = 0;
    double all = 0;
    for (size_t a = 0; a < arguments_.size(); ++a) {
      const Tensor& tensor = *arguments_[a].tensor;
      if (tensor.role != TensorRole::kOutput) continue;
      const double largest = Largest(a);
      for (int64_t i = 0; i < StorageElements(tensor); ++i) {
        open += IsUndecided(a, i, largest) ? 1 : 0;
      }
      all += static_cast<double>(StorageElements(tensor));
    }
    return open / all;
  }

  double Time(const Contestant& one) {
    const auto start = std::chrono::steady_clock::now();
    one.run(arguments_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  const Compute& compute_;
  std::vector<Argument> arguments_;
  std::vector<Buffer> expected_;  // results of the first form
  std::vector<Buffer> second_;    // results of the second form
  std::vector<Contestant> contestants_;
};

int NumberIn(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

int Main(int count, char** values) {
  if (count < 4) {
    fmt::print(stderr, "usage: bench_polybench ROUNDS FILE.compute NAME=THREADS:FILE...\n");
    return 2;
  }
  const Compute compute = Must(ParseCompute(Must(ReadFile(values[2])), values[2]));
  Contest contest(compute);
  for (int i = 3; i < count; ++i) {
    const std::string argument = values[i];
    const size_t equals = argument.rfind('=');
    const size_t colon = argument.find(':', equals);
    TUNEC_CHECK(equals != std::string::npos && colon != std::string::npos,
                "{} is not NAME=THREADS:FILE", argument);
    const int threads = NumberIn(argument.substr(equals + 1, colon - equals - 1));
    contest.Add(argument.substr(0, equals), threads, argument.substr(colon + 1));
  }
  contest.Run(NumberIn(values[1]));
  return 0;
}

}  // namespace
}  // namespace tunec::bench

int main(int count, char** values) { return tunec::bench::Main(count, values); }
