#include "autotune/near_keys.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "autotune/key_parts.h"
#include "autotune/keys.h"

namespace tunec {

Result<std::vector<TuningKey>> NearKeys(const Database& database, const TuningKey& key,
                                        const std::vector<std::string>& texts) {
  std::vector<TuningKey> near;
  for (const std::string& text : texts) {
    TUNEC_ASSIGN(const std::vector<KeyUse> uses, database.UsesOf({text}));
    for (const KeyUse& use : uses) {
      const bool fits = use.schedule_version == key.schedule_version &&
                        WayOfTiming(use.policy) == WayOfTiming(key.policy) &&
                        NearDistance(use.target, key.target).has_value();
      if (!fits) continue;
      near.push_back(key);
      near.back().workload.text = text;
      near.back().target = use.target;
      near.back().policy = use.policy;
    }
  }
  std::ranges::sort(near, {}, [&](const TuningKey& other) {
    return std::make_tuple(*NearDistance(other.target, key.target), other.policy != key.policy,
                           other.workload.text != key.workload.text, other.target, other.policy);
  });
  return near;
}

}  // namespace tunec
