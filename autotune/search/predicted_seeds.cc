#include "autotune/search/predicted_seeds.h"

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

// The keys whose predictions are worth a look, the key's own GPU first.
std::vector<KeyUse> Choose(std::vector<KeyUse> uses, const TuningKey& key) {
  const std::vector<KeyPart> wanted = ArchitectureOf(key.target);
  std::erase_if(uses, [&](const KeyUse& use) {
    return !IsPrediction(use.policy) || use.schedule_version != key.schedule_version ||
           ArchitectureOf(use.target) != wanted;
  });
  std::ranges::sort(uses, {}, [&](const KeyUse& use) {
    return std::make_tuple(use.target != key.target, use.target, use.policy);
  });
  return uses;
}

}  // namespace

Result<std::vector<TrialRecord>> PredictedSeeds(const Database& database, const TuningKey& key,
                                                size_t count) {
  std::vector<TrialRecord> seeds;
  if (IsPrediction(key.policy)) return seeds;
  TUNEC_ASSIGN(std::vector<KeyUse> uses, database.UsesOf({key.workload.text}));
  for (const KeyUse& use : Choose(std::move(uses), key)) {
    TuningKey there = key;
    there.target = use.target;
    there.policy = use.policy;
    TUNEC_ASSIGN(std::vector<TrialRecord> trials, database.Trials(there));
    std::erase_if(trials, [](const TrialRecord& t) { return t.status != TrialStatus::kOk; });
    std::ranges::sort(trials, {},
                      [](const TrialRecord& t) { return std::tie(t.median_seconds, t.schedule); });
    const size_t taken = std::min(count - seeds.size(), trials.size());
    std::move(trials.begin(), trials.begin() + static_cast<ptrdiff_t>(taken),
              std::back_inserter(seeds));
  }
  return seeds;
}

}  // namespace tunec
