#include "runtime/cold_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "support/check.h"

namespace tunec {
namespace {

constexpr size_t kAlignment = 256;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t BytesOfCopy(std::span<const size_t> bytes) {
  size_t sum = 0;
  for (const size_t argument : bytes) sum += Aligned(argument);
  return sum;
}

Result<DeviceMemory> AllocateIfThereIsRoom(Device& device, size_t bytes) {
  const std::array needs = {MemoryNeed{"copies of arguments", static_cast<int64_t>(bytes)}};
  TUNEC_RETURN_IF_ERROR(device.CheckRoom(needs));
  return device.Allocate(bytes);
}

struct Copies {
  int count = 1;
  DeviceMemory memory = {};  // memory of all copies except the first
};

// Allocates memory for all but the first of `requested` copies. While the device has no room,
// halves the number of copies. The result has at least the first copy, which needs no memory.
Result<Copies> AllocateCopies(Device& device, size_t bytes, int requested) {
  for (int count = requested; count > 1; count /= 2) {
    Result<DeviceMemory> memory =
        AllocateIfThereIsRoom(device, bytes * static_cast<size_t>(count - 1));
    if (memory) return Copies{count, *std::move(memory)};
    if (memory.error().code != ErrorCode::kResourceLimit) return std::unexpected(memory.error());
  }
  return Copies{};
}

}  // namespace

Lap ChooseLap(int64_t argument_bytes, int64_t cache_bytes, double seconds) {
  constexpr int64_t kMostCopies = 256;
  constexpr int64_t kLeastRuns = 16;
  constexpr double kSeconds = 10e-3;
  constexpr double kMostRuns = 4096;
  const auto most_runs = static_cast<int64_t>(
      seconds > 0 ? std::clamp(kSeconds / seconds, 1.0, kMostRuns) : kMostRuns);
  const int64_t requested =
      argument_bytes > 0 ? 1 + CeilDivide(2 * cache_bytes, argument_bytes) : int64_t{1};
  const int64_t copies = std::min({requested, kMostCopies, most_runs});
  const int64_t rounds = std::min(CeilDivide(kLeastRuns, copies), most_runs / copies);
  return {.copies = static_cast<int>(copies), .runs = static_cast<int>(copies * rounds)};
}

Result<ColdRuns> ColdRuns::Make(Device& device, const DeviceCall& call,
                                std::span<const size_t> bytes, Lap requested) {
  TUNEC_CHECK(bytes.size() == call.arguments.size(), "{} sizes of {} arguments", bytes.size(),
              call.arguments.size());
  ColdRuns cold;
  TUNEC_ASSIGN(Copies copies, AllocateCopies(device, BytesOfCopy(bytes), requested.copies));
  cold.memory_ = std::move(copies.memory);
  cold.lap_ = {.copies = copies.count, .runs = requested.runs / copies.count * copies.count};
  TUNEC_RETURN_IF_ERROR(cold.CopyArguments(device, call.arguments, bytes));
  std::vector<DeviceCall> calls;
  for (int run = 0; run < cold.lap_.runs; ++run) {
    calls.push_back({.code = call.code,
                     .arguments = cold.turns_[static_cast<size_t>(run % copies.count)],
                     .workspace = call.workspace});
  }
  TUNEC_ASSIGN(cold.runs_, device.Record(std::move(calls)));
  return cold;
}

Status ColdRuns::CopyArguments(Device& device, const std::vector<void*>& arguments,
                               std::span<const size_t> bytes) {
  turns_ = {arguments};
  auto* next = static_cast<std::byte*>(memory_.address);
  for (int copy = 1; copy < lap_.copies; ++copy) {
    std::vector<void*>& own = turns_.emplace_back();
    for (size_t i = 0; i < arguments.size(); ++i) {
      device.StartCopy(next, arguments[i], bytes[i]);
      own.push_back(next);
      next += Aligned(bytes[i]);
    }
  }
  return device.Synchronize();
}

Result<double> ColdRuns::Seconds(int runs) {
  const int64_t laps = CeilDivide(runs, lap_.runs);
  TUNEC_ASSIGN(const double seconds, runs_->SecondsOfAll(static_cast<int>(laps)));
  return seconds * runs / static_cast<double>(laps * lap_.runs);
}

}  // namespace tunec
