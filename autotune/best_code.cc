#include "autotune/best_code.h"

#include <algorithm>
#include <utility>

#include "autotune/keys.h"

namespace tunec {
namespace {

// Number of cached candidates. The final timing reorders only the few that are nearly as fast as
// the best.
constexpr size_t kMostKept = 8;

}  // namespace

Status BestCode::Add(Database& database, const std::string& schedule, double seconds,
                     Artifact code) {
  const auto place = std::ranges::upper_bound(kept_, seconds, {}, &Kept::seconds);
  const auto added = kept_.insert(place, {schedule, seconds, std::move(code)});
  Status stored;
  if (added == kept_.begin()) stored = Store(database, *added);
  if (kept_.size() > kMostKept) kept_.pop_back();
  return stored;
}

Status BestCode::Settle(Database& database, const std::string& schedule) {
  const auto best = std::ranges::find(kept_, schedule, &Kept::schedule);
  if (best == kept_.end()) return {};
  TUNEC_RETURN_IF_ERROR(Store(database, *best));
  TUNEC_ASSIGN(const std::string kept, KeyOf(schedule));
  for (const std::string& key : std::exchange(stored_, {kept})) {
    if (key != kept) TUNEC_RETURN_IF_ERROR(database.DropArtifact(key));
  }
  return {};
}

Result<std::string> BestCode::KeyOf(const std::string& schedule) const {
  TUNEC_ASSIGN(const Schedule parsed, ParseSchedule(schedule, "candidate"));
  return ArtifactKey(task_, parsed, target_, accuracy_);
}

Status BestCode::Store(Database& database, const Kept& kept) {
  TUNEC_ASSIGN(const std::string key, KeyOf(kept.schedule));
  if (stored_.contains(key)) return {};
  TUNEC_RETURN_IF_ERROR(database.PutArtifact(key, kept.code));
  stored_.insert(key);
  return {};
}

}  // namespace tunec
