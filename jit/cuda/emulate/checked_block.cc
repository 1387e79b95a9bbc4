#include "jit/cuda/emulate/checked_block.h"

#include <fmt/format.h>

#include "support/check.h"

namespace tunec {

// One access.
struct CheckedBlock::Place {
  int32_t thread = 0;
  const std::byte* begin = nullptr;
  int64_t bytes = 0;
  bool writes = false;
};

CheckedBlock::CheckedBlock(const EmulatedLaunch& launch, int64_t number, const void* shared)
    : launch_(launch),
      number_(number),
      shared_begin_(static_cast<const std::byte*>(shared)),
      counts_(CountedRun::Any()) {}

void CheckedBlock::Access(int32_t thread, const void* base, const void* address, int64_t bytes,
                          bool writes, int32_t site) {
  const Place place{thread, static_cast<const std::byte*>(address), bytes, writes};
  const bool shared = IsShared(base == nullptr ? address : base);
  if (bytes > 0) CheckBounds(place, base);
  if (counts_) {
    const auto number = reinterpret_cast<uintptr_t>(address);
    const auto from_shared = number - reinterpret_cast<uintptr_t>(shared_begin_);
    const auto space = shared ? WarpRequests::Space::kShared : WarpRequests::Space::kGlobal;
    requests_.Add(thread, site, space, shared ? from_shared : number, bytes);
  }
  for (int64_t i = 0; i < bytes; ++i) {
    const std::byte* byte = place.begin + i;
    ThreadMarks& marks = shared ? shared_.At(byte) : global_.At(byte);
    if (shared && !writes && marks.write.thread < 0) Stop(place, "nobody wrote that");
    writes ? Write(place, byte, marks) : Read(place, byte, marks);
  }
}

void CheckedBlock::EndTurn(int32_t thread) {
  const auto [x, y, z] = launch_.block;
  if (counts_) requests_.EndTurn(thread, /*last=*/thread + 1 == x * y * z);
}

bool CheckedBlock::IsShared(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= shared_begin_ && at < shared_begin_ + launch_.shared_bytes;
}

// Remembered, for code sets out from few addresses.
const std::optional<MemoryRegion>& CheckedBlock::RegionFrom(const void* base) {
  const auto [found, is_new] = regions_.try_emplace(base);
  if (is_new && IsShared(base)) {
    found->second = MemoryRegion{shared_begin_, launch_.shared_bytes, "shared memory"};
  } else if (is_new) {
    found->second = RegionOf(base);
  }
  return found->second;
}

void CheckedBlock::CheckBounds(const Place& place, const void* base) {
  const std::optional<MemoryRegion>& region = RegionFrom(base == nullptr ? place.begin : base);
  if (!region || region->Holds(place.begin, place.bytes)) return;
  Stop(place, fmt::format("out of bounds: {} + {}, which has {} bytes", region->name,
                          place.begin - region->begin, region->bytes));
}

void CheckedBlock::Read(const Place& place, const std::byte* byte, ThreadMarks& marks) const {
  if (marks.write.interval == interval_ && marks.write.thread != place.thread) {
    Stop(place, fmt::format("a race at {}: thread {} writes it, and no barrier is between",
                            NameOf(byte), marks.write.thread));
  }
  const bool first = marks.read.interval != interval_;
  marks.several_read = !first && (marks.several_read || marks.read.thread != place.thread);
  marks.read = {place.thread, interval_};
}

void CheckedBlock::Write(const Place& place, const std::byte* byte, ThreadMarks& marks) const {
  if (marks.write.interval == interval_ && marks.write.thread != place.thread) {
    Stop(place, fmt::format("a race at {}: thread {} writes it, too, and no barrier is between",
                            NameOf(byte), marks.write.thread));
  }
  const bool others_read = marks.several_read || marks.read.thread != place.thread;
  if (marks.read.interval == interval_ && others_read) {
    const std::string who = marks.read.thread == place.thread
                                ? "another thread"
                                : fmt::format("thread {}", marks.read.thread);
    Stop(place,
         fmt::format("a race at {}: {} reads it, and no barrier is between", NameOf(byte), who));
  }
  marks.write = {place.thread, interval_};
}

void CheckedBlock::Stop(const Place& place, const std::string& why) const {
  CheckFailed(__FILE__, __LINE__, "a kernel does what a GPU can do",
              fmt::format("{}, block {}, thread {}: {} {} bytes at {}: {}", launch_.symbol, number_,
                          place.thread, place.writes ? "writes" : "reads", place.bytes,
                          NameOf(place.begin), why));
}

std::string CheckedBlock::NameOf(const void* address) const {
  if (!IsShared(address)) return PlaceOf(address);
  return fmt::format("shared memory + {}", static_cast<const std::byte*>(address) - shared_begin_);
}

void CheckEmulatedAccess(EmulatedThread* thread, const void* base, const void* address,
                         int64_t bytes, int32_t writes, int32_t site) {
  thread->checks->Access(thread->order, base, address, bytes, writes != 0, site);
}

}  // namespace tunec
