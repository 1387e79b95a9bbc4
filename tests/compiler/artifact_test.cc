// Tests of a kernel's code in the form that the database stores. The stored code can be read back.
// Damaged code causes no crash.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "autotune/keys.h"
#include "compiler/kernel_build.h"
#include "support/random.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

KernelImage SomeImage(const std::string& bytes) { return {.bytes = bytes}; }

CompiledKernel SomeCode() {
  CompiledKernel code;
  code.image = SomeImage("main");
  code.arguments = {"x", "w_packed", "y"};
  code.in_place = {{"x", "y"}};
  code.prepacks.push_back({"w", "w_packed", 4096, SomeImage("pack w")});
  code.prepacks.push_back({"v", "v_packed", 64, SomeImage("pack v")});
  return code;
}

TEST(ArtifactOfAKernel, ReadsBack) {
  const CompiledKernel code = SomeCode();
  const auto again = FromArtifact(ToArtifact(code));
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->image.bytes, code.image.bytes);
  EXPECT_EQ(again->arguments, code.arguments);
  EXPECT_EQ(again->in_place, code.in_place);
  ASSERT_EQ(again->prepacks.size(), code.prepacks.size());
  for (size_t i = 0; i < code.prepacks.size(); ++i) {
    EXPECT_EQ(again->prepacks[i].weight, code.prepacks[i].weight);
    EXPECT_EQ(again->prepacks[i].packed, code.prepacks[i].packed);
    EXPECT_EQ(again->prepacks[i].packed_bytes, code.prepacks[i].packed_bytes);
    EXPECT_EQ(again->prepacks[i].image.bytes, code.prepacks[i].image.bytes);
  }
}

TEST(ArtifactOfAKernel, KeepsWhatADevicesPhasesDo) {
  CompiledKernel code = SomeCode();
  code.work = {{.operations = 1.0 / 3, .loads = 2, .l2_bytes = 1e15, .memory_bytes = 4},
               {.operations = 5, .matrix_f16 = 6, .matrix_tf32 = 7, .matrix_i8 = 8}};
  const Artifact artifact = ToArtifact(code);
  const auto again = FromArtifact(artifact);
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->work, code.work);
  EXPECT_TRUE(FromArtifact(ToArtifact(SomeCode()))->work.empty());
  for (const char* damage : {"7", "[7]", "[[1, 2, 3, 4, 5, 6]]", R"([["1", 2, 3, 4, 5, 6, 7]])"}) {
    nlohmann::json json = nlohmann::json::parse(artifact.metadata);
    json["work"] = nlohmann::json::parse(damage);
    EXPECT_FALSE(FromArtifact({.object = artifact.object, .metadata = json.dump()})) << damage;
  }
}

TEST(ArtifactOfAKernel, CutShortIsAnError) {
  const Artifact whole = ToArtifact(SomeCode());
  for (size_t size = 0; size < whole.object.size(); ++size) {
    Artifact cut = whole;
    cut.object.resize(size);
    EXPECT_FALSE(FromArtifact(cut)) << size;
  }
}

TEST(ArtifactOfAKernel, MetadataOfAnotherFormatIsAnError) {
  const Artifact whole = ToArtifact(SomeCode());
  std::vector<std::string> texts = {
      "", "{", "[]", "7", "null", "{}", R"({"format": 1})", R"({"format": "1"})"};
  const nlohmann::json json = nlohmann::json::parse(whole.metadata);
  for (const auto& [name, value] : json.items()) {
    nlohmann::json without = json;
    without.erase(name);
    texts.push_back(without.dump());
    nlohmann::json wrong = json;
    wrong[name] = value.is_array() ? nlohmann::json("text") : nlohmann::json::array({1});
    texts.push_back(wrong.dump());
    if (!value.is_number()) continue;
    wrong[name] = -1;
    if (name == "bytes" || name == "format") texts.push_back(wrong.dump());
    if (name != "format") continue;
    for (const int step : {-1, 1}) {
      wrong[name] = value.get<int>() + step;
      texts.push_back(wrong.dump());
    }
  }
  for (const std::string& text : texts) {
    Artifact artifact = whole;
    artifact.metadata = text;
    const auto code = FromArtifact(artifact);
    ASSERT_FALSE(code) << text;
    EXPECT_EQ(code.error().code, ErrorCode::kParse) << text;
  }
}

TEST(ArtifactOfAKernel, DamagedBytesDoNotCrash) {
  const Artifact whole = ToArtifact(SomeCode());
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    Artifact artifact = whole;
    std::string& text = random.Below(2) == 0 ? artifact.metadata : artifact.object;
    text[random.Below(text.size())] = static_cast<char>(random.Next());
    const auto code = FromArtifact(artifact);
    EXPECT_TRUE(code || code.error().code == ErrorCode::kParse);
  }
}

// The hash of a row cannot detect code that was stored for a group with other arguments.
TEST(ArtifactOfAKernel, CodeThatWantsOtherArgumentsIsCompiledAgain) {
  const TuningTask task = testing::TaskOf(testing::MatmulRelu());
  auto database = Database::Open(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(database);
  std::vector<std::string> lines;
  CompileOptions options{.target = DetectCpu(1)};
  options.on_log = [&](const std::string& line) { lines.push_back(line); };
  const TunerOptions tuner{.target = options.target, .accuracy = options.accuracy};
  const auto first = BuildKernel(task, &*database, options, tuner);
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_TRUE(BuildKernel(task, &*database, options, tuner)->reused);

  const std::string key =
      ArtifactKey(task, first->schedule.schedule, options.target, options.accuracy);
  Artifact artifact = **database->GetArtifact(key);
  nlohmann::json metadata = nlohmann::json::parse(artifact.metadata);
  metadata["arguments"][0] = "nowhere";
  artifact.metadata = metadata.dump();
  ASSERT_TRUE(database->PutArtifact(key, artifact));
  lines.clear();
  EXPECT_FALSE(BuildKernel(task, &*database, options, tuner)->reused);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("a stored object expects argument nowhere"), std::string::npos);
  EXPECT_TRUE(BuildKernel(task, &*database, options, tuner)->reused);
}

// The key of device code does not include the host that packs the weights.
TEST(ArtifactOfAKernel, CodeThatAnotherHostPacksForIsNotUsed) {
  CompiledKernel code = SomeCode();
  code.prepacks[0].host_features = {"avx2", "a_feature_of_tomorrow"};
  EXPECT_EQ(*FromArtifact(ToArtifact(code)), code);

  const TuningTask task = testing::TaskOf(testing::MatmulRelu());
  auto database = Database::Open(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(database);
  const CompileOptions options{.target = DetectCpu(1)};
  const TunerOptions tuner{.target = options.target, .accuracy = options.accuracy};
  const auto first = BuildKernel(task, &*database, options, tuner);
  ASSERT_TRUE(first) << first.error().Format();
  CompiledKernel stored = *first->code;
  stored.prepacks.push_back({"B", "B_packed", 64, SomeImage("pack B")});
  const std::string key =
      ArtifactKey(task, first->schedule.schedule, options.target, options.accuracy);
  for (const bool here : {true, false}) {
    stored.prepacks.back().host_features =
        here ? options.target.host.features : code.prepacks[0].host_features;
    ASSERT_TRUE(database->PutArtifact(key, ToArtifact(stored)));
    EXPECT_EQ(BuildKernel(task, &*database, options, tuner)->reused, here);
  }
}

}  // namespace
}  // namespace tunec
