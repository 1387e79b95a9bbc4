// The program fuzz_arithmetic. It draws products, convolutions and other kernels with sums, and
// compares the results of machine code with float64. The code may use any arithmetic that the
// accuracy mode and the machine allow.
//
// Checks run in forked child processes, so a crash or a hang counts as one wrong result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include "graph/text/graph_text.h"
#include "jit/cpu/detect_cpu.h"
#include "tests/fuzz/check_arithmetic.h"
#include "tests/fuzz/fuzz_options.h"
#include "tests/fuzz/run_schedule.h"

namespace tunec::fuzz {
namespace {

constexpr uint64_t kCasesPerChild = 100;
// Limit of one case in seconds. The limit is high, so that usual cases do not reach it on a busy
// machine.
constexpr unsigned kMostSeconds = 600;

// Returns the graph's text without lists of elements of constants, which can be very long.
std::string Head(const ContractionCase& contraction) {
  std::string head;
  std::istringstream lines(Print(contraction.graph));
  for (std::string line; std::getline(lines, line);)
    head += line.substr(0, line.find(" = [")) + "\n";
  return head;
}

class Fuzzer {
 public:
  explicit Fuzzer(const FuzzOptions& options)
      : options_(options),
        widest_(DetectCpu(kThreads).Has("avx512f") ? Widest::kAvx512 : Widest::kAvx2) {}

  int Run() {
    Batches batches = options_.InBatchesOf(kCasesPerChild);
    batches.seconds_per_case = kMostSeconds;
    const uint64_t count = RunBatches(
        batches, [this](uint64_t n) { return Answer(n); },
        [this](uint64_t n, const std::string& answer) { Record(n, answer); });
    for (const auto& [what, times] : kernels_) fmt::print("kernels {:7}: {}\n", times, what);
    fmt::print("{} contractions from seed {}\n", count, options_.seed);
    fmt::print("{} within the contract\n{} rejected\n{} wrong\n", right_, rejected_, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  ContractionCase Make(uint64_t number) const {
    return MakeContraction(options_.seed + number, widest_);
  }

  // Checks a case. Returns "OUTCOME|ENTRY|ENTRY|...|REASON". An entry is a count of kernels.
  std::string Answer(uint64_t number) const {
    const ContractionCase drawn = Make(number);
    const ArithmeticResult checked = CheckArithmetic(drawn, drawn.accuracy);
    std::string answer = fmt::format("{}", static_cast<int>(checked.result.outcome));
    for (const auto& [arithmetic, times] : checked.kernels)
      answer +=
          fmt::format("|{} {} under {} on {}", times, arithmetic, Print(drawn.accuracy), drawn.cpu);
    for (const auto& [sketch, times] : checked.sketches)
      answer += fmt::format("|{} by the sketch {}", times, sketch);
    return answer + "|" + checked.result.reason;
  }

  void Record(uint64_t number, const std::string& answer) {
    if (answer == kCrashed) return Report(number, answer);
    std::istringstream fields(answer.substr(answer.find('|') + 1));
    std::string last;
    for (std::string field; std::getline(fields, field, '|');) {
      if (!last.empty()) Count(last);
      last = field;
    }
    const auto outcome = static_cast<Outcome>(answer[0] - '0');
    if (outcome == Outcome::kEqual && !last.empty()) Count(last);
    if (outcome == Outcome::kEqual) ++right_;
    if (outcome == Outcome::kRejected) ++rejected_;
    if (outcome == Outcome::kWrong) Report(number, last);
  }

  void Count(const std::string& kernels) {
    kernels_[kernels.substr(kernels.find(' ') + 1)] += std::stoull(kernels);
  }

  void Report(uint64_t number, const std::string& reason) {
    ++wrong_;
    const ContractionCase drawn = Make(number);
    fmt::print("wrong: seed {}, {} under {} on {}: {}\n{}", drawn.seed, Name(drawn.operands),
               Print(drawn.accuracy), drawn.cpu, reason, Head(drawn));
    std::fflush(stdout);
  }

  FuzzOptions options_;
  Widest widest_;
  uint64_t right_ = 0, rejected_ = 0, wrong_ = 0;
  std::map<std::string, uint64_t> kernels_;
};

}  // namespace
}  // namespace tunec::fuzz

int main(int argc, char** argv) {
  CLI::App app("random products and convolutions under every contract, against float64");
  tunec::fuzz::FuzzOptions options;
  AddFuzzOptions(app, options, "contraction", "");
  CLI11_PARSE(app, argc, argv);
  SetLimit(options);
  return tunec::fuzz::Fuzzer(options).Run();
}
