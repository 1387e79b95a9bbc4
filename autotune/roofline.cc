#include "autotune/roofline.h"

#include <algorithm>
#include <vector>

namespace tunec {
namespace {

constexpr char kPeakFlops[] = "peak_flops";
constexpr char kBandwidth[] = "dram_bytes_per_second";
constexpr char kDisturbance[] = "ceilings_disturbance";
constexpr std::array<const char*, 3> kCaches = {"l1_bytes_per_second", "l2_bytes_per_second",
                                                "l3_bytes_per_second"};

}  // namespace

std::string_view Name(Ceiling ceiling) {
  constexpr std::array<std::string_view, 5> kNames = {"arithmetic", "L1", "L2", "L3", "memory"};
  return kNames[static_cast<size_t>(ceiling)];
}

RooflineBound Roofline::BoundFor(double flops, double bytes) const {
  RooflineBound traffic{0, Ceiling::kMemory};
  double placed = 0;
  for (size_t level = 0; level < caches.size() && placed < bytes; ++level) {
    const CacheCeiling& cache = caches[level];
    if (cache.bytes_per_second <= 0 || cache.bytes <= placed) continue;
    const double here = std::min(bytes, cache.bytes) - placed;
    // No level is slower than what lies behind it.
    traffic.seconds += here / std::max(cache.bytes_per_second, bytes_per_second);
    traffic.by = static_cast<Ceiling>(level + 1);
    placed += here;
  }
  if (placed < bytes || bytes == 0) {
    traffic.seconds += (bytes - placed) / bytes_per_second;
    traffic.by = Ceiling::kMemory;
  }
  const double arithmetic = flops / peak_flops;
  return arithmetic >= traffic.seconds ? RooflineBound{arithmetic, Ceiling::kArithmetic} : traffic;
}

std::array<CacheCeiling, 3> CachesOf(const Target& target) {
  if (target.device) return {};
  const double cores = std::min(target.host.threads, target.host.cores);
  return {CacheCeiling{cores * static_cast<double>(target.host.l1_bytes)},
          CacheCeiling{cores * static_cast<double>(target.host.l2_bytes)},
          CacheCeiling{static_cast<double>(target.host.l3_bytes)}};
}

Roofline Combine(const Roofline& a, const Roofline& b) {
  constexpr double kAgree = 1.03;
  const Roofline& greater = a.peak_flops < b.peak_flops ? b : a;
  const Roofline& other = a.peak_flops < b.peak_flops ? a : b;
  const bool agree = greater.peak_flops <= kAgree * other.peak_flops;
  Roofline both{.peak_flops = greater.peak_flops,
                .bytes_per_second = std::max(a.bytes_per_second, b.bytes_per_second),
                .disturbance = agree ? std::min(a.disturbance, b.disturbance) : greater.disturbance,
                .caches = a.caches};
  for (size_t level = 0; level < both.caches.size(); ++level) {
    CacheCeiling& cache = both.caches[level];
    cache.bytes_per_second = std::max(cache.bytes_per_second, b.caches[level].bytes_per_second);
  }
  return both;
}

Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target) {
  const std::string key = Print(target);
  TUNEC_ASSIGN(const auto peak, database.GetMachineFact(key, kPeakFlops));
  TUNEC_ASSIGN(const auto bandwidth, database.GetMachineFact(key, kBandwidth));
  TUNEC_ASSIGN(const auto disturbance, database.GetMachineFact(key, kDisturbance));
  if (!peak || !bandwidth || peak->value <= 0 || bandwidth->value <= 0) {
    return std::optional<Roofline>();
  }
  Roofline roofline{peak->value, bandwidth->value, disturbance ? disturbance->value : 1,
                    CachesOf(target)};
  for (size_t level = 0; level < kCaches.size(); ++level) {
    TUNEC_ASSIGN(const auto cache, database.GetMachineFact(key, kCaches[level]));
    if (cache) roofline.caches[level].bytes_per_second = cache->value;
  }
  return std::optional(roofline);
}

Result<Roofline> RecordRoofline(Database& database, const Target& target,
                                const Roofline& roofline) {
  const std::string key = Print(target);
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(database, target));
  const Roofline known = recorded ? Combine(*recorded, roofline) : roofline;
  std::vector<MachineFact> facts = {
      MachineFact{kPeakFlops, known.peak_flops, "float32 multiply-adds in registers, all threads"},
      MachineFact{kBandwidth, known.bytes_per_second,
                  "copy of 256 MiB, bytes read and written, all threads"},
      MachineFact{kDisturbance, known.disturbance,
                  "part of the machine that others had meanwhile"}};
  for (size_t level = 0; level < kCaches.size(); ++level) {
    const double rate = known.caches[level].bytes_per_second;
    if (rate > 0)
      facts.push_back({kCaches[level], rate, "data in this cache, read or copied, all threads"});
  }
  for (const MachineFact& fact : facts) TUNEC_RETURN_IF_ERROR(database.SetMachineFact(key, fact));
  return known;
}

Result<Roofline> EnsureRoofline(Database* database, const Target& target) {
  if (database == nullptr) return MeasureRoofline(target);
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(*database, target));
  if (recorded && recorded->Sure()) return *recorded;
  TUNEC_ASSIGN(const Roofline roofline, MeasureRoofline(target));
  return RecordRoofline(*database, target, roofline);
}

}  // namespace tunec
