#include "autotune/best_code.h"

#include <algorithm>
#include <utility>

#include "autotune/keys.h"

namespace tunec {
namespace {

// The maximum number of cached candidates. The comparison chooses among the few candidates that
// are nearly as fast as the best.
constexpr size_t kMostCached = 8;

}  // namespace

Status BestCode::Add(Database& database, const std::string& schedule, double seconds,
                     Artifact code) {
  const auto position = std::ranges::upper_bound(cached_, seconds, {}, &CachedCandidate::seconds);
  const auto added = cached_.insert(position, {schedule, seconds, std::move(code)});
  Status stored;
  if (added == cached_.begin()) stored = Store(database, *added);
  if (cached_.size() > kMostCached) cached_.pop_back();
  return stored;
}

Status BestCode::StoreBest(Database& database, const std::string& schedule) {
  const auto best = std::ranges::find(cached_, schedule, &CachedCandidate::schedule);
  if (best != cached_.end()) TUNEC_RETURN_IF_ERROR(Store(database, *best));
  TUNEC_ASSIGN(const std::string retained, KeyOf(schedule));
  for (const std::string& key : std::exchange(stored_, {retained})) {
    if (key != retained) TUNEC_RETURN_IF_ERROR(database.DropArtifact(key));
  }
  return {};
}

Result<std::string> BestCode::KeyOf(const std::string& schedule) const {
  TUNEC_ASSIGN(const Schedule parsed, ParseSchedule(schedule, "candidate"));
  return ArtifactKey(task_, parsed, target_, accuracy_);
}

Status BestCode::Store(Database& database, const CachedCandidate& retained) {
  TUNEC_ASSIGN(const std::string key, KeyOf(retained.schedule));
  if (stored_.contains(key)) return {};
  TUNEC_RETURN_IF_ERROR(database.PutArtifact(key, retained.code));
  stored_.insert(key);
  return {};
}

}  // namespace tunec
