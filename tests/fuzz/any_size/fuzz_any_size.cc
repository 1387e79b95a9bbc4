#include "tests/fuzz/any_size/fuzz_any_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "tests/fuzz/any_size/check_any_size.h"
#include "tests/fuzz/any_size/open_model.h"
#include "tests/fuzz/reason_groups.h"

namespace tunec::fuzz {
namespace {

constexpr uint64_t kModelsPerChild = 50;

std::string Describe(uint64_t seed) {
  const SizedSource source = OpenModel(seed);
  std::string text;
  for (const ListedSizes& listed : DrawRuns(seed, source.dimensions.size()).listed)
    text +=
        fmt::format("listed {}{}; ", fmt::join(listed.sizes, ","), listed.exact ? "" : " and less");
  return source.named ? fmt::format("{}\n{}", text, Print(*source.named)) : text;
}

struct OutcomeCounts {
  std::array<uint64_t, 3> outcomes{};
  std::map<std::string, int> rejections;
};

void Record(uint64_t seed, const std::string& answer, OutcomeCounts& found) {
  const bool crashed = answer == kCrashed;
  const Outcome outcome = crashed ? Outcome::kWrong : static_cast<Outcome>(answer[0] - '0');
  const std::string reason = crashed ? answer : answer.substr(2);
  found.outcomes[static_cast<size_t>(outcome)] += 1;
  if (outcome == Outcome::kRejected) ++found.rejections[WithoutNames(FirstLine(reason))];
  if (outcome != Outcome::kWrong) return;
  fmt::print("wrong: seed {}: {}\n{}\n", seed, FirstLine(reason), Describe(seed));
  std::fflush(stdout);
}

}  // namespace

int FuzzAnySize(const FuzzOptions& options) {
  OutcomeCounts found;
  const uint64_t count = RunBatches(
      options.InBatchesOf(kModelsPerChild),
      [&](uint64_t n) {
        const CheckResult checked = CheckAnySize(options.seed + n);
        return fmt::format("{} {}", static_cast<int>(checked.outcome), OneLine(checked.reason));
      },
      [&](uint64_t n, const std::string& answer) { Record(options.seed + n, answer, found); });
  PrintRejections(found.rejections);
  fmt::print("{} models from seed {}\n", count, options.seed);
  fmt::print("{} equal\n{} rejected\n{} wrong\n", found.outcomes[0], found.outcomes[1],
             found.outcomes[2]);
  return found.outcomes[2] == 0 ? 0 : 1;
}

}  // namespace tunec::fuzz
