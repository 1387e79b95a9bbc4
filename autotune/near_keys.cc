#include "autotune/near_keys.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "autotune/key_parts.h"
#include "autotune/keys.h"

namespace tunec {

std::vector<std::string> KnownTexts(const TuningKey& key,
                                    const std::optional<std::string>& earlier) {
  std::vector<std::string> texts = {key.workload.text};
  if (earlier) texts.push_back(*earlier);
  return texts;
}

Result<std::vector<TuningKey>> FindOtherKeys(const Database& database, const TuningKey& key,
                                             const std::vector<std::string>& texts) {
  std::vector<TuningKey> others;
  for (const std::string& text : texts) {
    TUNEC_ASSIGN(const std::vector<KeyUse> uses, database.UsesOf({text}));
    for (const KeyUse& use : uses) {
      TuningKey other = key;
      other.workload.text = text;
      other.target = use.target;
      other.policy = use.policy;
      if (use.schedule_version == key.schedule_version && other != key)
        others.push_back(std::move(other));
    }
  }
  return others;
}

std::vector<TuningKey> SelectNearKeys(std::vector<TuningKey> others, const TuningKey& key) {
  // Trials of the same target are near if they are seeds.
  const auto distance = [&](const TuningKey& other) -> std::optional<int> {
    if (other.target != key.target) return NearDistance(other.target, key.target);
    return HasSeeds(other) ? std::optional(0) : std::nullopt;
  };
  std::erase_if(others, [&](const TuningKey& other) {
    return IsPrediction(other.policy) != IsPrediction(key.policy) || !distance(other);
  });
  std::ranges::sort(others, {}, [&](const TuningKey& other) {
    return std::make_tuple(*distance(other), TimingMethod(other.policy) != TimingMethod(key.policy),
                           other.policy != key.policy, other.workload.text != key.workload.text,
                           other.target, other.policy);
  });
  return others;
}

Result<std::vector<TuningKey>> NearKeys(const Database& database, const TuningKey& key,
                                        const std::vector<std::string>& texts) {
  TUNEC_ASSIGN(std::vector<TuningKey> others, FindOtherKeys(database, key, texts));
  return SelectNearKeys(std::move(others), key);
}

}  // namespace tunec
