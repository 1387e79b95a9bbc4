#include "jit/detect_cpu.h"

#include <fmt/ranges.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "jit/cpu_features.h"
#include "jit/llvm_target.h"
#include "jit/tile_permission.h"
#include "support/processors.h"

namespace tunec {
namespace {

/// "48K" or "1024K" or "32M" in bytes; 0 when it is none of these.
int64_t ParseCacheSize(const std::string& text) {
  int64_t size = 0;
  size_t i = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') size = size * 10 + (text[i++] - '0');
  if (i < text.size() && text[i] == 'K') size <<= 10;
  if (i < text.size() && text[i] == 'M') size <<= 20;
  return size;
}

void ReadCaches(Target& target) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string level, type, size;
    if (!(std::ifstream(folder + "level") >> level)) break;
    std::ifstream(folder + "type") >> type;
    std::ifstream(folder + "size") >> size;
    const int64_t bytes = ParseCacheSize(size);
    if (bytes <= 0 || type == "Instruction") continue;
    if (level == "1") target.l1_bytes = bytes;
    if (level == "2") target.l2_bytes = bytes;
    if (level == "3") target.l3_bytes = bytes;
  }
}

/// Everything but the features and the processor's name.
Target ThisMachine(int threads) {
  Target target;
  ReadCaches(target);
  target.cores = UsableProcessors();
  target.threads = threads > 0 ? threads : target.cores;
  return target;
}

void RemoveFeature(Target& target, const std::string& feature) {
  std::erase_if(target.features, [&](const std::string& have) {
    if (have == feature) return true;
    if (feature == "avx512f" && have.starts_with("avx512")) return true;
    return (feature == "amx" || feature == "amx-tile") && have.starts_with("amx");
  });
}

void ChooseVectors(Target& target) {
  // The wide form of 8- and 16-bit masks needs BW, of 256-bit ones VL; all AVX-512 cores we
  // generate for have both.
  const bool wide = target.Has("avx512f") && target.Has("avx512bw") && target.Has("avx512dq") &&
                    target.Has("avx512vl");
  if (!wide) RemoveFeature(target, "avx512f");
  target.vector_bits = wide ? 512 : 256;
  target.vector_registers = wide ? 32 : 16;
}

Result<void> AddFeaturesOf(Target& target, const std::string& cpu) {
  jit::InitializeLlvm();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (found == nullptr) return Fail(ErrorCode::kInternal, "no x86-64 back end: {}", message);
  // An unknown name makes LLVM print to stderr, so it is looked up in the generic one first.
  const std::unique_ptr<llvm::MCSubtargetInfo> generic(
      found->createMCSubtargetInfo(triple, "x86-64", ""));
  if (!generic->isCPUStringValid(cpu))
    return Fail(ErrorCode::kInvalidArgument,
                "unknown cpu '{}', expected 'native' or an LLVM processor name", cpu);
  const std::unique_ptr<llvm::MCSubtargetInfo> info(found->createMCSubtargetInfo(triple, cpu, ""));
  for (const std::string_view feature : jit::kFeaturesThatMatter) {
    if (info->checkFeatures("+" + std::string(feature))) target.features.emplace(feature);
  }
  return {};
}

bool Matters(std::string_view feature) {
  return std::ranges::find(jit::kFeaturesThatMatter, feature) != std::end(jit::kFeaturesThatMatter);
}

Result<void> ApplyFeature(Target& target, std::string_view part) {
  const std::string name(part.substr(1));
  if (part[0] == '-' && (name == "amx" || Matters(name))) {
    RemoveFeature(target, name);
    return {};
  }
  if (part[0] == '+' && Matters(name)) {
    target.features.insert(name);
    return {};
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      "cpu feature '{}' is none that changes the code, expected for example '-avx512f' or '-amx'",
      part);
}

/// Of the features that code for the target may use, those that are not among `features`.
std::vector<std::string> Missing(const Target& target, const std::set<std::string>& features) {
  jit::InitializeLlvm();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  if (found == nullptr) return {};  // then there is no code either
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      found->createMCSubtargetInfo(triple, target.cpu, jit::FeatureString(target)));
  std::vector<std::string> missing;
  const auto see = [&](std::string_view feature) {
    const std::string name(feature);
    if (info->checkFeatures("+" + name) && !features.contains(name)) missing.push_back(name);
  };
  std::ranges::for_each(jit::kFeaturesThatMatter, see);
  std::ranges::for_each(jit::kFeaturesUsedUnasked, see);
  // A name that LLVM does not know is a feature that no machine has.
  for (const std::string& named : target.features) {
    const bool seen = std::ranges::find(missing, named) != missing.end();
    if (!seen && !features.contains(named)) missing.push_back(named);
  }
  return missing;
}

}  // namespace

std::set<std::string> MachineFeatures() {
  std::set<std::string> features;
  for (const auto& [name, has] : llvm::sys::getHostCPUFeatures()) {
    if (has) features.insert(name.str());
  }
  const bool tiles = features.contains("amx-tile") && RequestTileData();
  if (!tiles) std::erase_if(features, [](const auto& name) { return name.starts_with("amx"); });
  return features;
}

Status CheckRuns(const Target& target, const std::set<std::string>& features) {
  const std::vector<std::string> missing = Missing(target, features);
  if (missing.empty()) return {};
  return Fail(ErrorCode::kDevice, "this machine cannot run code for cpu {}: it has no {}",
              target.cpu, fmt::join(missing, ", "));
}

Status CheckRunsHere(const Target& target) { return CheckRuns(target, MachineFeatures()); }

Target DetectCpu(int threads) {
  Target target = ThisMachine(threads);
  target.cpu = llvm::sys::getHostCPUName().str();
  const std::set<std::string> features = MachineFeatures();
  for (const std::string_view feature : jit::kFeaturesThatMatter) {
    if (features.contains(std::string(feature))) target.features.emplace(feature);
  }
  ChooseVectors(target);
  return target;
}

Result<Target> ParseCpu(std::string_view spec, int threads) {
  const bool native = spec == "native";
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = spec.find(',');
    parts.push_back(spec.substr(0, comma));
    if (comma == std::string_view::npos) break;
    spec.remove_prefix(comma + 1);
  }
  Target target;
  if (parts[0] == "native") {
    target = DetectCpu(threads);
  } else {
    target = ThisMachine(threads);
    target.cpu = parts[0];
    TUNEC_RETURN_IF_ERROR(AddFeaturesOf(target, target.cpu));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() < 2)
      return Fail(ErrorCode::kInvalidArgument, "empty cpu feature in the list");
    TUNEC_RETURN_IF_ERROR(ApplyFeature(target, parts[i]));
  }
  ChooseVectors(target);
  for (const char* needed : {"avx2", "fma", "f16c"}) {
    if (!target.Has(needed))  // of this machine, or of what was asked for
      return Fail(native ? ErrorCode::kDevice : ErrorCode::kInvalidArgument,
                  "cpu {} has no {}, which tunec needs", target.cpu, needed);
  }
  return target;
}

}  // namespace tunec
