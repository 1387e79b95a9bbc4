// Constants that the executables of one model share: original weights, and results of weight
// preprocessing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tunec {

/// A table of constants, found by their keys (KeysOfConstants). The table does not own the
/// constants; the executables that use a constant own it together. The table is thread-safe.
class SharedConstants {
 public:
  /// Returns the data that was added last with this key. Returns null if no such data exists now.
  std::shared_ptr<const void> Find(const std::string& key) const;
  /// Adds a constant, or replaces the constant with this key.
  void Add(const std::string& key, const std::shared_ptr<const void>& data, int64_t bytes);
  /// Returns the bytes of the table's constants that are in use, each counted once.
  int64_t Bytes() const;
  /// Returns the mutex that serializes searches for constants and the making of missing constants.
  std::mutex& making() { return making_; }

 private:
  struct Entry {
    std::weak_ptr<const void> data;
    int64_t bytes = 0;
  };
  std::mutex making_;         // locked before mutex_
  mutable std::mutex mutex_;  // held for a few instructions; guards the members below
  std::map<std::string, Entry> entries_;
};

}  // namespace tunec
