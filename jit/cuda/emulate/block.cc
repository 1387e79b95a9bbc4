// Every thread is a fiber. A round lets each go on to its next barrier; the block is done when all
// threads have ended in the same round.
#include "jit/cuda/emulate/block.h"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

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
  bool ended = true;
};

void WaitAtBarrier(EmulatedThread* self, int32_t site) {
  auto& thread = static_cast<Thread&>(*self);
  thread.site = site;
  thread.outside = std::move(thread.outside).resume();
}

void PassBarrier(EmulatedThread*, int32_t) {}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

struct EmulatedBlock::Impl {
  explicit Impl(const PhaseLaunch& launch) : launch(launch) {
    const size_t bytes =
        (static_cast<size_t>(launch.shared_bytes) / kSharedAlignment + 1) * kSharedAlignment;
    shared.reset(std::aligned_alloc(kSharedAlignment, bytes));
    if (shared == nullptr) throw std::bad_alloc();
    const auto [x, y, z] = launch.block;
    threads.resize(static_cast<size_t>(x * y * z));
    for (size_t t = 0; t < threads.size(); ++t) {
      const auto number = static_cast<int64_t>(t);
      threads[t].number = {static_cast<int32_t>(number % x), static_cast<int32_t>(number / x % y),
                           static_cast<int32_t>(number / x / y)};
      threads[t].shared = shared.get();
      threads[t].barrier = threads.size() == 1 ? PassBarrier : WaitAtBarrier;
    }
  }

  void Start(Thread& thread, const std::function<void(EmulatedThread*)>& run) {
    thread.ended = false;
    thread.site = 0;
    thread.inside =
        context::fiber(std::allocator_arg, stacks, [&thread, &run](context::fiber&& outside) {
          thread.outside = std::move(outside);
          run(&thread);
          thread.ended = true;
          return std::move(thread.outside);
        });
  }

  // Lets each thread go on to its next barrier, or end.
  void Round() {
    for (Thread& thread : threads)
      if (!thread.ended) thread.inside = std::move(thread.inside).resume();
  }

  // Generated code cannot be unwound, so threads that wait go on alone to their ends.
  void Finish() {
    for (Thread& thread : threads) thread.barrier = PassBarrier;
    Round();
    for (Thread& thread : threads) thread.barrier = WaitAtBarrier;
  }

  Status CheckTogether(int32_t number) const {
    for (const Thread& thread : threads) {
      const Thread& first = threads.front();
      if (thread.ended == first.ended && (thread.ended || thread.site == first.site)) continue;
      return Fail(ErrorCode::kDevice,
                  "{}, block {}: thread {} is at {}, but thread 0 at {}: a barrier is for all",
                  launch.symbol, number, &thread - threads.data(), PlaceOf(thread), PlaceOf(first));
    }
    return {};
  }

  static std::string PlaceOf(const Thread& thread) {
    return thread.ended ? "its end" : fmt::format("barrier {}", thread.site);
  }

  const PhaseLaunch& launch;
  std::unique_ptr<void, Free> shared;
  context::pooled_fixedsize_stack stacks{kStackBytes};
  std::vector<Thread> threads;
};

EmulatedBlock::EmulatedBlock(const PhaseLaunch& launch) : impl_(std::make_unique<Impl>(launch)) {}
EmulatedBlock::~EmulatedBlock() = default;

Status EmulatedBlock::Run(int32_t number, const std::function<void(EmulatedThread*)>& run) {
  Impl& block = *impl_;
  std::memset(block.shared.get(), 0xff, static_cast<size_t>(block.launch.shared_bytes));
  for (Thread& thread : block.threads) thread.block = number;
  if (block.threads.size() == 1) {
    run(&block.threads.front());
    return {};
  }
  for (Thread& thread : block.threads) block.Start(thread, run);
  do {
    block.Round();
    const Status together = block.CheckTogether(number);
    if (together) continue;
    block.Finish();
    return together;
  } while (!block.threads.front().ended);
  return {};
}

}  // namespace tunec
