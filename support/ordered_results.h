// Results that several threads compute and one thread takes in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/blocked_signals.h"

namespace tunec {

/// The results compute(0), compute(1), .... Several threads compute them in any order; one thread
/// takes them in ascending order. `compute` must be callable from several threads at once.
///
/// The destructor starts no further computation, and waits for those that are running.
template <class T>
class OrderedResults {
 public:
  /// Starts min(count, threads) threads if this is at least 2, or fewer if the system cannot start
  /// more. Without started threads, Next computes the results.
  OrderedResults(size_t count, int threads, std::function<T(size_t)> compute)
      : compute_(std::move(compute)), results_(count) {
    const size_t wanted = std::min(count, static_cast<size_t>(threads));
    if (wanted < 2) return;
    const BlockedSignals blocked;  // the program's own threads handle signals
    for (size_t t = 0; t < wanted && StartThread(); ++t) {
    }
  }
  OrderedResults(const OrderedResults&) = delete;
  OrderedResults& operator=(const OrderedResults&) = delete;
  ~OrderedResults() { stopped_ = true; }

  /// Takes the next result in order. Waits at most `limit` for started threads; returns nothing if
  /// the time is over. Throws what `compute` threw. Requires: there is a next result.
  std::optional<T> Next(std::chrono::milliseconds limit) {
    if (threads_.empty()) return compute_(taken_++);
    std::unique_lock lock(mutex_);
    Result& next = results_[taken_];
    if (!finished_.wait_for(lock, limit, [&] { return next.value || next.exception; }))
      return std::nullopt;
    ++taken_;
    if (next.exception) std::rethrow_exception(next.exception);
    return std::exchange(next.value, std::nullopt);
  }

 private:
  struct Result {
    std::optional<T> value;
    std::exception_ptr exception;
  };

  // Starts a thread that computes results. Returns false if the system cannot start a thread.
  bool StartThread() {
    try {
      threads_.emplace_back([this] { Work(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void Work() {
    for (size_t i = started_++; i < results_.size() && !stopped_; i = started_++) {
      Result result;
      try {
        result.value = compute_(i);
      } catch (...) {
        result.exception = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      results_[i] = std::move(result);
      finished_.notify_all();
    }
  }

  std::function<T(size_t)> compute_;
  std::vector<Result> results_;
  size_t taken_ = 0;
  std::atomic<size_t> started_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // guards results_
  std::condition_variable finished_;
  std::vector<std::jthread> threads_;  // last member, since the threads use the others
};

}  // namespace tunec
