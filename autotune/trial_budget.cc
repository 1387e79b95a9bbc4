#include "autotune/trial_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "support/hash.h"

namespace tunec {
namespace {

// Version of the hashed text. The text omits the version of the schedule language. Trials are
// converted to a new version, so they and their charges stay valid.
constexpr int kIdentityVersion = 1;

}  // namespace

std::string ModelIdentity(const std::vector<TuningKey>& keys) {
  std::set<std::string> hashes;
  for (const TuningKey& key : keys) {
    // A length goes before each text, so that keys with different texts have different hashes.
    hashes.insert(StableHash(fmt::format("{} {}{} {}{} {}{}", kIdentityVersion, key.policy.size(),
                                         key.policy, key.target.size(), key.target,
                                         key.workload.text.size(), key.workload.text)));
  }
  std::string all;
  for (const std::string& hash : hashes) all += hash;
  return StableHash(all);
}

std::vector<int64_t> FairCharges(const std::vector<int64_t>& recorded, int64_t budget) {
  std::vector<size_t> order(recorded.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t task) { return recorded[task]; });
  std::vector<int64_t> charges(recorded.size());
  const auto tasks = static_cast<int64_t>(recorded.size());
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const int64_t share = budget / tasks + (static_cast<int64_t>(rank) < budget % tasks ? 1 : 0);
    charges[order[rank]] = std::min(recorded[order[rank]], share);
  }
  return charges;
}

TrialBudget::TrialBudget(Database& database, std::vector<TuningKey> keys, int64_t trials)
    : database_(database),
      keys_(std::move(keys)),
      model_(ModelIdentity(keys_)),
      trials_(trials),
      limit_(trials) {}

Status TrialBudget::Load(const std::vector<int64_t>& recorded) {
  TUNEC_RETURN_IF_ERROR(database_.ChargeNewModel(model_, keys_, FairCharges(recorded, trials_)));
  return Refresh();
}

Status TrialBudget::Refresh() {
  TUNEC_ASSIGN(const std::optional<int64_t> charged, database_.Charged(model_));
  spent_ = charged.value_or(0);
  return {};
}

}  // namespace tunec
