#include "tests/fuzz/pad/fuzz_pad.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "tests/fuzz/pad/check_pad.h"
#include "tests/fuzz/pad/shrink_pad.h"
#include "tests/fuzz/pad/sized_generator.h"
#include "tests/fuzz/reason_groups.h"

namespace tunec::fuzz {
namespace {

constexpr uint64_t kCasesPerChild = 250;
constexpr int kMostReports = 25;

PadCase MakePadCase(uint64_t seed, bool code) {
  return {.model = SizedGenerator(seed).Make(), .seed = seed, .code = code};
}

// Formats the answer as "0 2 0 reason": the outcome, the runs, the excluded runs, and the reason.
std::string AnswerOf(const PadResult& checked) {
  return fmt::format("{} {} {} {}", static_cast<int>(checked.result.outcome), checked.runs,
                     checked.excluded, OneLine(checked.result.reason));
}

PadResult ParseAnswer(const std::string& answer) {
  if (answer == kCrashed) return {{Outcome::kWrong, answer}};
  return {.result = {static_cast<Outcome>(answer[0] - '0'), answer.substr(6)},
          .runs = answer[2] - '0',
          .excluded = answer[4] - '0'};
}

PadResult CheckDisjoint(const PadCase& failing) {
  std::string answer(kCrashed);
  const bool ended = InChild(
      [&](FILE* out) {
        alarm(kSecondsPerCase);
        fmt::print(out, "{}\n", AnswerOf(CheckPad(failing)));
      },
      [&](const std::string& line) { answer = line; });
  return ParseAnswer(ended ? answer : std::string(kCrashed));
}

class PadFuzzer {
 public:
  PadFuzzer(const FuzzOptions& options, std::string folder)
      : options_(options), folder_(std::move(folder)) {
    if (options_.cases == 0) return;
    const uint64_t code = options_.code.value_or(options_.cases / 40);
    code_every_ = code == 0 ? 0 : std::max<uint64_t>(options_.cases / code, 1);
  }

  int Run() {
    const uint64_t count = RunBatches(
        options_.InBatchesOf(kCasesPerChild),
        [this](uint64_t n) { return AnswerOf(CheckPad(MakePadCase(options_.seed + n, Code(n)))); },
        [this](uint64_t n, const std::string& answer) { Record(n, ParseAnswer(answer)); });
    PrintRejections(rejections_);
    fmt::print("{} runs, {} sets of sizes excluded by conditions\n", runs_, excluded_);
    fmt::print("{} cases from seed {}, {} through machine code\n", count, options_.seed,
               with_code_);
    fmt::print("{} equal\n{} rejected\n{} wrong\n", outcomes_[0], outcomes_[1], outcomes_[2]);
    return outcomes_[2] == 0 ? 0 : 1;
  }

 private:
  bool Code(uint64_t number) const { return code_every_ > 0 && number % code_every_ == 0; }

  void Record(uint64_t number, const PadResult& checked) {
    with_code_ += Code(number) ? 1 : 0;
    outcomes_[static_cast<size_t>(checked.result.outcome)] += 1;
    runs_ += checked.runs;
    excluded_ += checked.excluded;
    const std::string& reason = checked.result.reason;
    if (checked.result.outcome == Outcome::kRejected) ++rejections_[WithoutNames(reason)];
    if (checked.result.outcome == Outcome::kWrong)
      Report(options_.seed + number, Code(number), reason);
  }

  void Report(uint64_t seed, bool code, const std::string& reason) {
    fmt::print("wrong: seed {}{}: {}\n", seed, code ? " with --code 1" : "", FirstLine(reason));
    std::fflush(stdout);
    if (++reported_ > kMostReports) return;
    const std::string stage = StageOf(reason);
    const PadCase small = ShrinkPad(MakePadCase(seed, code), [&](const PadCase& candidate) {
      const PadResult result = CheckDisjoint(candidate);
      return result.result.outcome == Outcome::kWrong && StageOf(result.result.reason) == stage;
    });
    const std::string text = Print(small);
    std::filesystem::create_directories(folder_);
    const std::string file = fmt::format("{}/pad_{}.graphs", folder_, seed);
    std::ofstream(file) << text;
    fmt::print("{}{}\nwritten to {}\n", text, FirstLine(CheckDisjoint(small).result.reason), file);
    std::fflush(stdout);
  }

  FuzzOptions options_;
  std::string folder_;
  uint64_t code_every_ = 0, with_code_ = 0;
  std::array<uint64_t, 3> outcomes_{};
  int runs_ = 0, excluded_ = 0, reported_ = 0;
  std::map<std::string, int> rejections_;
};

}  // namespace

int FuzzPad(const FuzzOptions& options, const std::string& folder) {
  return PadFuzzer(options, folder).Run();
}

}  // namespace tunec::fuzz
