// Tests of the selection of a bundle's variant, with a scripted driver and without a driver, and of
// bundles that update a cache in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/executable.h"
#include "support/file.h"
#include "tests/runtime/bundle/container.h"
#include "tests/runtime/bundle/sample_bundle.h"
#include "tests/scripted_cuda/load_script.h"

namespace tunec::testing {
namespace {

using scripted_cuda::kLibrary;
using scripted_cuda::NewScript;
using scripted_cuda::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The numbers of SampleBundle's first variant for a processor and of its variant for a GPU.
constexpr uint32_t kFirstHost = 0;
constexpr uint32_t kGpu = 2;

class LoadVariantTest : public ::testing::Test {
 protected:
  LoadVariantTest() {
    setenv("TUNEC_LIBCUDA", kLibrary.c_str(), 1);
    script_.any_function = true;
    script_.memory_bytes = 1 << 24;
    script_.parameters = 0;
  }
  ~LoadVariantTest() override {
    unsetenv("TUNEC_LIBCUDA");
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  Result<LoadedBundle> Load(const BundleOptions& options = {},
                            const std::string& bundle = SampleBundle()) {
    TUNEC_RETURN_IF_ERROR(WriteFileAtomically(path_, bundle));
    return LoadBundle(path_, options);
  }
  void ExpectChoice(uint32_t variant, const ::testing::Matcher<std::string>& passed_over,
                    const BundleOptions& options = {}) {
    const auto loaded = Load(options);
    ASSERT_TRUE(loaded) << loaded.error().Format();
    EXPECT_EQ(loaded->variant, variant);
    EXPECT_THAT(loaded->passed_over, passed_over);
  }

  Script& script_ = NewScript();
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("tunec-load-variant-{}.tnc", ::getpid());
};

/// Returns SampleBundle without the variants for CPUs. The variant for the GPU has number 0.
std::string GpuOnly() {
  std::vector<RawSection> remaining;
  for (RawSection& section : SectionsOf(SampleBundle())) {
    const bool shared = section.kind == bundle::SectionKind::kWeights;
    if (!shared && section.variant != kGpu) continue;
    section.variant = 0;
    remaining.push_back(std::move(section));
  }
  return Container(remaining);
}

TEST_F(LoadVariantTest, TheGpuIsPreferred) {
  ExpectChoice(kGpu, IsEmpty());
  EXPECT_EQ(script_.modules, 0);
  EXPECT_EQ(script_.contexts, 0);
}

TEST_F(LoadVariantTest, WithoutADriverTheHostRuns) {
  setenv("TUNEC_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  ExpectChoice(kFirstHost, HasSubstr("for cuda sm_90: no NVIDIA driver"));
}

TEST_F(LoadVariantTest, OnAnotherGpuTheHostRuns) {
  script_.capabilities = {{8, 6}};
  ExpectChoice(kFirstHost,
               AllOf(HasSubstr("for cuda sm_90: "), HasSubstr("has compute capability 8.6")));
}

TEST_F(LoadVariantTest, WhatTheDriverRejectsIsPassedOver) {
  script_.load = CuResult::kNoBinaryForGpu;
  ExpectChoice(kFirstHost, HasSubstr("for cuda sm_90: "));
  script_.load = CuResult::kSuccess;
  script_.init = CuResult::kNoDevice;
  ExpectChoice(kFirstHost, HasSubstr("finds no GPU"));
}

TEST_F(LoadVariantTest, WhoAsksForADeviceGetsIt) {
  ExpectChoice(kFirstHost, HasSubstr("for cuda sm_90: the CPU is requested"),
               {.device = {.name = "cpu"}});
  script_.capabilities = {{8, 0}, {9, 0}};
  ExpectChoice(kGpu, IsEmpty());
  const auto second = Load({.device = {.name = "1"}});
  ASSERT_TRUE(second) << second.error().Format();
  EXPECT_EQ(second->executable->DeviceNumber(), 1);
  const auto first = Load({.device = {.name = "0"}});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kDevice);
  EXPECT_THAT(first.error().message, AllOf(HasSubstr("has compute capability 8.0"),
                                           HasSubstr("for cpu plain: GPU '0' is requested")));
}

TEST_F(LoadVariantTest, NoneThatFitsIsRejectedByAllNames) {
  script_.capabilities = {{8, 6}, {12, 0}};
  const auto loaded = Load({}, GpuOnly());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kDevice);
  EXPECT_THAT(
      loaded.error().message,
      AllOf(HasSubstr("this machine cannot run the bundle: for cuda sm_90: "),
            HasSubstr("has compute capability 8.6"), HasSubstr("has compute capability 12.0")));
}

TEST_F(LoadVariantTest, MemoryThatLacksIsAnError) {
  script_.memory_bytes = 512;
  const auto loaded = Load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kResourceLimit);
}

TEST_F(LoadVariantTest, ItsStepsAreLaunchedOnTheGpu) {
  script_.graph = CuResult::kOutOfMemory;  // makes launches visible in the log
  const auto loaded = Load();
  ASSERT_TRUE(loaded) << loaded.error().Format();
  script_.log.clear();
  std::array<float, 32> x{}, y{}, same{};
  std::array<int64_t, 3> rows{};
  std::array<float, 48> cache{};
  x[3] = 5;
  const void* const inputs[] = {x.data(), rows.data(), cache.data()};
  void* const outputs[] = {y.data(), cache.data(), same.data()};
  ASSERT_TRUE(loaded->executable->Run(inputs, outputs));
  std::vector<std::string> launches;
  for (const std::string& line : script_.log)
    if (line.starts_with("launch")) launches.push_back(line);
  EXPECT_THAT(launches, ::testing::ElementsAre(HasSubstr("launch k1 grid 2x1x1"),
                                               HasSubstr("launch k2 "), HasSubstr("launch k3 ")));
  EXPECT_EQ(same[3], 5);
}

// The addresses of the arguments of each kernel call, in the order of the calls.
std::vector<std::vector<void*>> seen;

template <size_t number>
void Remember(void* const* arguments, void*, void*, int64_t) {
  constexpr std::array<size_t, 4> kArguments = {2, 3, 3, 3};
  seen.emplace_back(arguments, arguments + kArguments[number]);
}

Result<std::vector<Kernel>> RememberingKernels(const std::vector<bundle::KernelContract>& kernels,
                                               std::span<const std::byte>,
                                               const bundle::CodeParts&) {
  constexpr std::array<PhaseFunction, 4> kFunctions = {Remember<0>, Remember<1>, Remember<2>,
                                                       Remember<3>};
  std::vector<Kernel> made;
  for (size_t i = 0; i < kernels.size(); ++i)
    made.push_back({.phases = {{.function = kFunctions.at(i)}},
                    .workspace_bytes = kernels[i].workspace_bytes,
                    .scratch_bytes = kernels[i].scratch_bytes});
  return made;
}

// Returns the addresses at which the kernel that updates the cache read and wrote it.
std::pair<void*, void*> RunInPlace(const std::string& bundle, float* cache) {
  static const auto pool = std::make_shared<ThreadPool>(1);
  const auto file = bundle::BundleFile::Read({.bytes = std::as_bytes(std::span(bundle))}, *pool);
  EXPECT_TRUE(file) << file.error().Format();
  auto plan = bundle::ReadPlan(*file, kFirstHost, RememberingKernels);
  EXPECT_TRUE(plan) << plan.error().Format();
  const auto executable = Executable::Make(*std::move(plan), pool);
  EXPECT_TRUE(executable) << executable.error().Format();
  seen.clear();
  std::array<float, 32> x{}, y{}, same{};
  std::array<int64_t, 3> rows{};
  const void* const inputs[] = {x.data(), rows.data(), cache};
  void* const outputs[] = {y.data(), cache, same.data()};
  EXPECT_TRUE(executable->Run(inputs, outputs));
  return {seen.back()[0], seen.back()[2]};
}

TEST(InPlaceOfBundle, ACacheIsUpdatedWhereItLies) {
  std::array<float, 48> cache{};
  const auto [read, written] = RunInPlace(SampleBundle(), cache.data());
  EXPECT_EQ(read, cache.data());
  EXPECT_EQ(written, cache.data());
}

TEST(InPlaceOfBundle, AKernelThatDoesNotSayItIsCopiedFor) {
  std::vector<RawSection> sections = SectionsOf(SampleBundle());
  for (RawSection& section : sections) {
    if (section.kind != bundle::SectionKind::kCode) continue;
    auto parts = bundle::ParseCodeSection(std::as_bytes(std::span(section.bytes)));
    ASSERT_TRUE(parts);
    parts->kernels[3].in_place.clear();
    section.bytes = bundle::CodeSection(parts->kernels, std::string(64, '\xc3'));
  }
  std::array<float, 48> cache{};
  const auto [read, written] = RunInPlace(Container(sections), cache.data());
  EXPECT_NE(read, cache.data());
  EXPECT_EQ(written, cache.data());
}

}  // namespace
}  // namespace tunec::testing
