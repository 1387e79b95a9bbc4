#include "jit/cuda/emulate/late_copies.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tunec {

void LateCopies::Commit(int32_t thread) {
  Thread& of = threads_[thread];
  of.groups.push_back(std::exchange(of.open, {}));
}

std::vector<LateCopy> LateCopies::Wait(int32_t thread, int32_t pending) {
  Thread& of = threads_[thread];
  std::vector<LateCopy> due;
  while (std::ssize(of.groups) > pending) {
    std::ranges::move(of.groups.front(), std::back_inserter(due));
    of.groups.pop_front();
  }
  return due;
}

const LateCopy* LateCopies::FindUnfinished() const {
  for (const auto& [number, thread] : threads_) {
    if (!thread.open.empty()) return &thread.open.front();
    for (const std::vector<LateCopy>& group : thread.groups)
      if (!group.empty()) return &group.front();
  }
  return nullptr;
}

}  // namespace tunec
