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

// Without workloads where there is none.
KeyUse UseOf(const TuningKey& key, const std::vector<KeyUse>& uses) {
  const KeyUse none{key.target, key.policy, key.schedule_version};
  const auto found = std::ranges::find_if(uses, [&](const KeyUse& use) { return Same(use, none); });
  return found == uses.end() ? none : *found;
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
  const auto trials = [](int64_t count) {
    return fmt::format("({} trial{})", count, count == 1 ? "" : "s");
  };
  std::string text = fmt::format("groups tuned: none of {}", known.groups);
  if (known.tuned > 0)
    text =
        fmt::format("groups tuned: {} of {} {}", known.tuned, known.groups, trials(known.trials));
  if (known.predicted > 0)
    text +=
        fmt::format("; by predicted times: {} {}", known.predicted, trials(known.predicted_trials));
  return text;
}

Result<KnownTrials> FindKnownTrials(const Database& database, const Tasks& tasks,
                                    const CompileOptions& options) {
  KnownTrials known{.groups = std::ssize(tasks.unique)};
  if (tasks.unique.empty()) return known;
  std::vector<std::string> texts;
  for (const TuningTask& task : tasks.unique) texts.push_back(WorkloadText(task));
  TUNEC_ASSIGN(const std::vector<KeyUse> uses, database.UsesOf(texts));
  KeyUse here;
  int64_t most = 0;  // groups of one of the keys that are used here
  for (const TuningKey& key : KeysByTrust(tasks.unique.front(), options.target, options.accuracy)) {
    const KeyUse use = UseOf(key, uses);
    most = std::max(most, use.workloads);
    if (IsPrediction(key.policy)) {
      known.predicted = use.workloads;
      known.predicted_trials = use.trials;
    } else {
      here = use;
    }
  }
  known.tuned = here.workloads;
  known.trials = here.trials;
  const auto more = [&](const KeyUse& use) { return use.workloads > most; };
  const auto there = std::ranges::find_if(uses, more);
  if (there != uses.end()) known.elsewhere = DescribeElsewhere(*there, here, known.groups);
  return known;
}

}  // namespace tunec
