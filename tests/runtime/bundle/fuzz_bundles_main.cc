// A program that tries mutated bundles (`tools/dev fuzz-bundles`).
// Usage:
//
//   fuzz_bundles SCRIPTED_CUDA N [--stale M] [--seed S] [FILE.tnc...]
//
// Tries up to N mutants with corrected hashes and up to M (default: N / 100) with stale hashes, in
// equal numbers of SampleBundle and of each FILE. Prints the outcomes. The exit code is 1 if a
// stale mutant was accepted. The address sanitizer ends the program if a mutant accesses memory
// outside its buffers.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/file.h"
#include "support/stopwatch.h"
#include "tests/runtime/bundle/sample_bundle.h"
#include "tests/runtime/bundle/try_bundles.h"

// Returns options with which excessive allocations fail, as on a machine without the memory.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace tunec::testing {
namespace {

struct Arguments {
  std::string scripted_cuda;
  uint64_t count = 0;
  uint64_t stale = 0;
  uint64_t seed = 1;
  std::vector<std::string> files;
};

Arguments Read(int argc, char** argv) {
  Arguments arguments{.scripted_cuda = argv[1], .count = std::strtoull(argv[2], nullptr, 10)};
  arguments.stale = arguments.count / 100;
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_number = (word == "--stale" || word == "--seed") && i + 1 < argc;
    if (!has_number) {
      arguments.files.emplace_back(word);
      continue;
    }
    (word == "--stale" ? arguments.stale : arguments.seed) = std::strtoull(argv[++i], nullptr, 10);
  }
  return arguments;
}

int Run(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> bundles = {{"the sample", SampleBundle()}};
  for (const std::string& path : arguments.files) {
    const Result<std::string> bytes = ReadFile(path);
    if (!bytes) {
      fmt::print(stderr, "{}\n", bytes.error().Format());
      return 2;
    }
    bundles.emplace_back(path, *bytes);
  }
  BundleToucher toucher(arguments.scripted_cuda);
  uint64_t accepted = 0;
  for (const auto& [name, bytes] : bundles) {
    const Stopwatch watch;
    const uint64_t count = arguments.count / bundles.size();
    const TriedBundles tried = TryMutants(toucher, bytes, count, arguments.seed);
    const uint64_t stale = arguments.stale / bundles.size();
    const uint64_t taken = CountStaleAccepted(bytes, stale, arguments.seed);
    fmt::print(
        "{}: {} mutants: {} rejected, {} too large to try, {} ran; {} stale, {} taken; {:.0f} s\n",
        name, count, tried.rejected, tried.too_large, tried.ran, stale, taken,
        watch.Milliseconds() / 1e3);
    std::fflush(stdout);
    accepted += taken;
  }
  return accepted == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tunec::testing

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "usage: fuzz_bundles SCRIPTED_CUDA N [--stale M] [--seed S] [FILE.tnc...]\n");
    return 2;
  }
  return tunec::testing::Run(tunec::testing::Read(argc, argv));
}
