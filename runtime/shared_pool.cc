#include "runtime/shared_pool.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

namespace tunec {

std::shared_ptr<ThreadPool> SharedPool(int threads) {
  // The only thing that a process's models have in common. It owns no pool, so nothing outlives
  // its last owner but an empty entry.
  static std::mutex mutex;
  static std::map<std::pair<pid_t, int>, std::weak_ptr<ThreadPool>> pools;
  const std::lock_guard lock(mutex);
  std::weak_ptr<ThreadPool>& known = pools[{getpid(), threads}];
  if (auto pool = known.lock()) return pool;
  auto pool = std::make_shared<ThreadPool>(threads);
  known = pool;
  return pool;
}

}  // namespace tunec
