// The program tunec-worker. It measures candidates for a tuner, or one stored case again.
#include "tools/worker_program.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/keys.h"
#include "autotune/measure/measure_time.h"
#include "autotune/worker/case.h"
#include "autotune/worker/worker.h"
#include "ir/allocate_array.h"
#include "support/file.h"
#include "tools/terminal/standard_streams.h"

namespace tunec {
namespace {

constexpr std::string_view kUsage =
    "usage: tunec-worker --repeat FILE   measure the case in FILE again, in the foreground\n"
    "       tunec-worker --serve [--memory BYTES] [--parent PID]\n"
    "                                    serve a tuner on standard input (started by tunec)\n";

int Report(const Error& error) {
  fmt::print(stderr, "tunec-worker: {}\n", error.Format());
  return EXIT_FAILURE;
}

int Repeat(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text) return Report(text.error());
  const Result<Case> failing = ParseCase(*text, path);
  if (!failing) return Report(failing.error());
  fmt::print("was: {}\n", failing->note);
  std::fflush(stdout);
  const Result<Measurement> now = RepeatCase(*failing);
  if (!now) return Report(now.error());
  fmt::print("now: {}", TrialStatusName(now->status));
  if (!now->message.empty()) fmt::print(": {}", now->message);
  if (now->accuracy_error) fmt::print("; e = {:.3g}", *now->accuracy_error);
  const std::string_view how = PredictsTimes(failing->workload.target) ? "predicted " : "";
  if (!now->samples.empty()) fmt::print("; {}{:.3f} us", how, Median(now->samples) * 1e6);
  fmt::print("\n");
  return now->status == TrialStatus::kOk ? EXIT_SUCCESS : EXIT_FAILURE;
}

int Serve(const std::vector<std::string_view>& words) {
  const Status served = ServeTuner(words);
  return served ? EXIT_SUCCESS : Report(served.error());
}

}  // namespace
int RunWorker(int argc, char** argv) {
  ReserveStandardStreams();
  IgnoreFileSizeSignal();
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "--repeat") {
      const int exit_code = Repeat(std::string(words[1]));
      if (exit_code != EXIT_SUCCESS || !HasLostStandardOutput()) return exit_code;
      std::fputs("tunec-worker: error: cannot write to standard output\n", stderr);
      return 2;
    }
    if (!words.empty() && words[0] == "--serve") return Serve(words);
  } catch (const AllocationFailure& failure) {
    std::fprintf(stderr, "tunec-worker: error: %s\n", failure.what());
    return EXIT_FAILURE;
  } catch (const std::bad_alloc&) {
    std::fputs("tunec-worker: error: not enough memory\n", stderr);
    return EXIT_FAILURE;
  }
  fmt::print(stderr, "{}", kUsage);
  return 2;
}

}  // namespace tunec
