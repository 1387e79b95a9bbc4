#include "runtime/shared_pool.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

namespace tunec {

namespace {

// The table of thread pools, by process and number of threads. The table owns no pool: when the
// last owner of a pool is destroyed, only an empty entry remains until the next pool is made.
class KnownPools {
 public:
  std::shared_ptr<ThreadPool> Find(int threads) {
    const std::lock_guard lock(mutex_);
    const auto found = pools_.find({getpid(), threads});
    return found == pools_.end() ? nullptr : found->second.lock();
  }
  // Returns the known pool if another thread was faster; otherwise stores and returns `made`.
  std::shared_ptr<ThreadPool> Agree(const std::shared_ptr<ThreadPool>& made, int threads) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pools_, [](const auto& known) { return known.second.expired(); });
    std::weak_ptr<ThreadPool>& known = pools_[{getpid(), threads}];
    if (auto pool = known.lock()) return pool;
    known = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<pid_t, int>, std::weak_ptr<ThreadPool>> pools_;
};

}  // namespace

std::shared_ptr<ThreadPool> SharedPool(int threads) {
  // Never destroyed: tuning in the background may use it during the end of the process.
  static auto& known = *new KnownPools;
  if (auto pool = known.Find(threads)) return pool;
  // The lock is not held while threads start and end, so no caller waits for the threads of another
  // caller's pool.
  const auto made = std::make_shared<ThreadPool>(threads);
  return known.Agree(made, threads);
}

}  // namespace tunec
