#include "autotune/best_code.h"

#include <algorithm>
#include <utility>

#include "autotune/keys.h"

namespace tunec {
namespace {

// Timing again reorders the few that are nearly as fast as the best.
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

Status BestCode::Store(Database& database, const std::string& schedule) {
  const auto found = std::ranges::find(kept_, schedule, &Kept::schedule);
  return found == kept_.end() ? Status() : Store(database, *found);
}

Status BestCode::Store(Database& database, Kept& kept) const {
  if (kept.stored) return {};
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(kept.schedule, "candidate"));
  const std::string key = ArtifactKey(task_, schedule, target_, accuracy_);
  TUNEC_RETURN_IF_ERROR(database.PutArtifact(key, kept.code));
  kept.stored = true;
  return {};
}

}  // namespace tunec
