#include "jit/cuda/emulate/warp_requests.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "ir/loop_nest.h"

namespace tunec {
namespace {

constexpr auto kWarp = static_cast<int32_t>(kWarpThreads);
constexpr uint64_t kSectorBytes = 32;
constexpr uint64_t kBankBytes = 4;
constexpr size_t kBanks = 32;

struct CountedRuns {
  std::mutex mutex;
  std::set<CountedRun*> runs;
};

CountedRuns& Now() {
  static CountedRuns counting;
  return counting;
}

}  // namespace

EmulatedCounts& EmulatedCounts::operator+=(const EmulatedCounts& other) {
  global_requests += other.global_requests;
  global_sectors += other.global_sectors;
  shared_requests += other.shared_requests;
  bank_conflicts += other.bank_conflicts;
  return *this;
}

CountedRun::CountedRun() {
  const std::lock_guard lock(Now().mutex);
  Now().runs.insert(this);
}

CountedRun::~CountedRun() {
  const std::lock_guard lock(Now().mutex);
  Now().runs.erase(this);
}

EmulatedCounts CountedRun::Of(const std::string& symbol) const {
  const std::lock_guard lock(Now().mutex);
  const auto found = counts_.find(symbol);
  return found == counts_.end() ? EmulatedCounts() : found->second;
}

bool CountedRun::Any() {
  const std::lock_guard lock(Now().mutex);
  return !Now().runs.empty();
}

void CountedRun::Add(const char* symbol, const EmulatedCounts& counts) {
  const std::lock_guard lock(Now().mutex);
  for (CountedRun* run : Now().runs) run->counts_[symbol] += counts;
}

void WarpRequests::Add(int32_t thread, int32_t site, Space space, uint64_t address, int64_t bytes) {
  const auto number = static_cast<size_t>(site);
  if (number >= sites_.size()) sites_.resize(number + 1);
  Site& at = sites_[number];
  if (at.next == at.requests.size()) at.requests.emplace_back();
  Request& request = at.requests[at.next++];
  if (bytes == 0) return;
  request.space = space;
  request.parts.push_back({thread % kWarp, address, bytes});
}

void WarpRequests::EndTurn(int32_t thread, bool last) {
  const bool whole = last || thread % kWarp == kWarp - 1;
  for (Site& site : sites_) {
    site.next = 0;
    if (!whole) continue;
    for (const Request& request : site.requests) Count(request);
    site.requests.clear();
  }
}

void WarpRequests::Count(const Request& request) {
  if (request.parts.empty()) return;
  if (request.space == Space::kGlobal) {
    ++counts_.global_requests;
    counts_.global_sectors += Sectors(request);
  } else {
    ++counts_.shared_requests;
    counts_.bank_conflicts += BankConflicts(request);
  }
}

int64_t WarpRequests::Sectors(const Request& request) {
  std::set<uint64_t> sectors;
  for (const Part& part : request.parts) {
    const uint64_t last = (part.address + static_cast<uint64_t>(part.bytes) - 1) / kSectorBytes;
    for (uint64_t s = part.address / kSectorBytes; s <= last; ++s) sectors.insert(s);
  }
  return std::ssize(sectors);
}

// Returns the number of rounds beyond the first of each part of the warp. A part is the whole warp,
// a half if a lane accesses 8 bytes, or a quarter if a lane accesses 16 bytes or more.
int64_t WarpRequests::BankConflicts(const Request& request) {
  const auto bytes = std::clamp<int64_t>(request.parts.front().bytes, kBankBytes, 16);
  const auto lanes = static_cast<int32_t>(kBanks * kBankBytes) / static_cast<int32_t>(bytes);
  std::map<int32_t, std::array<std::set<uint64_t>, kBanks>>
      words;  // words of each part of the warp
  for (const Part& part : request.parts) {
    const uint64_t last = (part.address + static_cast<uint64_t>(part.bytes) - 1) / kBankBytes;
    for (uint64_t word = part.address / kBankBytes; word <= last; ++word)
      words[part.lane / lanes].at(word % kBanks).insert(word);
  }
  int64_t conflicts = 0;
  for (const auto& [part, banks] : words) {
    const auto most = std::ranges::max(banks, {}, &std::set<uint64_t>::size);
    conflicts += std::ssize(most) - 1;
  }
  return conflicts;
}

}  // namespace tunec
