// One pool of threads for all models of a process that want the same number of them.
#pragma once

#include <memory>

#include "runtime/thread_pool.h"

namespace tunec {

/// The pool of so many threads that all callers share. It is made when nobody has it, and ends with
/// its last owner. Thread-safe. A forked process has pools of its own: those that it was forked
/// with lack their workers. But the process must not fork while another of its threads is in here:
/// the child would wait for that thread, which it does not have.
std::shared_ptr<ThreadPool> SharedPool(int threads);

}  // namespace tunec
