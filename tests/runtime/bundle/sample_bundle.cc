#include "tests/runtime/bundle/sample_bundle.h"

#include <cstring>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/bundle/device_code.h"
#include "runtime/bundle/variant_head.h"
#include "runtime/cuda/cubin.h"
#include "tests/runtime/bundle/container.h"
#include "tests/runtime/cuda/sample_cubin.h"

namespace tunec::testing {
namespace {

using bundle::ArgumentContract;
using bundle::KernelContract;
using bundle::SectionKind;
using bundle::StoredPlan;

constexpr int64_t kRowBytes = 32;  // 8 floats
constexpr int64_t kX = 4 * kRowBytes;
constexpr int64_t kCache = 6 * kRowBytes;
constexpr int64_t kWeights = 8 * kRowBytes;
constexpr int64_t kPacked = 2 * kWeights;
constexpr int64_t kIndices = 5 * sizeof(int32_t);

ArgumentContract Reads(int64_t bytes, int64_t alignment) {
  return {.bytes = bytes, .alignment = alignment};
}
ArgumentContract Writes(int64_t bytes, int64_t alignment) {
  return {.bytes = bytes, .alignment = alignment, .written = true};
}

// Returns the kernels: pack for the preprocessing; product, gather and update for the steps.
std::vector<KernelContract> Kernels() {
  std::vector<KernelContract> kernels(4);
  kernels[0].arguments = {Reads(kWeights, 4), Writes(kPacked, 64)};
  kernels[1] = {.workspace_bytes = 96,
                .scratch_bytes = 32,
                .arguments = {Reads(kX, 4), Reads(kPacked, 64), Writes(kX, 4)}};
  kernels[2].arguments = {Reads(kX, 4), Reads(kIndices, 4), Writes(kX, 4)};
  kernels[2].arguments[1].range =
      bundle::TrustedRange{.type = DataType::kI32, .least = 0, .most = 3};
  kernels[3].arguments = {Reads(kCache, 4), Reads(24, 8), Writes(kCache, 4)};
  kernels[3].in_place = {{0, 2}};
  for (KernelContract& kernel : kernels) kernel.phases = {{.entry = 0, .tasks = 2}};
  return kernels;
}

StoredPlan PlanWithPreprocessing() {
  StoredPlan plan{.inputs = {{"x", DataType::kF32, {4, 8}},
                             {"rows", DataType::kI64, {3}},
                             {"cache", DataType::kF32, {6, 8}}},
                  .outputs = {{"y", DataType::kF32, {4, 8}},
                              {"updated", DataType::kF32, {6, 8}},
                              {"same", DataType::kF32, {4, 8}}},
                  .arena_bytes = 4 * kX,
                  .threads = 2};
  plan.constants = {{.name = "w", .bytes = kWeights, .offset = 0},
                    {.name = "indices", .bytes = kIndices, .offset = kWeights},
                    {.name = "w.packed", .bytes = kPacked}};
  const auto constant = [](int32_t number) { return ValueRef::Constant(number); };
  plan.preprocessing = {{.name = "pack", .kernel = 0, .arguments = {constant(0), constant(2)}}};
  plan.steps = {
      {.name = "product",
       .kernel = 1,
       .arguments = {ValueRef::Input(0), constant(2), ValueRef::Arena(kX)}},
      {.name = "gather",
       .kernel = 2,
       .arguments = {ValueRef::Arena(kX), constant(1), ValueRef::Output(0)}},
      {.name = "update",
       .kernel = 3,
       .arguments = {ValueRef::Input(2), ValueRef::Input(1), ValueRef::Output(1)}},
      {.name = "copy", .arguments = {ValueRef::Input(0), ValueRef::Output(2)}, .copy_bytes = kX}};
  plan.index_checks = {{.node = "update",
                        .extent = 6,
                        .indices = ValueRef::Input(1),
                        .type = DataType::kI64,
                        .count = 3}};
  return plan;
}

StoredPlan PackedPlan() {
  StoredPlan plan = PlanWithPreprocessing();
  plan.preprocessing.clear();
  plan.constants[2].offset = 1024;
  return plan;
}

// Returns device code in which each kernel has a separate image. The name of the image's function
// contains the kernel's number.
bundle::DeviceCodeTable DeviceCode() {
  bundle::DeviceCodeTable code{.kernels = Kernels()};
  for (size_t i = 0; i < code.kernels.size(); ++i) {
    code.kernels[i].phases.clear();
    code.image_of.push_back(static_cast<int64_t>(i));
    code.images.push_back({.format = std::string(kCubinFormat),
                           .bytes = SampleCubin(),
                           .phases = {{.symbol = "k" + std::to_string(i), .grid = {2, 1, 1}}},
                           .workspace_bytes = code.kernels[i].workspace_bytes});
  }
  return code;
}

std::string Weights() {
  std::string weights(2048, '\1');
  const int32_t indices[] = {3, 0, 1, 1, 2};
  std::memcpy(weights.data() + kWeights, indices, sizeof indices);
  return weights;
}

}  // namespace

std::string SampleBundle() {
  const std::string code = bundle::CodeSection(Kernels(), std::string(64, '\xc3'));
  const bundle::VariantHead host{.cpu = "plain", .features = {"sse4.2"}};
  const bundle::VariantHead gpu{.cpu = "plain", .device = "cuda", .arch = "sm_90"};
  std::vector<RawSection> sections;
  const auto add = [&](uint32_t variant, const bundle::VariantHead& head, const StoredPlan& plan) {
    sections.push_back({SectionKind::kVariant, variant, Serialize(head)});
    sections.push_back({SectionKind::kPlan, variant, Serialize(plan)});
    sections.push_back({SectionKind::kCode, variant, code});
    sections.push_back({SectionKind::kReport, variant, "{}"});
  };
  add(0, host, PlanWithPreprocessing());
  add(1, host, PackedPlan());
  add(2, gpu, PlanWithPreprocessing());
  sections.push_back({SectionKind::kDeviceCode, 2, Serialize(DeviceCode())});
  sections.push_back({SectionKind::kWeights, 0, Weights()});
  return Container(sections);
}

}  // namespace tunec::testing
