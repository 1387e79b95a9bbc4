#include "compiler/shared_packed_weights.h"

#include <algorithm>

namespace tunec {
namespace {

bool IsGone(const std::weak_ptr<const void>& user) { return user.expired(); }

}  // namespace

void SharedPackedWeights::Add(const std::string& packing, const std::shared_ptr<const void>& user) {
  const std::lock_guard lock(mutex_);
  Users& users = users_[packing];
  std::erase_if(users, IsGone);
  users.push_back(user);
}

bool SharedPackedWeights::IsInUse(const std::string& packing) const {
  const std::lock_guard lock(mutex_);
  const auto found = users_.find(packing);
  return found != users_.end() && !std::ranges::all_of(found->second, IsGone);
}

}  // namespace tunec
