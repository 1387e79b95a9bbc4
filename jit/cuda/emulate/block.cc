// Every thread of a block of several threads is a fiber. In a round, each thread runs to its next
// barrier or its end; the block is done when all threads have ended in the same round. Before a
// warp reaches its barrier, its lanes may execute any number of warp operations. Each operation
// runs when all lanes have arrived; then the lanes continue.
#include "jit/cuda/emulate/block.h"

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
#include "jit/cuda/emulate/warp_operation.h"
#include "support/check.h"

namespace tunec {
namespace {

namespace context = boost::context;

constexpr size_t kStackBytes = 128 << 10;  // a thread's private storage is at most 16 KiB
constexpr size_t kSharedAlignment = 128;

// A thread with the contexts for leaving and resuming it.
struct Thread : EmulatedThread {
  context::fiber inside;   // context of the stopped thread while others run
  context::fiber outside;  // context of the block's loop while the thread runs
  ThreadStop stop;
};

void StopAt(EmulatedThread* self, const ThreadStop& stop) {
  auto& thread = static_cast<Thread&>(*self);
  thread.stop = stop;
  thread.outside = std::move(thread.outside).resume();
}

void WaitAtBarrier(EmulatedThread* self, int32_t site) {
  StopAt(self, {.ended = false, .site = site});
}

void MeetInWarp(EmulatedThread* self, int32_t site, const WarpOperation& operation,
                uint32_t* registers) {
  StopAt(self, {.ended = false, .site = site, .operation = &operation, .registers = registers});
}

// The functions for barriers and warp operations in a block of one thread. A barrier has no effect
// there, and a warp operation ends the process.
void PassBarrier(EmulatedThread*, int32_t) {}
void MeetAlone(EmulatedThread* self, int32_t site, const WarpOperation& operation, uint32_t*) {
  TUNEC_CHECK(false, "block {}: {} {} in a block of one thread", self->block, operation.name(),
              site);
}

struct MemoryDeleter {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, MemoryDeleter>;

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
      threads_[t].meet = threads_.size() == 1 ? MeetAlone : MeetInWarp;
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
      for (size_t first = 0; first < threads_.size(); first += kWarpThreads) {
        const size_t lanes = std::min<size_t>(kWarpThreads, threads_.size() - first);
        RunWarp(std::span(threads_).subspan(first, lanes));
      }
      CheckTogether();
      if (checks_) checks_->EndInterval();
    } while (!threads_.front().stop.ended);
    EndBlock();
  }

  const std::optional<CheckedBlock>& checks() const { return checks_; }

 private:
  // Runs each lane to its next barrier or its end.
  void RunWarp(std::span<Thread> lanes) {
    do {
      for (Thread& thread : lanes) {
        if (!thread.stop.ended) thread.inside = std::move(thread.inside).resume();
        EndTurn(thread);
      }
    } while (Meet(lanes));
  }

  // Executes the warp operation at which the lanes have stopped, and returns true. Returns false if
  // no lane has stopped at one. Ends the process for the errors of DescribeDivergence.
  bool Meet(std::span<Thread> lanes) const {
    const auto is_out = [](const Thread& lane) { return lane.stop.operation == nullptr; };
    if (std::ranges::all_of(lanes, is_out)) return false;
    std::vector<ThreadStop> stops;
    std::vector<LaneRegisters> registers;
    for (const Thread& lane : lanes) {
      stops.push_back(lane.stop);
      registers.push_back(lane.stop.registers);
    }
    const std::string why = DescribeDivergence(stops);
    TUNEC_CHECK(why.empty(), "{}, block {}, warp of thread {}: {}", launch_.symbol, number_,
                lanes.front().order, why);
    stops.front().operation->Run(registers);
    for (Thread& lane : lanes) lane.stop.operation = nullptr;
    return true;
  }

  void EndTurn(const Thread& thread) {
    if (checks_) checks_->EndTurn(thread.order);
  }

  void EndBlock() const {
    if (checks_) checks_->EndBlock();
  }

  template <class Function>
  static void Start(Thread& thread, const Function& function) {
    // Later blocks of the same host thread reuse the stacks.
    thread_local context::pooled_fixedsize_stack stacks{kStackBytes};
    thread.stop.ended = false;
    thread.inside =
        context::fiber(std::allocator_arg, stacks, [&thread, &function](context::fiber&& outside) {
          thread.outside = std::move(outside);
          function(&thread);
          thread.stop.ended = true;
          return std::move(thread.outside);
        });
  }

  void CheckTogether() const {
    const Thread& first = threads_.front();
    for (const Thread& thread : threads_) {
      const bool together = thread.stop.ended == first.stop.ended &&
                            (thread.stop.ended || thread.stop.site == first.stop.site);
      // Threads that have ended reach no further barrier, so the waiting threads cannot continue.
      const bool for_ever = thread.stop.ended != first.stop.ended;
      TUNEC_CHECK(
          together, "{}, block {}: thread {} is at {}, but thread 0 at {}: {}", launch_.symbol,
          number_, &thread - threads_.data(), NameOfStop(thread.stop), NameOfStop(first.stop),
          for_ever ? "a deadlock, no thread can go on" : "all threads must reach the same barrier");
    }
  }

  const EmulatedLaunch& launch_;
  const int64_t number_;
  const Memory shared_;
  std::optional<CheckedBlock> checks_;  // present in checked mode
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
