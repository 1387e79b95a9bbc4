#include "compiler/known_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "autotune/key_parts.h"
#include "autotune/keys.h"

namespace tunec {
namespace {

bool Same(const KeyUse& a, const KeyUse& b) {
  return a.target == b.target && a.policy == b.policy && a.schedule_version == b.schedule_version;
}

// By the key that most of the groups are tuned under.
std::string DescribeElsewhere(const KeyUse& there, const KeyUse& here, int64_t groups) {
  const KeyDifference difference = Compare(there, here);
  return fmt::format("groups tuned for {}: {} of {}; for {}: {}", difference.there, there.workloads,
                     groups, difference.here,
                     here.workloads == 0 ? "none" : fmt::format("{}", here.workloads));
}

}  // namespace

std::string Describe(const KnownTrials& known) {
  if (known.tuned == 0) return fmt::format("groups tuned: none of {}", known.groups);
  return fmt::format("groups tuned: {} of {} ({} trial{})", known.tuned, known.groups, known.trials,
                     known.trials == 1 ? "" : "s");
}

Result<KnownTrials> FindKnownTrials(const Database& database, const Tasks& tasks,
                                    const CompileOptions& options) {
  KnownTrials known{.groups = std::ssize(tasks.unique)};
  if (tasks.unique.empty()) return known;
  std::vector<std::string> texts;
  for (const TuningTask& task : tasks.unique) texts.push_back(WorkloadText(task));
  const TuningKey key = MakeTuningKey(tasks.unique.front(), options.target, options.accuracy);
  KeyUse here{key.target, key.policy, key.schedule_version};
  TUNEC_ASSIGN(const std::vector<KeyUse> uses, database.UsesOf(texts));
  for (const KeyUse& use : uses) {
    if (Same(use, here)) here = use;
  }
  known.tuned = here.workloads;
  known.trials = here.trials;
  const auto more = [&](const KeyUse& use) { return use.workloads > here.workloads; };
  const auto there = std::ranges::find_if(uses, more);
  if (there != uses.end()) known.elsewhere = DescribeElsewhere(*there, here, known.groups);
  return known;
}

}  // namespace tunec
