#include "jit/cpu/detect_cpu.h"

#include <fmt/ranges.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/emulated_amx.h"
#include "jit/cpu/cache_sizes.h"
#include "jit/cpu/cpu_features.h"
#include "jit/cpu/features_used.h"
#include "jit/cpu/llvm_target.h"
#include "runtime/tile_permission.h"
#include "support/processors.h"

namespace tunec {
namespace {

// Fills in the sizes that the processor states. Other sizes keep the defaults of Host.
void ReadCaches(Host& host) {
  const CacheSizes& sizes = CacheSizesHere();
  if (sizes.l1 > 0) host.l1_bytes = sizes.l1;
  if (sizes.l2 > 0) host.l2_bytes = sizes.l2;
  if (sizes.l3 > 0) host.l3_bytes = sizes.l3;
}

/// Returns a host with the caches and usable cores of this machine, and the number of threads.
Host ThisMachine(int threads) {
  Host host;
  ReadCaches(host);
  host.cores = UsableProcessors();
  host.threads = threads > 0 ? threads : host.cores;
  return host;
}

void RemoveFeature(Host& host, const std::string& feature) {
  std::erase_if(host.features, [&](const std::string& have) {
    if (have == feature) return true;
    if (feature == "avx512f" && have.starts_with("avx512")) return true;
    return (feature == "amx" || feature == "amx-tile") && have.starts_with("amx");
  });
}

void ChooseVectors(Host& host) {
  // Masks for elements of 8 and 16 bits require BW, and masks for vectors of 256 bits require VL.
  // Without BW, DQ or VL, AVX-512 is not used.
  const bool wide =
      host.Has("avx512f") && host.Has("avx512bw") && host.Has("avx512dq") && host.Has("avx512vl");
  if (!wide) RemoveFeature(host, "avx512f");
  host.vector_bits = wide ? 512 : 256;
  host.vector_registers = wide ? 32 : 16;
}

Result<void> AddFeaturesOf(Host& host, const std::string& cpu) {
  TUNEC_ASSIGN(const llvm::Target* const x86, jit::FindX86());
  if (!jit::IsKnownCpu(*x86, cpu))
    return Fail(ErrorCode::kInvalidArgument,
                "unknown cpu '{}', expected 'native' or an LLVM processor name", cpu);
  const auto subtarget = jit::MakeSubtarget(*x86, cpu, "");
  for (const std::string_view feature : jit::kFeaturesThatMatter) {
    if (subtarget->checkFeatures("+" + std::string(feature))) host.features.emplace(feature);
  }
  return {};
}

bool Matters(std::string_view feature) {
  return std::ranges::find(jit::kFeaturesThatMatter, feature) != std::end(jit::kFeaturesThatMatter);
}

Result<void> ApplyFeature(Host& host, std::string_view part) {
  const std::string name(part.substr(1));
  if (part[0] == '-' && (name == "amx" || name == kAmxEmulated || Matters(name))) {
    RemoveFeature(host, name);
    return {};
  }
  if (part[0] == '+' && (name == kAmxEmulated || Matters(name))) {
    host.features.insert(name);
    return {};
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      "cpu feature '{}' does not change the code, expected for example '-avx512f' or '-amx'", part);
}

}  // namespace

std::vector<std::string> FeaturesUsed(const Host& host) {
  const Result<const llvm::Target*> x86 = jit::FindX86();
  if (!x86) return {};  // without LLVM's back end no code exists
  const auto subtarget = jit::MakeSubtarget(**x86, host.cpu, jit::FeatureString(host));
  std::vector<std::string> used;
  const auto see = [&](std::string_view feature) {
    const std::string name(feature);
    if (subtarget->checkFeatures("+" + name)) used.push_back(name);
  };
  std::ranges::for_each(jit::kFeaturesThatMatter, see);
  std::ranges::for_each(jit::kFeaturesUsedUnasked, see);
  // A feature of the host counts as used, even if LLVM does not know it. CheckRuns then fails on
  // machines without this feature.
  for (const std::string& named : host.features) {
    if (named == kAmxEmulated) continue;  // emulated by code for AVX-512
    if (std::ranges::find(used, named) == used.end()) used.push_back(named);
  }
  return used;
}

std::set<std::string> MachineFeatures() {
  std::set<std::string> features;
  for (const auto& [name, has] : llvm::sys::getHostCPUFeatures()) {
    if (has) features.insert(name.str());
  }
  const bool tiles = features.contains("amx-tile") && RequestTileData();
  if (!tiles) std::erase_if(features, [](const auto& name) { return name.starts_with("amx"); });
  return features;
}

Status CheckRuns(const Host& host, const std::set<std::string>& features) {
  std::vector<std::string> missing = FeaturesUsed(host);
  std::erase_if(missing, [&](const std::string& used) { return features.contains(used); });
  if (missing.empty()) return {};
  return Fail(ErrorCode::kDevice, "this machine cannot run code for cpu {}: it has no {}", host.cpu,
              fmt::join(missing, ", "));
}

Status CheckHostRuns(const Host& host) { return CheckRuns(host, MachineFeatures()); }

namespace {

Host DetectHost(int threads) {
  Host host = ThisMachine(threads);
  host.cpu = llvm::sys::getHostCPUName().str();
  const std::set<std::string> features = MachineFeatures();
  for (const std::string_view feature : jit::kFeaturesThatMatter) {
    if (features.contains(std::string(feature))) host.features.emplace(feature);
  }
  ChooseVectors(host);
  return host;
}

Result<Host> ParseHost(std::string_view spec, int threads) {
  const bool native = spec == "native";
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = spec.find(',');
    parts.push_back(spec.substr(0, comma));
    if (comma == std::string_view::npos) break;
    spec.remove_prefix(comma + 1);
  }
  Host host;
  if (parts[0] == "native") {
    host = DetectHost(threads);
  } else {
    host = ThisMachine(threads);
    host.cpu = parts[0];
    TUNEC_RETURN_IF_ERROR(AddFeaturesOf(host, host.cpu));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() < 2)
      return Fail(ErrorCode::kInvalidArgument, "empty cpu feature in the list");
    TUNEC_RETURN_IF_ERROR(ApplyFeature(host, parts[i]));
  }
  ChooseVectors(host);
  if (host.Has(kAmxEmulated) && !host.Has("avx512f")) {
    return Fail(ErrorCode::kInvalidArgument, "cpu feature '+{}' needs AVX-512", kAmxEmulated);
  }
  // `native` alone names no features, so this machine lacks them. Otherwise the spec is wrong.
  TUNEC_RETURN_IF_ERROR(
      jit::CheckNeededFeatures(host, native ? ErrorCode::kDevice : ErrorCode::kInvalidArgument));
  return host;
}

}  // namespace

Target DetectCpu(int threads) { return {.host = DetectHost(threads)}; }

Result<Target> ParseCpu(std::string_view spec, int threads) {
  TUNEC_ASSIGN(Host host, ParseHost(spec, threads));
  return Target{.host = std::move(host)};
}

}  // namespace tunec
