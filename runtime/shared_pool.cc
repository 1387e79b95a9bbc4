#include "runtime/shared_pool.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

namespace tunec {

namespace {

// By process and number of threads. The only thing that a process's models have in common. It owns
// no pool, so nothing outlives its last owner but an entry, which goes with the next pool.
class KnownPools {
 public:
  std::shared_ptr<ThreadPool> Find(int threads) {
    const std::lock_guard lock(mutex_);
    const auto found = pools_.find({getpid(), threads});
    return found == pools_.end() ? nullptr : found->second.lock();
  }
  // The one that is known, where another thread was faster; else this one, known from now on.
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
  static KnownPools known;
  if (auto pool = known.Find(threads)) return pool;
  // Threads start and end while nobody has to wait for the lock.
  const auto made = std::make_shared<ThreadPool>(threads);
  return known.Agree(made, threads);
}

}  // namespace tunec
