// Thread pools that models of a process can share: at most one pool for each number of threads.
#pragma once

#include <memory>

#include "runtime/thread_pool.h"

namespace tunec {

/// Returns the shared pool with this number of threads. The pool is made when none exists, and is
/// destroyed with its last owner. The function is thread-safe. A forked process gets new pools,
/// because the workers of inherited pools do not exist there. The process must not fork while
/// another thread is in this function: a call in the child could then wait forever.
std::shared_ptr<ThreadPool> SharedPool(int threads);

}  // namespace tunec
