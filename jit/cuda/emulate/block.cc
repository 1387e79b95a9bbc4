// Every thread is a fiber. A round lets each go on to its next barrier; the block is done when all
// threads have ended in the same round. Warps have their round one after the other: their threads
// meet in shuffles on the way.
#include "jit/cuda/emulate/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/cuda/emulate/checked_block.h"
#include "jit/cuda/emulate/checked_launch.h"
#include "jit/cuda/emulate/warp_shuffle.h"
#include "support/check.h"

namespace tunec {
namespace {

namespace context = boost::context;

constexpr size_t kStackBytes = 128 << 10;  // a thread's own storage is at most 16 KiB
constexpr size_t kSharedAlignment = 128;

// A thread with what it takes to leave it and to come back.
struct Thread : EmulatedThread {
  context::fiber inside;   // where it stopped, while others run
  context::fiber outside;  // the block's loop, while it runs
  int32_t site = 0;        // of the barrier that it waits at
  WarpShuffle meeting;     // that it waits in
  bool ended = true;
};

void WaitAtBarrier(EmulatedThread* self, int32_t site) {
  auto& thread = static_cast<Thread&>(*self);
  thread.site = site;
  thread.outside = std::move(thread.outside).resume();
}

uint32_t WaitInShuffle(EmulatedThread* self, int32_t site, uint32_t members, uint32_t value,
                       uint32_t distance) {
  auto& thread = static_cast<Thread&>(*self);
  thread.meeting = {site, members, value, distance};
  thread.outside = std::move(thread.outside).resume();
  return thread.meeting.value;
}

// Of a block of one thread.
void PassBarrier(EmulatedThread*, int32_t) {}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory SharedMemory(int64_t bytes) {
  const size_t whole = (static_cast<size_t>(bytes) / kSharedAlignment + 1) * kSharedAlignment;
  Memory memory(std::aligned_alloc(kSharedAlignment, whole));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory.get(), 0xff, whole);  // NaN
  return memory;
}

class Block {
 public:
  Block(const EmulatedLaunch& launch, int64_t number)
      : launch_(launch), number_(number), shared_(SharedMemory(launch.shared_bytes)) {
    const auto [x, y, z] = launch.block;
    if (launch.checked != 0) checks_.emplace(launch, number, shared_.get());
    threads_.resize(static_cast<size_t>(x * y * z));
    for (size_t t = 0; t < threads_.size(); ++t) {
      const auto order = static_cast<int64_t>(t);
      threads_[t].number = {static_cast<int32_t>(order % x), static_cast<int32_t>(order / x % y),
                            static_cast<int32_t>(order / x / y)};
      threads_[t].block = static_cast<int32_t>(number);
      threads_[t].shared = shared_.get();
      threads_[t].order = static_cast<int32_t>(order);
      threads_[t].checks = checks_ ? &*checks_ : nullptr;
      threads_[t].barrier = threads_.size() == 1 ? PassBarrier : WaitAtBarrier;
      threads_[t].shuffle = WaitInShuffle;
    }
  }

  template <class Function>
  void Run(const Function& function) {
    if (threads_.size() == 1) {
      function(&threads_.front());
      EndTurn(threads_.front());
      return EndBlock();
    }
    for (Thread& thread : threads_) Start(thread, function);
    do {
      for (size_t first = 0; first < threads_.size(); first += kWarpLanes) {
        const size_t lanes = std::min(kWarpLanes, threads_.size() - first);
        RunWarp(std::span(threads_).subspan(first, lanes));
      }
      CheckTogether();
      if (checks_) checks_->EndInterval();
    } while (!threads_.front().ended);
    EndBlock();
  }

  const std::optional<CheckedBlock>& checks() const { return checks_; }

 private:
  // To the next barrier of each lane.
  void RunWarp(std::span<Thread> lanes) {
    do {
      for (Thread& thread : lanes) {
        if (!thread.ended) thread.inside = std::move(thread.inside).resume();
        EndTurn(thread);
      }
    } while (Shuffle(lanes));
  }

  // Whether the lanes have met in a shuffle, and go on.
  bool Shuffle(std::span<Thread> lanes) const {
    std::vector<WarpShuffle> meeting;
    for (Thread& lane : lanes) meeting.push_back(std::exchange(lane.meeting, {}));
    const std::string why = WhyDivergent(meeting);
    TUNEC_CHECK(why.empty(), "{}, block {}, warp of thread {}: {}", launch_.symbol, number_,
                lanes.front().order, why);
    Exchange(meeting);
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane].meeting.value = meeting[lane].value;
    return meeting.front().site != 0;
  }

  void EndTurn(const Thread& thread) {
    if (checks_) checks_->EndTurn(thread.order);
  }

  void EndBlock() const {
    if (checks_) checks_->EndBlock();
  }

  template <class Function>
  static void Start(Thread& thread, const Function& function) {
    // Stacks are used again by later blocks of this thread of the host.
    thread_local context::pooled_fixedsize_stack stacks{kStackBytes};
    thread.ended = false;
    thread.inside =
        context::fiber(std::allocator_arg, stacks, [&thread, &function](context::fiber&& outside) {
          thread.outside = std::move(outside);
          function(&thread);
          thread.ended = true;
          return std::move(thread.outside);
        });
  }

  void CheckTogether() const {
    const Thread& first = threads_.front();
    for (const Thread& thread : threads_) {
      const bool together =
          thread.ended == first.ended && (thread.ended || thread.site == first.site);
      // Threads that have ended come to no barrier any more, so none of the others can go on.
      const bool for_ever = thread.ended != first.ended;
      TUNEC_CHECK(together, "{}, block {}: thread {} is at {}, but thread 0 at {}: {}",
                  launch_.symbol, number_, &thread - threads_.data(), PlaceOf(thread),
                  PlaceOf(first),
                  for_ever ? "a deadlock, no thread can go on" : "a barrier is for all");
    }
  }

  static std::string PlaceOf(const Thread& thread) {
    return thread.ended ? "its end" : fmt::format("barrier {}", thread.site);
  }

  const EmulatedLaunch& launch_;
  const int64_t number_;
  const Memory shared_;
  std::optional<CheckedBlock> checks_;  // in checked mode
  std::vector<Thread> threads_;
};

}  // namespace

void RunEmulatedBlock(const EmulatedLaunch* launch, EmulatedFunction function,
                      void* const* arguments, void* workspace, int64_t block) {
  Block running(*launch, block);
  running.Run([&](EmulatedThread* thread) { function(arguments, workspace, thread, /*first=*/0); });
  if (!running.checks()) return;
  CheckOtherBlocks(*launch, arguments, workspace, block, running.checks()->global());
  CountedRun::Add(launch->symbol, running.checks()->counts());
}

}  // namespace tunec
