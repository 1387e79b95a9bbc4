#include "compiler/weights/shared_packed_weights.h"

#include <algorithm>

namespace tunec {
namespace {

bool IsExpired(const std::weak_ptr<const void>& user) { return user.expired(); }

}  // namespace

void SharedPackedWeights::Add(const std::string& key, const std::shared_ptr<const void>& user) {
  const std::lock_guard lock(mutex_);
  Users& users = users_[key];
  std::erase_if(users, IsExpired);
  users.push_back(user);
}

bool SharedPackedWeights::IsInUse(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = users_.find(key);
  return found != users_.end() && !std::ranges::all_of(found->second, IsExpired);
}

}  // namespace tunec
