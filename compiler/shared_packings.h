// What the executables of one model hold together when it is compiled for several sizes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/shared_constants.h"

namespace tunec {

/// Their constants, and in which orders weights are packed, so that a schedule for another size
/// may take one of these. It keeps nothing alive. May be used from several threads.
class SharedPackings {
 public:
  const std::shared_ptr<SharedConstants>& constants() const { return constants_; }

  /// As long as the user lives, somebody has a weight in this order. `packing` says which weight.
  void Add(const std::string& packing, const std::shared_ptr<const void>& user);
  bool IsInUse(const std::string& packing) const;

 private:
  using Users = std::vector<std::weak_ptr<const void>>;
  const std::shared_ptr<SharedConstants> constants_ = std::make_shared<SharedConstants>();
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Users> users_;
};

}  // namespace tunec
