// Thread pools that the models of a process share. There is one pool for each number of threads.
#pragma once

#include <memory>

#include "runtime/thread_pool.h"

namespace tunec {

/// Returns the shared pool with this number of threads. The pool is made when none exists, and is
/// destroyed with its last owner. The function is thread-safe. A forked process gets new pools,
/// because the workers of inherited pools do not exist there. The process must not fork while
/// another thread is in this function: the child would wait for a thread that it does not have.
std::shared_ptr<ThreadPool> SharedPool(int threads);

}  // namespace tunec
