// fuzz_schedules: random schedules over all steps on random small Computes. What the dependences
// allow must give the interpreter's result, some of it as machine code too; what they refuse is
// forced through the interpreter, to say how often a refusal was needed.
//
// The checks run in a forked child, so that a case that crashes or hangs is one wrong result. What
// fails is printed with the steps that it needs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "autotune/run_kernel.h"
#include "jit/detect_cpu.h"
#include "tests/fuzz/in_child.h"
#include "tests/schedule/random_program.h"
#include "tests/schedule/random_schedule.h"
#include "tests/schedule/try_schedule.h"

namespace tunec::fuzz {
namespace {

using test::Fate;
using test::Judge;
using test::Trial;

constexpr unsigned kSecondsPerCase = 60;
constexpr uint64_t kCasesPerChild = 200;
constexpr int kMostSteps = 14;
constexpr int kThreads = 2;
constexpr int kMostReported = 20;

struct Options {
  uint64_t schedules = 0;
  uint64_t seed = 1;
  std::optional<uint64_t> code;
  double seconds = 0;  // 0: no limit
};

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

Result<std::vector<Array>> RunCode(const LoopNest& nest, const std::vector<Array>& arguments) {
  static const Target target = DetectCpu(kThreads);
  static ThreadPool pool(kThreads);
  return CompileAndRun(nest, arguments, target, pool);
}

Trial Check(const Case& drawn, bool code) {
  const auto replayed = ParseSchedule(Print(drawn.schedule), "replay");
  if (!replayed || *replayed != drawn.schedule) return {Fate::kWrong, "its text reads differently"};
  return test::TrySchedule(Judge(drawn.compute), drawn.schedule,
                           code ? Judge::Runner(RunCode) : Judge::Runner());
}

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(options) {
    if (options_.code == 0) return;
    const uint64_t code = options_.code.value_or(std::max<uint64_t>(options_.schedules / 10, 1));
    code_every_ = std::max<uint64_t>(options_.schedules / code, 1);
    if (options_.schedules == 0) code_every_ = 10;
  }

  int Run() {
    uint64_t next = 0;
    while (!IsDone(next)) next = RunChild(next);
    fmt::print("seeds {} to {}, {} through machine code\n", options_.seed, options_.seed + next - 1,
               with_code_);
    fmt::print("{} of the refused, forced through, were wrong; {} were right in the orders tried\n",
               refused_, conservative_);
    fmt::print("{} equal\n{} refused\n{} wrong\n", equal_, refused_ + conservative_, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  bool IsDone(uint64_t next) const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (options_.seconds > 0 && passed.count() >= options_.seconds) return true;
    return options_.schedules > 0 && next >= options_.schedules;
  }

  bool WithCode(uint64_t number) const { return code_every_ > 0 && number % code_every_ == 0; }

  // The number of the next case.
  uint64_t RunChild(uint64_t first) {
    uint64_t begun = first, ended = first;
    const bool orderly = InChild(
        [&](FILE* out) {
          for (uint64_t n = first; n < first + kCasesPerChild && !IsDone(n); ++n) {
            fmt::print(out, "begin\n");
            std::fflush(out);
            alarm(kSecondsPerCase);
            const Trial trial = Check(MakeCase(options_.seed + n), WithCode(n));
            fmt::print(out, "{} {}\n", static_cast<int>(trial.fate), OneLine(trial.reason));
          }
        },
        [&](const std::string& line) {
          if (line == "begin") {
            ++begun;
          } else {
            Record(ended++, static_cast<Fate>(line[0] - '0'), line.substr(2));
          }
        });
    if (!orderly && ended < begun) Record(ended, Fate::kWrong, "crashed or hung");
    return std::max(begun, first + 1);
  }

  void Record(uint64_t number, Fate fate, const std::string& reason) {
    if (fate == Fate::kEqual) ++equal_;
    if (fate == Fate::kEqual && WithCode(number)) ++with_code_;
    if (fate == Fate::kRefused) ++refused_;
    if (fate == Fate::kConservative) ++conservative_;
    if (fate == Fate::kWrong) {
      ++wrong_;
      Report(options_.seed + number, WithCode(number), reason);
    }
  }

  static bool IsWrong(const Case& drawn, bool code) {
    bool wrong = true;
    const bool ended = InChild(
        [&](FILE* out) {
          alarm(kSecondsPerCase);
          fmt::print(out, "{}\n", static_cast<int>(Check(drawn, code).fate));
        },
        [&](const std::string& line) { wrong = static_cast<Fate>(line[0] - '0') == Fate::kWrong; });
    return wrong || !ended;
  }

  // Without the steps that it does not need. Steps that fail for lack of others say nothing.
  static Case Shrink(Case drawn, bool code) {
    for (size_t i = drawn.schedule.steps.size(); i-- > 0;) {
      Case smaller = drawn;
      smaller.schedule.steps.erase(smaller.schedule.steps.begin() + static_cast<std::ptrdiff_t>(i));
      const bool applies =
          DraftSchedule(smaller.compute, smaller.schedule, ReductionOrder::kAny).has_value();
      if (applies && IsWrong(smaller, code)) drawn = std::move(smaller);
    }
    return drawn;
  }

  void Report(uint64_t seed, bool code, const std::string& reason) {
    fmt::print("wrong: seed {}{}: {}\n", seed, code ? " with --code 1" : "", reason);
    if (++reported_ <= kMostReported) {
      const Case small = Shrink(MakeCase(seed), code);
      fmt::print("{}{}", Print(small.compute), Print(small.schedule));
    }
    std::fflush(stdout);
  }

  Options options_;
  uint64_t code_every_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t equal_ = 0, refused_ = 0, conservative_ = 0, wrong_ = 0, with_code_ = 0;
  int reported_ = 0;
};

}  // namespace
}  // namespace tunec::fuzz

int main(int argc, char** argv) {
  CLI::App app("random schedules on small computes, against the interpreter");
  tunec::fuzz::Options options;
  app.add_option("schedules", options.schedules, "how many; 0: until the time is up");
  app.add_option("--seed", options.seed, "of the first schedule; each next has the next");
  app.add_option("--code", options.code, "how many go through machine code too (default: a 10th)");
  app.add_option("--seconds", options.seconds, "stop after this time");
  CLI11_PARSE(app, argc, argv);
  if (options.schedules == 0 && options.seconds == 0) options.seconds = 10;
  return tunec::fuzz::Fuzzer(options).Run();
}
