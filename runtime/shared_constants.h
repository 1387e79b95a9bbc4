// Constants that the executables of one model hold together: weights as they lie, and what
// prologues made of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tunec {

/// Finds bytes by what they are. It keeps none alive: they go with the last executable that has
/// them. May be used from several threads.
class SharedConstants {
 public:
  /// Null: nobody has them.
  std::shared_ptr<const void> Find(const std::string& key) const;
  /// From now on Find gives these, as long as somebody has them.
  void Add(const std::string& key, const std::shared_ptr<const void>& data, int64_t bytes);
  /// Of all that somebody has now, each once.
  int64_t Bytes() const;
  /// Held by who looks for what there is and makes the rest.
  std::mutex& making() { return making_; }

 private:
  struct Entry {
    std::weak_ptr<const void> data;
    int64_t bytes = 0;
  };
  std::mutex making_;         // taken before the other one
  mutable std::mutex mutex_;  // held for a few instructions: guards what follows
  std::map<std::string, Entry> entries_;
};

}  // namespace tunec
