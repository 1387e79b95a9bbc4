#include "compiler/tuning/known_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/near_keys.h"

namespace tunec {
namespace {

// Returns the use of a key by one task: one workload and its trials if a trial is correct, else
// zeros.
Result<KeyUse> UseOf(const Database& database, const TuningKey& key) {
  KeyUse use{key.target, key.policy, key.schedule_version};
  TUNEC_ASSIGN(const std::optional<TrialRecord> best, database.Best(key));
  if (!best) return use;
  TUNEC_ASSIGN(use.trials, database.CountTrials(key));
  use.workloads = 1;
  return use;
}

// Returns how another measurement key of the task (KeysByTrust) differs from the task's own key.
std::string HowEarlier(const TuningKey& earlier, const TuningKey& own) {
  if (earlier.workload.text != own.workload.text) return "before weights were known to be finite";
  return fmt::format("under another policy ({})", earlier.policy);
}

// Adds a task's trials under `keys` to `known`. The first key is the task's own.
Status Add(const Database& database, const std::vector<TuningKey>& keys, KnownTrials& known) {
  bool measured = false, predicted = false;
  for (const TuningKey& key : keys) {
    TUNEC_ASSIGN(const KeyUse use, UseOf(database, key));
    if (IsPrediction(key.policy)) {
      known.predicted += predicted ? 0 : use.workloads;
      known.predicted_trials += predicted ? 0 : use.trials;
      predicted |= use.workloads > 0;
      continue;
    }
    if (&key == &keys.front()) {
      known.tuned += use.workloads;
      known.trials += use.trials;
    } else if (!measured && use.workloads > 0) {
      known.earlier += 1;
      known.earlier_how = HowEarlier(key, keys.front());
    }
    measured = measured || use.workloads > 0;
  }
  return {};
}

int64_t CountFound(const KnownTrials& known) {
  return known.tuned + known.earlier + known.predicted;
}

// The number of groups that are tuned only under near keys, and how such a key differs.
struct NearTrials {
  int64_t groups = 0;
  KeyDifference difference;  // between one group's near key and its own key
  bool seeds = false;        // this near key is one of seeds
};

// Counts the task if near keys have correct trials. Seeds are described only if there are no other
// near keys. Requires: the keys of KeysByTrust have no trials.
Status AddNear(const Database& database, const TuningTask& task, const TuningKey& own,
               NearTrials& near) {
  TUNEC_ASSIGN(const std::vector<TuningKey> keys,
               NearKeys(database, own, KnownTexts(own, EarlierWorkloadText(task))));
  if (keys.empty()) return {};
  const auto measured_here = std::ranges::find_if_not(keys, HasSeeds);
  const TuningKey& there = measured_here == keys.end() ? keys.front() : *measured_here;
  near.groups += 1;
  near.seeds = HasSeeds(there);
  // Only targets are compared, since these trials are used in the same way under any policy.
  near.difference = Compare({there.target, own.policy, own.schedule_version},
                            {own.target, own.policy, own.schedule_version});
  return {};
}

std::string DescribeNear(const NearTrials& near, int64_t groups, bool tunes) {
  const std::string_view use = tunes        ? "measured here first"
                               : near.seeds ? "only used by a search (--trials)"
                                            : "used until it is measured here";
  if (near.difference == KeyDifference{})
    return fmt::format(
        "groups with trials of another database: {} of {}; the fastest schedule of "
        "each is {}",
        near.groups, groups, use);
  return fmt::format(
      "groups tuned for {}, not for {}: {} of {}; the fastest schedule of each is {}",
      near.difference.there, near.difference.here, near.groups, groups, use);
}

// Describes a key `there` under which more groups are tuned than under the key `here`.
std::string DescribeElsewhere(const KeyUse& there, KeyUse here, int64_t groups) {
  // Policies that differ only in the names of callers' arguments are not a difference for users.
  if (TimingMethod(there.policy) == TimingMethod(here.policy)) here.policy = there.policy;
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

std::string DescribeEarlier(const KnownTrials& known, bool tunes) {
  if (known.earlier == 0) return {};
  return fmt::format("groups measured {}: {} of {}; the fastest schedule of each is {}",
                     known.earlier_how, known.earlier, known.groups,
                     tunes ? "measured again first" : "used until it is measured again");
}

Result<KnownTrials> FindKnownTrials(const Database& database, const ModelTasks& tasks,
                                    const CompileOptions& options) {
  KnownTrials known{.groups = std::ssize(tasks.unique)};
  if (tasks.unique.empty()) return known;
  std::vector<std::string> texts;
  for (const TuningTask& task : tasks.unique) texts.push_back(WorkloadText(task));
  TUNEC_ASSIGN(const std::vector<KeyUse> uses, database.UsesOf(texts));
  std::vector<TuningKey> keys;
  NearTrials near;
  for (const TuningTask& task : tasks.unique) {
    keys = KeysByTrust(task, options.target, options.accuracy);
    const int64_t before = CountFound(known);
    TUNEC_RETURN_IF_ERROR(Add(database, keys, known));
    if (CountFound(known) == before)
      TUNEC_RETURN_IF_ERROR(AddNear(database, task, keys.front(), near));
  }
  const TuningKey& own = keys.front();
  const KeyUse here{own.target, own.policy, own.schedule_version, known.tuned, known.trials};
  const int64_t most = std::max({known.tuned, known.earlier, known.predicted, near.groups});
  const auto more = [&](const KeyUse& use) { return use.workloads > most; };
  const auto there = std::ranges::find_if(uses, more);
  if (there != uses.end()) {
    known.elsewhere = DescribeElsewhere(*there, here, known.groups);
  } else if (near.groups > 0) {
    known.elsewhere = DescribeNear(near, known.groups, options.Tunes());
  }
  return known;
}

}  // namespace tunec
