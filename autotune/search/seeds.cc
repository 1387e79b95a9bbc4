#include "autotune/search/seeds.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/near_keys.h"

namespace tunec {
namespace {

// The maximum number of near keys with a seed. A shared database may have keys of many hosts, and
// each seed costs a trial.
constexpr size_t kMostNear = 2;

// Returns the parts of a target's text that identify a GPU's architecture, and the accuracy. GPUs
// with equal parts run the same code with the same results.
std::vector<KeyPart> ArchitectureOf(const std::string& target) {
  constexpr std::string_view kParts[] = {"kind", "cpu", "features", "accuracy"};
  std::vector<KeyPart> parts = SplitTargetText(target);
  std::erase_if(parts, [&](const KeyPart& part) {
    return std::ranges::find(kParts, part.name) == std::end(kParts);
  });
  return parts;
}

// Returns the other keys of the key's own target, except keys of seeds. If either key is one of
// predictions, both must have the same policy. Keys with the key's method of timing come first.
std::vector<TuningKey> Measurements(std::vector<TuningKey> keys, const TuningKey& key) {
  std::erase_if(keys, [&](const TuningKey& other) {
    const bool predicted = IsPrediction(key.policy) || IsPrediction(other.policy);
    return other.target != key.target || HasSeeds(other) ||
           (predicted && other.policy != key.policy);
  });
  std::ranges::sort(keys, {}, [&](const TuningKey& other) {
    return std::make_tuple(TimingMethod(other.policy) != TimingMethod(key.policy),
                           other.workload.text != key.workload.text, other.policy);
  });
  return keys;
}

// Returns the keys of predictions for GPUs of the same architecture, the key's own GPU first. The
// result is empty if `key` is one of predictions itself.
std::vector<TuningKey> Predictions(std::vector<TuningKey> keys, const TuningKey& key) {
  const std::vector<KeyPart> architecture = ArchitectureOf(key.target);
  std::erase_if(keys, [&](const TuningKey& other) {
    return IsPrediction(key.policy) || !IsPrediction(other.policy) ||
           ArchitectureOf(other.target) != architecture;
  });
  std::ranges::sort(keys, {}, [&](const TuningKey& other) {
    return std::make_tuple(other.target != key.target, other.workload.text != key.workload.text,
                           other.target, other.policy);
  });
  return keys;
}

// Returns the fastest correct trials, at most `count`.
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

Result<Seeds> FindSeeds(const Database& database, const TuningKey& key, size_t predictions,
                        const std::optional<std::string>& earlier_text) {
  Seeds seeds;
  TUNEC_ASSIGN(const std::vector<TuningKey> others,
               FindOtherKeys(database, key, KnownTexts(key, earlier_text)));
  for (const TuningKey& other : Measurements(others, key)) {
    TUNEC_ASSIGN(std::vector<TrialRecord> fastest, Fastest(database, other, 1));
    std::ranges::move(fastest, std::back_inserter(seeds.measured));
  }
  std::vector<TuningKey> near = SelectNearKeys(others, key);
  if (near.size() > kMostNear) near.resize(kMostNear);
  for (const TuningKey& other : near) {
    TUNEC_ASSIGN(std::vector<TrialRecord> fastest, Fastest(database, other, 1));
    std::ranges::move(fastest, std::back_inserter(seeds.measured));
  }
  for (const TuningKey& other : Predictions(others, key)) {
    const size_t missing = predictions - seeds.predicted.size();
    TUNEC_ASSIGN(std::vector<TrialRecord> fastest, Fastest(database, other, missing));
    std::ranges::move(fastest, std::back_inserter(seeds.predicted));
  }
  return seeds;
}

}  // namespace tunec
