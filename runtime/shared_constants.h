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
/// constants: a constant is freed with the last executable that uses it. The table is thread-safe.
class SharedConstants {
 public:
  /// Returns the constant, or null if no executable has it.
  std::shared_ptr<const void> Find(const std::string& key) const;
  /// Adds a constant, which Find returns as long as an executable has it.
  void Add(const std::string& key, const std::shared_ptr<const void>& data, int64_t bytes);
  /// Returns the bytes of all constants in use, each counted once.
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
