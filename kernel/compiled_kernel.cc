#include "kernel/compiled_kernel.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tunec {
namespace {

constexpr int kFormat = 4;  // format of an artifact's metadata

nlohmann::json ToJson(const std::vector<PhaseWork>& work) {
  nlohmann::json phases = nlohmann::json::array();
  for (const PhaseWork& phase : work)
    phases.push_back({phase.operations, phase.loads, phase.copied_bytes, phase.l2_bytes,
                      phase.memory_bytes, phase.matrix_f16, phase.matrix_tf32, phase.matrix_i8});
  return phases;
}

std::vector<PhaseWork> WorkFrom(const nlohmann::json& json) {
  std::vector<PhaseWork> work;
  for (const nlohmann::json& phase : json)
    work.push_back({.operations = phase.at(0).get<double>(),
                    .loads = phase.at(1).get<double>(),
                    .copied_bytes = phase.at(2).get<double>(),
                    .l2_bytes = phase.at(3).get<double>(),
                    .memory_bytes = phase.at(4).get<double>(),
                    .matrix_f16 = phase.at(5).get<double>(),
                    .matrix_tf32 = phase.at(6).get<double>(),
                    .matrix_i8 = phase.at(7).get<double>()});
  return work;
}

}  // namespace

Artifact ToArtifact(const CompiledKernel& kernel) {
  const std::string main = Serialize(kernel.image);
  nlohmann::json json = {{"format", kFormat},
                         {"arguments", kernel.arguments},
                         {"in_place", kernel.in_place},
                         {"bytes", main.size()},
                         {"prepacks", nlohmann::json::array()}};
  Artifact artifact{.object = main};
  for (const CompiledPrepack& prepack : kernel.prepacks) {
    const std::string bytes = Serialize(prepack.image);
    json["prepacks"].push_back({{"weight", prepack.weight},
                                {"packed", prepack.packed},
                                {"packed_bytes", prepack.packed_bytes},
                                {"bytes", bytes.size()}});
    if (!prepack.host_features.empty()) {
      json["prepacks"].back()["host_features"] = prepack.host_features;
    }
    artifact.object += bytes;
  }
  if (!kernel.work.empty()) json["work"] = ToJson(kernel.work);
  artifact.metadata = json.dump();
  return artifact;
}

namespace {

// Removes `size` bytes from the front of `bytes` and parses them as an image. Fails with kParse.
Result<KernelImage> TakeImage(std::string_view& bytes, size_t size) {
  if (size > bytes.size()) return Fail(ErrorCode::kParse, "an artifact's object is cut short");
  const std::string_view part = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return ParseKernelImage(part);
}

Result<CompiledKernel> FromJson(const nlohmann::json& json, std::string_view bytes) {
  CompiledKernel kernel;
  TUNEC_ASSIGN(kernel.image, TakeImage(bytes, json.at("bytes").get<size_t>()));
  kernel.arguments = json.at("arguments").get<std::vector<std::string>>();
  kernel.in_place = json.at("in_place").get<std::vector<std::pair<std::string, std::string>>>();
  for (const nlohmann::json& item : json.at("prepacks")) {
    CompiledPrepack prepack{.weight = item.at("weight").get<std::string>(),
                            .packed = item.at("packed").get<std::string>(),
                            .packed_bytes = item.at("packed_bytes").get<int64_t>()};
    TUNEC_ASSIGN(prepack.image, TakeImage(bytes, item.at("bytes").get<size_t>()));
    if (item.contains("host_features")) {
      prepack.host_features = item.at("host_features").get<std::set<std::string>>();
    }
    kernel.prepacks.push_back(std::move(prepack));
  }
  if (json.contains("work")) kernel.work = WorkFrom(json.at("work"));
  return kernel;
}

}  // namespace

Result<CompiledKernel> FromArtifact(const Artifact& artifact) {
  const nlohmann::json json =
      nlohmann::json::parse(artifact.metadata, nullptr, /*allow_exceptions=*/false);
  // nlohmann's access throws if a field is missing or has a type that cannot be converted.
  try {
    if (json.is_discarded() || json.at("format") != kFormat) {
      return Fail(ErrorCode::kParse, "an artifact's metadata is of no known format");
    }
    return FromJson(json, artifact.object);
  } catch (const nlohmann::json::exception& error) {
    return Fail(ErrorCode::kParse, "an artifact's metadata is damaged: {}", error.what());
  }
}

}  // namespace tunec
