#include "jit/cuda/emulate/checked_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace tunec {
namespace {

// The value of each byte of a copy's destination until the copy ends. A float is then NaN, a signed
// integer -1.
constexpr int kUnfilled = 0xff;

// The name of a copy's read in messages. The copy's AccessName describes the write. The source's
// tensor is unknown, so messages have only its address.
constexpr AccessName kSource{.statement = "async_copy", .tensor = nullptr};

std::string NameOf(const ThreadMarks::Stamp& stamp) {
  const std::string thread = fmt::format("thread {}", stamp.thread);
  return stamp.name == nullptr ? thread : fmt::format("{} of {}", stamp.name->statement, thread);
}

}  // namespace

// An access of one thread to consecutive bytes.
struct CheckedBlock::MemoryAccess {
  int32_t thread = 0;
  const std::byte* begin = nullptr;
  int64_t bytes = 0;
  bool writes = false;
  const AccessName* name = nullptr;
};

CheckedBlock::CheckedBlock(const EmulatedLaunch& launch, int64_t number, const void* shared)
    : launch_(launch),
      number_(number),
      shared_begin_(static_cast<const std::byte*>(shared)),
      counts_(CountedRun::Any()) {}

void CheckedBlock::Access(int32_t thread, const void* base, const void* address, int64_t bytes,
                          bool writes, int32_t site, const AccessName* name) {
  const MemoryAccess access{thread, static_cast<const std::byte*>(address), bytes, writes, name};
  if (bytes > 0) CheckBounds(access, base);
  CountRequest(access, base, site);
  Touch(access, IsShared(base == nullptr ? address : base));
}

void CheckedBlock::BeginCopy(int32_t thread, const void* to_base, const void* from_base,
                             LateCopy copy, int32_t site) {
  const MemoryAccess source{thread, copy.from, copy.read_bytes, /*writes=*/false, &kSource};
  const MemoryAccess destination{thread, copy.to, copy.bytes, /*writes=*/true, copy.name};
  if (copy.read_bytes > 0) {
    CheckBounds(source, from_base);
    CheckAligned(source, copy.bytes);
  }
  CheckBounds(destination, to_base);
  CheckAligned(destination, copy.bytes);
  CountRequest(source, from_base, site - 1);
  CountRequest(destination, to_base, site);
  // A GPU may execute the copy now, or as late as in Deliver, which therefore repeats these
  // checks.
  Touch(source, /*shared=*/false);
  Touch(destination, /*shared=*/true);
  for (int64_t i = 0; i < copy.bytes; ++i) shared_.At(copy.to + i).awaited = true;
  std::copy_n(copy.from, copy.read_bytes, copy.issued.begin());
  std::memset(copy.to, kUnfilled, static_cast<size_t>(copy.bytes));
  copies_.Issue(thread, copy);
}

void CheckedBlock::EndCopies(int32_t thread, int32_t pending) {
  for (const LateCopy& copy : copies_.Wait(thread, pending)) Deliver(thread, copy);
}

void CheckedBlock::Deliver(int32_t thread, const LateCopy& copy) {
  const MemoryAccess source{thread, copy.from, copy.read_bytes, /*writes=*/false, &kSource};
  const MemoryAccess destination{thread, copy.to, copy.bytes, /*writes=*/true, copy.name};
  if (!std::equal(copy.from, copy.from + copy.read_bytes, copy.issued.begin()))
    Stop(source, "it is written between the copy's issue and the wait for it");
  for (int64_t i = 0; i < copy.bytes; ++i) shared_.At(copy.to + i).awaited = false;
  Touch(source, /*shared=*/false);
  Touch(destination, /*shared=*/true);
  std::memset(copy.to, 0, static_cast<size_t>(copy.bytes));
  std::copy_n(copy.from, copy.read_bytes, copy.to);
}

void CheckedBlock::EndBlock() const {
  const LateCopy* left = copies_.FindUnfinished();
  if (left == nullptr) return;
  const MemoryAccess destination{shared_.Find(left->to)->write.thread, left->to, left->bytes,
                                 /*writes=*/true, left->name};
  Stop(destination, "nothing waits for that copy");
}

void CheckedBlock::EndTurn(int32_t thread) {
  const auto [x, y, z] = launch_.block;
  if (counts_) requests_.EndTurn(thread, /*last=*/thread + 1 == x * y * z);
}

void CheckedBlock::CountRequest(const MemoryAccess& access, const void* base, int32_t site) {
  if (!counts_) return;
  const bool shared = IsShared(base == nullptr ? access.begin : base);
  const auto number = reinterpret_cast<uintptr_t>(access.begin);
  const auto from_shared = number - reinterpret_cast<uintptr_t>(shared_begin_);
  const auto space = shared ? WarpRequests::Space::kShared : WarpRequests::Space::kGlobal;
  requests_.Add(access.thread, site, space, shared ? from_shared : number, access.bytes);
}

void CheckedBlock::Touch(const MemoryAccess& access, bool shared) {
  for (int64_t i = 0; i < access.bytes; ++i) {
    const std::byte* byte = access.begin + i;
    ThreadMarks& marks = shared ? shared_.At(byte) : global_.At(byte);
    if (marks.awaited) {
      Stop(access, fmt::format("{} began a copy to it, and no wait ended the copy",
                               tunec::NameOf(marks.write)));
    }
    if (shared && !access.writes && marks.write.thread < 0)
      Stop(access, "the memory was never written");
    access.writes ? Write(access, byte, marks) : Read(access, byte, marks);
  }
}

bool CheckedBlock::IsShared(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= shared_begin_ && at < shared_begin_ + launch_.shared_bytes;
}

// Returns the region that contains the base address, or nothing. Looks up each base address once
// and caches the result, since code uses few base addresses.
const std::optional<MemoryRegion>& CheckedBlock::RegionFrom(const void* base) {
  const auto [found, is_new] = regions_.try_emplace(base);
  if (is_new && IsShared(base)) {
    found->second = MemoryRegion{shared_begin_, launch_.shared_bytes, "shared memory"};
  } else if (is_new) {
    found->second = RegionOf(base);
  }
  return found->second;
}

void CheckedBlock::CheckBounds(const MemoryAccess& access, const void* base) {
  const std::optional<MemoryRegion>& region = RegionFrom(base == nullptr ? access.begin : base);
  if (!region || region->Holds(access.begin, access.bytes)) return;
  Stop(access, fmt::format("out of bounds: {} + {}, which has {} bytes", region->name,
                           access.begin - region->begin, region->bytes));
}

// Checks that the access begins at a multiple of `bytes`. A GPU reads and writes the bytes of a
// copy as a whole, so source and destination must be aligned.
void CheckedBlock::CheckAligned(const MemoryAccess& access, int64_t bytes) const {
  const int64_t offset = IsShared(access.begin) ? access.begin - shared_begin_
                                                : reinterpret_cast<intptr_t>(access.begin);
  if (offset % bytes == 0) return;
  Stop(access, fmt::format("a copy of {} bytes is not aligned", bytes));
}

void CheckedBlock::Read(const MemoryAccess& access, const std::byte* byte,
                        ThreadMarks& marks) const {
  if (marks.write.interval == interval_ && marks.write.thread != access.thread)
    StopAtRace(access, byte, tunec::NameOf(marks.write), "writes it");
  const bool first = marks.read.interval != interval_;
  marks.several_read = !first && (marks.several_read || marks.read.thread != access.thread);
  marks.read = {access.thread, interval_, access.name};
}

void CheckedBlock::Write(const MemoryAccess& access, const std::byte* byte,
                         ThreadMarks& marks) const {
  if (marks.write.interval == interval_ && marks.write.thread != access.thread)
    StopAtRace(access, byte, tunec::NameOf(marks.write), "writes it, too");
  const bool others_read = marks.several_read || marks.read.thread != access.thread;
  if (marks.read.interval == interval_ && others_read) {
    const bool other = marks.read.thread != access.thread;
    StopAtRace(access, byte, other ? tunec::NameOf(marks.read) : "another thread", "reads it");
  }
  marks.write = {access.thread, interval_, access.name};
}

void CheckedBlock::StopAtRace(const MemoryAccess& access, const std::byte* byte,
                              const std::string& who, std::string_view does) const {
  Stop(access,
       fmt::format("a race at {}: {} {}, and no barrier is between", NameOf(byte), who, does));
}

void CheckedBlock::Stop(const MemoryAccess& access, const std::string& why) const {
  const AccessName name = access.name == nullptr ? AccessName() : *access.name;
  const std::string statement = name.statement == nullptr ? "" : fmt::format("{} ", name.statement);
  CheckFailed(
      __FILE__, __LINE__, "a kernel does what a GPU can do",
      fmt::format("{}, block {}, thread {}: {}{} {} bytes {}at {}: {}", launch_.symbol, number_,
                  access.thread, statement, access.writes ? "writes" : "reads", access.bytes,
                  name.tensor == nullptr ? "" : fmt::format("of {} ", name.tensor),
                  NameOf(access.begin), why));
}

std::string CheckedBlock::NameOf(const void* address) const {
  if (!IsShared(address)) return DescribeAddress(address);
  return fmt::format("shared memory + {}", static_cast<const std::byte*>(address) - shared_begin_);
}

void CheckEmulatedAccess(EmulatedThread* thread, const void* base, const void* address,
                         int64_t bytes, int32_t writes, int32_t site, const AccessName* name) {
  thread->checks->Access(thread->order, base, address, bytes, writes != 0, site, name);
}

void BeginEmulatedCopy(EmulatedThread* thread, const void* to_base, void* to, const void* from_base,
                       const void* from, int64_t bytes, int32_t read_bytes, int32_t site,
                       const AccessName* name) {
  const LateCopy copy{.to = static_cast<std::byte*>(to),
                      .from = static_cast<const std::byte*>(from),
                      .bytes = bytes,
                      .read_bytes = read_bytes,
                      .name = name};
  thread->checks->BeginCopy(thread->order, to_base, from_base, copy, site);
}

void CommitEmulatedCopies(EmulatedThread* thread) { thread->checks->CommitCopies(thread->order); }

void WaitForEmulatedCopies(EmulatedThread* thread, int32_t pending) {
  thread->checks->EndCopies(thread->order, pending);
}

}  // namespace tunec
