#include "autotune/measure/roofline.h"

#include <algorithm>
#include <map>
#include <vector>

#include "support/check.h"

namespace tunec {
namespace {

constexpr char kPeakFlops[] = "peak_flops";
constexpr char kBandwidth[] = "dram_bytes_per_second";
constexpr char kDisturbance[] = "ceilings_disturbance";
constexpr std::array<const char*, 3> kCaches = {"l1_bytes_per_second", "l2_bytes_per_second",
                                                "l3_bytes_per_second"};

// The facts of float32 have names without the name of the arithmetic, so that databases of earlier
// versions, which had only float32, stay valid.
bool IsFloat32(const std::string& arithmetic) { return arithmetic == Float32Fma().name; }
std::string PeakOf(const std::string& arithmetic) {
  return IsFloat32(arithmetic) ? kPeakFlops : fmt::format("{}.{}", kPeakFlops, arithmetic);
}
std::string DisturbanceOf(const std::string& arithmetic) {
  return IsFloat32(arithmetic) ? kDisturbance : fmt::format("{}.{}", kDisturbance, arithmetic);
}
std::string TextOf(const std::string& arithmetic) {
  return fmt::format("{}multiply-adds in registers, all threads",
                     IsFloat32(arithmetic) ? "float32 " : "");
}

using Facts = std::map<std::string, double>;

std::optional<double> Find(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ArithmeticCeiling> FindCeiling(const Facts& facts, const std::string& arithmetic) {
  const std::optional<double> peak = Find(facts, PeakOf(arithmetic));
  if (!peak || *peak <= 0) return std::nullopt;
  return ArithmeticCeiling{*peak, Find(facts, DisturbanceOf(arithmetic)).value_or(1)};
}

// Returns the machine facts that store a roofline. Caches without a measured rate have no fact.
std::vector<MachineFact> FactsOf(const Roofline& roofline) {
  std::vector<MachineFact> facts = {
      MachineFact{kBandwidth, roofline.bytes_per_second,
                  "copy of up to 256 MiB, bytes read and written, all threads"}};
  for (size_t level = 0; level < kCaches.size(); ++level) {
    const double rate = roofline.caches[level].bytes_per_second;
    if (rate > 0) {
      facts.push_back({kCaches[level], rate, "data in this cache, read or copied, all threads"});
    }
  }
  for (const auto& [name, ceiling] : roofline.arithmetics) {
    facts.push_back({PeakOf(name), ceiling.flops, TextOf(name)});
    facts.push_back({DisturbanceOf(name), ceiling.disturbance,
                     "part of the machine that others had meanwhile"});
  }
  return facts;
}

}  // namespace

std::string_view Name(Ceiling ceiling) {
  constexpr std::array<std::string_view, 5> kNames = {"arithmetic", "L1", "L2", "L3", "memory"};
  return kNames[static_cast<size_t>(ceiling)];
}

const ArithmeticCeiling& Roofline::Float32() const {
  const auto found = arithmetics.find(Float32Fma().name);
  TUNEC_CHECK(found != arithmetics.end(), "a roofline without float32");
  return found->second;
}

std::optional<ArithmeticCeiling> Roofline::CeilingOf(const MacInstruction& by) const {
  const auto found = arithmetics.find(by.name);
  return found == arithmetics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Roofline::PeakFlops(const KernelArithmetic& arithmetic) const {
  const std::optional<ArithmeticCeiling> ceiling = CeilingOf(*arithmetic.by);
  return ceiling ? std::optional(ceiling->flops / arithmetic.work) : std::nullopt;
}

namespace {

// Returns the least time of the traffic. Its ceiling is the last level used, or memory if none is.
RooflineBound TrafficBound(const Roofline& roofline, double bytes) {
  RooflineBound traffic{0, Ceiling::kMemory};
  double assigned = 0;
  for (size_t level = 0; level < roofline.caches.size() && assigned < bytes; ++level) {
    const CacheCeiling& cache = roofline.caches[level];
    if (cache.bytes_per_second <= 0 || cache.bytes <= assigned) continue;
    const double here = std::min(bytes, cache.bytes) - assigned;
    // A measured rate of a cache level may be too low, but a cache is never slower than memory.
    traffic.seconds += here / std::max(cache.bytes_per_second, roofline.bytes_per_second);
    traffic.by = static_cast<Ceiling>(level + 1);
    assigned += here;
  }
  if (assigned < bytes || bytes == 0) {
    traffic.seconds += (bytes - assigned) / roofline.bytes_per_second;
    traffic.by = Ceiling::kMemory;
  }
  return traffic;
}

}  // namespace

double Roofline::TrafficSeconds(double bytes) const { return TrafficBound(*this, bytes).seconds; }

std::optional<RooflineBound> Roofline::BoundFor(const std::optional<KernelArithmetic>& arithmetic,
                                                double flops, double bytes) const {
  const RooflineBound traffic = TrafficBound(*this, bytes);
  if (!arithmetic) return traffic;
  const std::optional<ArithmeticCeiling> ceiling = CeilingOf(*arithmetic->by);
  if (!ceiling || ceiling->IsProvisional()) return std::nullopt;
  const double seconds = flops / *PeakFlops(*arithmetic);
  return seconds >= traffic.seconds ? RooflineBound{seconds, Ceiling::kArithmetic} : traffic;
}

std::array<CacheCeiling, 3> CachesOf(const Target& target) {
  if (target.device) return {};
  const double cores = std::min(target.host.threads, target.host.cores);
  return {CacheCeiling{cores * static_cast<double>(target.host.l1_bytes)},
          CacheCeiling{cores * static_cast<double>(target.host.l2_bytes)},
          CacheCeiling{static_cast<double>(target.host.l3_bytes)}};
}

Status FailIfInternal(const Error& error) {
  return error.code == ErrorCode::kInternal ? std::unexpected(error) : Status();
}

ArithmeticCeiling Combine(const ArithmeticCeiling& a, const ArithmeticCeiling& b) {
  constexpr double kAgree = 1.03;
  const ArithmeticCeiling& greater = a.flops < b.flops ? b : a;
  const ArithmeticCeiling& other = a.flops < b.flops ? a : b;
  const bool agree = greater.flops <= kAgree * other.flops;
  return {greater.flops, agree ? std::min(a.disturbance, b.disturbance) : greater.disturbance};
}

Roofline Combine(const Roofline& a, const Roofline& b) {
  Roofline both{.bytes_per_second = std::max(a.bytes_per_second, b.bytes_per_second),
                .caches = a.caches,
                .arithmetics = a.arithmetics};
  for (size_t level = 0; level < both.caches.size(); ++level) {
    CacheCeiling& cache = both.caches[level];
    cache.bytes_per_second = std::max(cache.bytes_per_second, b.caches[level].bytes_per_second);
  }
  for (const auto& [name, ceiling] : b.arithmetics) {
    const auto [known, added] = both.arithmetics.emplace(name, ceiling);
    if (!added) known->second = Combine(known->second, ceiling);
  }
  return both;
}

Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target) {
  TUNEC_ASSIGN(const std::vector<MachineFact> recorded, database.MachineFacts(Print(target)));
  Facts facts;
  for (const MachineFact& fact : recorded) facts[fact.name] = fact.value;
  const std::optional<double> bandwidth = Find(facts, kBandwidth);
  if (!bandwidth || *bandwidth <= 0) return std::optional<Roofline>();
  if (!FindCeiling(facts, Float32Fma().name)) return std::optional<Roofline>();
  Roofline roofline{.bytes_per_second = *bandwidth, .caches = CachesOf(target)};
  for (size_t level = 0; level < kCaches.size(); ++level) {
    const std::optional<double> rate = Find(facts, kCaches[level]);
    if (rate) roofline.caches[level].bytes_per_second = *rate;
  }
  for (const MacInstruction& by : MacInstructions()) {
    const auto ceiling = FindCeiling(facts, by.name);
    if (ceiling) roofline.arithmetics[by.name] = *ceiling;
  }
  return std::optional(roofline);
}

Result<Roofline> RecordRoofline(Database& database, const Target& target,
                                const Roofline& roofline) {
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(database, target));
  Roofline known = recorded ? Combine(*recorded, roofline) : roofline;
  for (const MachineFact& fact : FactsOf(known)) {
    TUNEC_RETURN_IF_ERROR(database.SetMachineFact(Print(target), fact));
  }
  return known;
}

Result<Roofline> WithArithmetics(Roofline roofline, const Target& target,
                                 std::span<const MacInstruction* const> used, TimingLock* lock) {
  for (const MacInstruction* by : used) {
    // The ceiling of float32 was measured with those of caches and memory, so it is skipped.
    if (by == &Float32Fma() || !MissingFeatures(*by, target).empty()) continue;
    const std::optional<ArithmeticCeiling> known = roofline.CeilingOf(*by);
    if (known && !known->IsProvisional()) continue;
    TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(lock));
    const Result<ArithmeticCeiling> ceiling = MeasureArithmetic(target, *by);
    if (ceiling) {
      roofline.arithmetics[by->name] = known ? Combine(*known, *ceiling) : *ceiling;
    } else {
      TUNEC_RETURN_IF_ERROR(FailIfInternal(ceiling.error()));
    }
  }
  return roofline;
}

Result<Roofline> RecordedOrMeasured(const Database* database, const Target& target,
                                    std::span<const MacInstruction* const> used, TimingLock* lock) {
  std::optional<Roofline> machine;
  if (database != nullptr) {
    TUNEC_ASSIGN(machine, RecordedRoofline(*database, target));
  }
  if (!machine || !machine->IsReliable()) {
    TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(lock));
    TUNEC_ASSIGN(const Roofline measured, MeasureRoofline(target));
    machine = machine ? Combine(*machine, measured) : measured;
  }
  return WithArithmetics(*std::move(machine), target, used, lock);
}

Result<Roofline> EnsureRoofline(Database* database, const Target& target,
                                std::span<const MacInstruction* const> used, TimingLock* lock) {
  TUNEC_ASSIGN(Roofline roofline, RecordedOrMeasured(database, target, used, lock));
  if (database == nullptr) return roofline;
  TUNEC_ASSIGN(const std::optional<Roofline> recorded, RecordedRoofline(*database, target));
  return roofline == recorded ? roofline : RecordRoofline(*database, target, roofline);
}

}  // namespace tunec
