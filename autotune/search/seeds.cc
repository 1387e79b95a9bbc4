#include "autotune/search/seeds.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "autotune/key_parts.h"
#include "autotune/keys.h"

namespace tunec {
namespace {

// The parts of a target's text that make code for one GPU run on another, and mean the same.
std::vector<KeyPart> ArchitectureOf(const std::string& target) {
  constexpr std::string_view kParts[] = {"kind", "cpu", "features", "accuracy"};
  std::vector<KeyPart> parts = TakeApart(target);
  std::erase_if(parts, [&](const KeyPart& part) {
    return std::ranges::find(kParts, part.name) == std::end(kParts);
  });
  return parts;
}

TuningKey KeyOf(const KeyUse& use, const TuningKey& key) {
  TuningKey there = key;
  there.target = use.target;
  there.policy = use.policy;
  return there;
}

// The other policies that the key's own target was measured by.
std::vector<KeyUse> Measurements(std::vector<KeyUse> uses, const TuningKey& key) {
  std::erase_if(uses, [&](const KeyUse& use) {
    return IsPrediction(use.policy) || use.policy == key.policy || use.target != key.target;
  });
  std::ranges::sort(uses, {}, [&](const KeyUse& use) {
    return std::make_tuple(WayOfTiming(use.policy) != WayOfTiming(key.policy), use.policy);
  });
  return uses;
}

// The keys whose predictions are worth a look, the key's own GPU first.
std::vector<KeyUse> Predictions(std::vector<KeyUse> uses, const TuningKey& key) {
  const std::vector<KeyPart> wanted = ArchitectureOf(key.target);
  std::erase_if(uses, [&](const KeyUse& use) {
    return !IsPrediction(use.policy) || ArchitectureOf(use.target) != wanted;
  });
  std::ranges::sort(uses, {}, [&](const KeyUse& use) {
    return std::make_tuple(use.target != key.target, use.target, use.policy);
  });
  return uses;
}

// The fastest correct trials, at most `count`.
Result<std::vector<TrialRecord>> Fastest(const Database& database, const TuningKey& key,
                                         size_t count) {
  TUNEC_ASSIGN(std::vector<TrialRecord> trials, database.Trials(key));
  std::erase_if(trials, [](const TrialRecord& t) { return t.status != TrialStatus::kOk; });
  std::ranges::sort(trials, {},
                    [](const TrialRecord& t) { return std::tie(t.median_seconds, t.schedule); });
  trials.resize(std::min(count, trials.size()));
  return trials;
}

}  // namespace

Result<Seeds> FindSeeds(const Database& database, const TuningKey& key, size_t predictions) {
  Seeds seeds;
  if (IsPrediction(key.policy)) return seeds;
  TUNEC_ASSIGN(std::vector<KeyUse> uses, database.UsesOf({key.workload.text}));
  std::erase_if(uses,
                [&](const KeyUse& use) { return use.schedule_version != key.schedule_version; });
  for (const KeyUse& use : Measurements(uses, key)) {
    TUNEC_ASSIGN(std::vector<TrialRecord> fastest, Fastest(database, KeyOf(use, key), 1));
    std::ranges::move(fastest, std::back_inserter(seeds.measured));
  }
  for (const KeyUse& use : Predictions(uses, key)) {
    const size_t missing = predictions - seeds.predicted.size();
    TUNEC_ASSIGN(std::vector<TrialRecord> fastest, Fastest(database, KeyOf(use, key), missing));
    std::ranges::move(fastest, std::back_inserter(seeds.predicted));
  }
  return seeds;
}

}  // namespace tunec
