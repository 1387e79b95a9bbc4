#include "runtime/shared_constants.h"

namespace tunec {

std::shared_ptr<const void> SharedConstants::Find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.data.lock();
}

void SharedConstants::Add(const std::string& key, const std::shared_ptr<const void>& data,
                          int64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return entry.second.data.expired(); });
  entries_[key] = {data, bytes};
}

int64_t SharedConstants::Bytes() const {
  const std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [key, entry] : entries_)
    if (!entry.data.expired()) bytes += entry.bytes;
  return bytes;
}

}  // namespace tunec
