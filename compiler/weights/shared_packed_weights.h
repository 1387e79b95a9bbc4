// Weights that the executables of one model share if the model is compiled for several sizes or
// layouts.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/shared_constants.h"

namespace tunec {

/// Constants of the executables, and the storage orders in which their weights are packed. A
/// schedule of another executable can use a weight that is already packed. The object does not own
/// the constants. All functions may be called from several threads.
class SharedPackedWeights {
 public:
  const std::shared_ptr<SharedConstants>& constants() const { return constants_; }

  /// Records that a packed weight exists as long as `user` is alive. `key` names the weight and
  /// its storage order.
  void Add(const std::string& key, const std::shared_ptr<const void>& user);
  bool IsInUse(const std::string& key) const;

 private:
  using Users = std::vector<std::weak_ptr<const void>>;
  const std::shared_ptr<SharedConstants> constants_ = std::make_shared<SharedConstants>();
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, Users> users_;
};

}  // namespace tunec
