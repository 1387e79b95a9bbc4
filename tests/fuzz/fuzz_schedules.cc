// The program fuzz_schedules. It applies random schedules to random small Computes. Legal schedules
// must give the interpreter's result, and some also as machine code. Rejected schedules are
// interpreted too, unless the proof of legality gives up. The report says how many of these give
// right results.
//
// Each check runs in a forked child process, so a crash or a hang is one wrong result. The first
// failing cases are printed with a reduced schedule.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "ir/interpret/interpret.h"
#include "ir/tile_intrinsic.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "kernel/run_once.h"
#include "tests/fuzz/fuzz_options.h"
#include "tests/programs/random_program.h"
#include "tests/schedule/random_schedule.h"
#include "tests/schedule/try_schedule.h"

namespace tunec::fuzz {
namespace {

using test::Fate;
using test::ScheduleChecker;
using test::Trial;

constexpr uint64_t kCasesPerChild = 200;
constexpr int kMostSteps = 14;
constexpr int kThreads = 2;
constexpr int kMostReported = 20;

struct Case {
  Compute compute;
  Schedule schedule;
};

Case MakeCase(uint64_t seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  Compute compute = test::RandomProgram(random);
  const int length = 1 + static_cast<int>(random() % kMostSteps);
  Schedule schedule = test::RandomSchedule(compute, length, random);
  return {std::move(compute), std::move(schedule)};
}

// The machine that runs the code: this machine, or a GPU that this machine emulates.
class Machine {
 public:
  explicit Machine(Target target) : target_(std::move(target)) {}

  // Runs a nest. If the target lacks a feature, or a GPU has no code for the nest, the nest is
  // interpreted and `missing` gets the reason.
  Result<std::vector<Array>> Run(const LoopNest& nest, const std::vector<Array>& arguments) {
    // The machine may lack an instruction of the nest.
    const std::vector<std::string> features = MissingFeatures(nest, target_);
    if (!features.empty()) return Interpreted(nest, arguments, features.front());
    static ThreadPool pool(kThreads);
    auto outputs = CompileAndRun(nest, arguments, target_, pool);
    const bool lacks = !outputs && (outputs.error().code == ErrorCode::kUnsupported ||
                                    outputs.error().code == ErrorCode::kResourceLimit);
    return lacks && target_.device ? Interpreted(nest, arguments, outputs.error().message)
                                   : std::move(outputs);
  }
  const std::string& missing() const { return missing_; }

 private:
  Result<std::vector<Array>> Interpreted(const LoopNest& nest, const std::vector<Array>& arguments,
                                         std::string missing) {
    missing_ = std::move(missing);
    return Interpret(nest, arguments, Precision::kNative);
  }

  const Target target_;
  std::string missing_;
};

Trial Check(const Case& drawn, const Target* code) {
  const auto replayed = ParseSchedule(Print(drawn.schedule), "replay");
  if (!replayed || *replayed != drawn.schedule) return {Fate::kWrong, "its text reads differently"};
  if (code == nullptr) return test::TrySchedule(ScheduleChecker(drawn.compute), drawn.schedule, {});
  Machine machine(*code);
  Trial trial = test::TrySchedule(ScheduleChecker(drawn.compute), drawn.schedule,
                                  [&](const LoopNest& nest, const std::vector<Array>& arguments) {
                                    return machine.Run(nest, arguments);
                                  });
  if (trial.fate == Fate::kEqual) trial.reason = machine.missing();
  return trial;
}

class Fuzzer {
 public:
  Fuzzer(FuzzOptions options, Target target) : options_(options), target_(std::move(target)) {
    if (options_.code == 0) return;
    const uint64_t code = options_.code.value_or(std::max<uint64_t>(options_.cases / 10, 1));
    code_every_ = std::max<uint64_t>(options_.cases / code, 1);
    if (options_.cases == 0) code_every_ = 10;
  }

  int Run() {
    const uint64_t count = RunBatches(
        options_.InBatchesOf(kCasesPerChild), [this](uint64_t n) { return Answer(n); },
        [this](uint64_t n, const std::string& answer) { Record(n, answer); });
    fmt::print("{} schedules from seed {}, {} through machine code\n", count, options_.seed,
               with_code_);
    for (const auto& [what, times] : missing_)
      fmt::print("{} times no code, but the interpreter: {}\n", times, what);
    fmt::print(
        "{} of the rejected, forced through, were wrong; {} were right in the orders tried\n",
        rejected_, conservative_);
    fmt::print("{} equal\n{} rejected\n{} wrong\n", equal_, rejected_ + conservative_, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  std::string Answer(uint64_t number) const {
    const Trial trial = Check(MakeCase(options_.seed + number), CodeOf(WithCode(number)));
    return fmt::format("{} {}", static_cast<int>(trial.fate), trial.reason);
  }

  const Target* CodeOf(bool code) const { return code ? &target_ : nullptr; }

  bool WithCode(uint64_t number) const { return code_every_ > 0 && number % code_every_ == 0; }

  void Record(uint64_t number, const std::string& answer) {
    const bool crashed = answer == kCrashed;
    const Fate fate = crashed ? Fate::kWrong : static_cast<Fate>(answer[0] - '0');
    if (fate == Fate::kEqual) ++equal_;
    if (fate == Fate::kEqual && WithCode(number)) RecordCode(answer.substr(2));
    if (fate == Fate::kRejected) ++rejected_;
    if (fate == Fate::kConservative) ++conservative_;
    if (fate == Fate::kWrong) {
      ++wrong_;
      Report(options_.seed + number, WithCode(number), crashed ? answer : answer.substr(2));
    }
  }

  void RecordCode(const std::string& missing) {
    if (missing.empty()) {
      ++with_code_;
    } else {
      ++missing_[missing];
    }
  }

  bool IsWrong(const Case& drawn, bool code) const {
    bool wrong = true;
    const bool ended = InChild(
        [&](FILE* out) {
          alarm(kSecondsPerCase);
          fmt::print(out, "{}\n", static_cast<int>(Check(drawn, CodeOf(code)).fate));
        },
        [&](const std::string& line) { wrong = static_cast<Fate>(line[0] - '0') == Fate::kWrong; });
    return wrong || !ended;
  }

  static void Erase(Schedule& schedule, size_t step) {
    const auto erase = [](auto& steps, size_t at) {
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const size_t rewriting = schedule.compute_steps.size();
    if (step < rewriting) return erase(schedule.compute_steps, step);
    erase(schedule.loop_steps, step - rewriting);
  }

  // Tries to remove each step once. A step is removed if the other steps still apply and the case
  // still fails.
  Case Shrink(Case drawn, bool code) const {
    for (size_t i = drawn.schedule.StepCount(); i-- > 0;) {
      Case smaller = drawn;
      Erase(smaller.schedule, i);
      const bool applies =
          DraftSchedule(smaller.compute, smaller.schedule, test::AnyRounding()).has_value();
      if (applies && IsWrong(smaller, code)) drawn = std::move(smaller);
    }
    return drawn;
  }

  void Report(uint64_t seed, bool code, const std::string& reason) {
    fmt::print("wrong: seed {}{}: {}\n", seed, code ? " with --code 1" : "", reason);
    std::fflush(stdout);  // the following code may crash as the child did
    if (++reported_ <= kMostReported) {
      const Case small = Shrink(MakeCase(seed), code);
      fmt::print("{}{}", Print(small.compute), Print(small.schedule));
      std::fflush(stdout);
    }
  }

  FuzzOptions options_;
  Target target_;
  std::map<std::string, uint64_t> missing_;  // number of cases without code, for each reason
  uint64_t code_every_ = 0;
  uint64_t equal_ = 0, rejected_ = 0, conservative_ = 0, wrong_ = 0, with_code_ = 0;
  int reported_ = 0;
};

Result<Target> TargetNamed(const std::string& name, const std::string& arch) {
  Target target = DetectCpu(kThreads);
  if (name == "cpu") {
    return target.Has("avx512f") ? ParseCpu("native,+amx-emulated", kThreads) : target;
  }
  TUNEC_ASSIGN(target.device, CudaAccelerator(arch));
  target.device->features.emplace(kEmulated);
  target.device->features.emplace(kChecked);
  return target;
}

}  // namespace
}  // namespace tunec::fuzz

int main(int argc, char** argv) {
  CLI::App app("random schedules on small computes, against the interpreter");
  tunec::fuzz::FuzzOptions options;
  AddFuzzOptions(app, options, "schedule", "10th");
  std::string name = "cpu";
  std::string arch = "sm_90a";
  app.add_option("--target", name,
                 "of the machine code: cpu, its AMX emulated; or cuda, which is emulated")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--arch", arch, "of the cuda that is emulated");
  CLI11_PARSE(app, argc, argv);
  SetLimit(options);
  const auto target = tunec::fuzz::TargetNamed(name, arch);
  if (!target) {
    fmt::print(stderr, "error: {}\n", target.error().message);
    return 2;
  }
  return tunec::fuzz::Fuzzer(options, *target).Run();
}
