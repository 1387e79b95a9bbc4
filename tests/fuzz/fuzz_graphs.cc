// The program fuzz_graphs. Unless an option selects other checks, it runs random graphs after
// passes, fusion and lowering, some also as machine code. The results are compared with the
// reference execution.
//
// Checks run in forked child processes, so a graph that crashes or hangs is one wrong result and
// the run continues. The first 40 failing graphs are reduced in further child processes, then
// printed and written to files.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/fuzz/any_size/fuzz_any_size.h"
#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/fuzz_options.h"
#include "tests/fuzz/graph_generator.h"
#include "tests/fuzz/pad/fuzz_pad.h"
#include "tests/fuzz/reason_groups.h"
#include "tests/fuzz/shrink_graph.h"

namespace tunec::fuzz {
namespace {

constexpr uint64_t kCasesPerChild = 500;

struct Options : FuzzOptions {
  std::string folder = "build/fuzz";
  bool pad = false;
  bool any_size = false;
};

Case MakeCase(uint64_t seed, bool code) {
  GraphGenerator generator(seed);
  const Values values = generator.values();
  return {std::move(generator).Make(), DrawPlan(seed, values, code)};
}

/// Runs the check in a child process. A crash or a timeout is a wrong result.
CheckResult CheckDisjoint(const Case& failing) {
  CheckResult result{Outcome::kWrong, ""};
  const bool ended = InChild(
      [&](FILE* out) {
        alarm(kSecondsPerCase);
        const CheckResult checked = CheckGraph(failing.graph, failing.plan);
        fmt::print(out, "{} {}\n", static_cast<int>(checked.outcome), OneLine(checked.reason));
      },
      [&](const std::string& line) {
        result = {static_cast<Outcome>(line[0] - '0'), line.substr(2)};
      });
  if (!ended) return {Outcome::kWrong, std::string(kCrashed)};
  for (char& c : result.reason)
    if (c == '\x1f') c = '\n';
  return result;
}

class Fuzzer {
 public:
  explicit Fuzzer(Options options) : options_(std::move(options)) {
    if (options_.code.value_or(1) == 0 || options_.cases == 0) return;
    const uint64_t code = options_.code.value_or(std::max<uint64_t>(options_.cases / 20, 1));
    code_every_ = std::max<uint64_t>(options_.cases / code, 1);
  }

  int Run() {
    const uint64_t count = RunBatches(
        options_.InBatchesOf(kCasesPerChild), [this](uint64_t n) { return Answer(n); },
        [this](uint64_t n, const std::string& answer) { Record(n, answer); });
    for (const auto& [reason, times] : rejections_)
      fmt::print("rejected {:6}: {}\n", times, reason);
    fmt::print("{} graphs from seed {}, {} through machine code\n", count, options_.seed,
               with_code_);
    fmt::print("{} equal\n{} rejected\n{} wrong\n", equal_, rejected_, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  std::string Answer(uint64_t number) const {
    const Case drawn = MakeCase(options_.seed + number, WithCode(number));
    const CheckResult result = CheckGraph(drawn.graph, drawn.plan);
    return fmt::format("{} {}", static_cast<int>(result.outcome), OneLine(result.reason));
  }

  // Returns true if this graph also runs as machine code. A fixed share of the graphs does, or
  // every 50th graph if the number of cases is unlimited.
  bool WithCode(uint64_t number) const {
    if (options_.cases == 0) return number % 50 == 49;
    return code_every_ > 0 && number % code_every_ == 0;
  }

  void Record(uint64_t number, const std::string& answer) {
    const bool crashed = answer == kCrashed;
    const Outcome outcome = crashed ? Outcome::kWrong : static_cast<Outcome>(answer[0] - '0');
    const std::string reason = crashed ? answer : answer.substr(2);
    with_code_ += WithCode(number) ? 1 : 0;
    if (outcome == Outcome::kEqual) ++equal_;
    if (outcome == Outcome::kRejected) {
      ++rejected_;
      ++rejections_[WithoutNames(reason)];
    }
    if (outcome == Outcome::kWrong) {
      ++wrong_;
      Report(options_.seed + number, WithCode(number), reason);
    }
  }

  void Report(uint64_t seed, bool code, const std::string& reason) {
    fmt::print("wrong: seed {}{}: {}\n", seed, code ? " with --code 1" : "", FirstLine(reason));
    std::fflush(stdout);
    if (++reported_ > 40) return;  // more are not needed
    const std::string stage = StageOf(reason);
    const Case small = Shrink(MakeCase(seed, code), [&](const Case& candidate) {
      const CheckResult result = CheckDisjoint(candidate);
      return result.outcome == Outcome::kWrong && StageOf(result.reason) == stage;
    });
    const std::string text =
        fmt::format("{}\n# seed {}: {}\n{}", Print(small.plan), seed,
                    FirstLine(CheckDisjoint(small).reason), Print(small.graph));
    std::filesystem::create_directories(options_.folder);
    const std::string file = fmt::format("{}/seed_{}.graph", options_.folder, seed);
    std::ofstream(file) << text;
    fmt::print("{}written to {}\n", text, file);
    std::fflush(stdout);
  }

  Options options_;
  uint64_t code_every_ = 0;
  uint64_t equal_ = 0, rejected_ = 0, wrong_ = 0, with_code_ = 0;
  int reported_ = 0;
  std::map<std::string, int> rejections_;
};

}  // namespace
}  // namespace tunec::fuzz

int main(int argc, char** argv) {
  CLI::App app(
      "random graphs through passes, fusion, lowering and machine code, against the "
      "reference execution");
  tunec::fuzz::Options options;
  AddFuzzOptions(app, options, "graph", "20th");
  app.add_option("--out", options.folder, "folder for what fails (default build/fuzz)");
  app.add_flag("--pad", options.pad,
               "models at several sizes, padded to one, instead: results with garbage beyond the "
               "exact elements against the exact model's");
  app.add_flag("--any-size", options.any_size,
               "models compiled for any size instead, with code for sizes that are listed or not: "
               "results of runs against the model's at their sizes")
      ->excludes("--pad");
  CLI11_PARSE(app, argc, argv);
  SetLimit(options);
  if (options.pad) return tunec::fuzz::FuzzPad(options, options.folder);
  if (options.any_size) return tunec::fuzz::FuzzAnySize(options);
  return tunec::fuzz::Fuzzer(options).Run();
}
