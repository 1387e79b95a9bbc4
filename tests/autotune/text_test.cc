// Tests text formats of autotune/: protocol messages, failing cases and tuning keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/worker/case.h"
#include "autotune/worker/protocol.h"
#include "support/file.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using testing::kGoodSchedule;
using testing::kIllegalSchedule;
using testing::MatmulRelu;
using testing::TaskOf;
using testing::WorkloadOf;

TEST(Protocol, RequestsReadBack) {
  Workload on_a_device = WorkloadOf(MatmulRelu());
  on_a_device.device = "GPU-01";
  Workload of_callers = WorkloadOf(MatmulRelu());
  of_callers.callers = {"A", "C"};
  const std::vector<Request> requests = {
      HelloRequest{},
      PrepareRequest{WorkloadOf(MatmulRelu()), false, {}},
      PrepareRequest{on_a_device, false, {}},
      PrepareRequest{of_callers, false, {}},
      PrepareRequest{WorkloadOf(MatmulRelu()), /*timing_lock=*/true, /*ahead=*/{}},
      PrepareRequest{WorkloadOf(MatmulRelu()), false, /*ahead=*/{{kGoodSchedule}, {"x"}}},
      MeasureRequest{{{kGoodSchedule}, {"x"}}, Incumbent{"lower direct\n", 0.125}},
      MeasureRequest{{{kGoodSchedule}}, std::nullopt},
      CompareRequest{{{kGoodSchedule}}, 0.5},
  };
  for (const Request& request : requests) {
    const Result<Request> back = DecodeRequest(Encode(request));
    ASSERT_TRUE(back) << back.error().Format();
    EXPECT_EQ(Encode(*back), Encode(request));
  }
  const Request back = *DecodeRequest(Encode(requests[2]));
  EXPECT_EQ(std::get<PrepareRequest>(back).workload.device, "GPU-01");
  EXPECT_FALSE(std::get<PrepareRequest>(back).timing_lock);
}

TEST(Protocol, EventsReadBack) {
  FinishedEvent finished{3, {.status = TrialStatus::kOk, .samples = {1e-3, 1.0 / 3}}};
  finished.measurement.accuracy_error = 1e-7;
  finished.measurement.note = "code.registers=40";
  finished.measurement.message = "caf\xc3\xa9 \n\"";
  const std::vector<Event> events = {
      StartedEvent{1, Stage::kMeasure},
      CompiledEvent{2},
      WaitingEvent{},
      NoteEvent{"a line"},
      finished,
      FailedEvent{{ErrorCode::kResourceLimit, "no memory", std::nullopt}},
      DoneEvent{}};
  for (const Event& event : events) {
    const Result<Event> back = DecodeEvent(Encode(event));
    ASSERT_TRUE(back) << back.error().Format();
    EXPECT_EQ(Encode(*back), Encode(event));
  }
  const Event back = *DecodeEvent(Encode(Event(finished)));
  EXPECT_EQ(std::get<FinishedEvent>(back).measurement, finished.measurement);
}

TEST(Protocol, TheCodeOfACandidateArrivesAsItLeft) {
  FinishedEvent finished{1, {.samples = {1e-3}}};
  finished.measurement.artifact = Artifact{std::string("\0\xff{\0", 4), R"({"format": 2})"};
  const std::string text = Encode(Event(finished));
  const Result<Event> back = DecodeEvent(text);
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(std::get<FinishedEvent>(*back).measurement, finished.measurement);

  std::string changed = text;
  changed.back() = '1';
  EXPECT_THAT(DecodeEvent(changed).error().Format(), HasSubstr("does not match its hash"));
  EXPECT_FALSE(DecodeEvent(std::string_view(text).substr(0, text.size() - 1)));
  EXPECT_FALSE(DecodeEvent(std::string_view(text).substr(0, text.find('\0'))));
}

TEST(Protocol, NonsenseIsAnError) {
  for (const char* text : {"", "{", "[]", "{}", R"({"request":"dance"})",
                           R"({"request":"measure"})", R"({"event":"finished"})"}) {
    EXPECT_FALSE(DecodeRequest(text)) << text;
    EXPECT_FALSE(DecodeEvent(text)) << text;
  }
}

TEST(Protocol, ADeviceIsPartOfTheTarget) {
  Target target = DetectCpu(2);
  target.device = Accelerator{.kind = "cuda",
                              .name = "sm_90a",
                              .features = {"sm_80", "sm_90"},
                              .processors = 132,
                              .shared_bytes = 232448,
                              .part = "h100",
                              .registers = 65536,
                              .processor_shared_bytes = 233472,
                              .resident_threads = 2048,
                              .resident_blocks = 32,
                              .multiply_adds = 128,
                              .matrix_f16 = 2048,
                              .matrix_tf32 = 1024,
                              .matrix_i8 = 4096,
                              .l2_bytes = 52428800,
                              .bytes_per_second = 3350000000000,
                              .clock_hertz = 1980000000};
  const std::string text = EncodeTarget(target);
  const Result<Target> back = DecodeTarget(text);
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(*back, target);

  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(DecodeTarget(with("\"processors\":132", "\"processors\":0")).error().message,
              HasSubstr("processors is 0"));
  EXPECT_THAT(DecodeTarget(with("\"l2_bytes\":52428800", "\"l2_bytes\":-1")).error().message,
              HasSubstr("l2_bytes is -1"));
  EXPECT_THAT(DecodeTarget(with("\"kind\":\"cuda\"", "\"kind\":\"cpu\"")).error().message,
              HasSubstr("target kind 'cpu' has a device"));
  EXPECT_THAT(DecodeTarget(with("\"device\":", "\"other\":")).error().message,
              HasSubstr("target kind 'cuda' without a device"));
}

TEST(Protocol, AnotherVersionIsRejected) {
  std::string text = Encode(Request(HelloRequest{}));
  const std::string version = fmt::format("\"version\":{}", kProtocolVersion);
  text.replace(text.find(version), version.size(), "\"version\":999");
  const Result<Request> request = DecodeRequest(text);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, ErrorCode::kUnsupported);
}

TEST(Protocol, FramesArriveInPieces) {
  FrameReader reader;
  const std::string bytes = Frame("hello") + Frame("") + Frame(std::string(300, 'x'));
  std::vector<std::string> frames;
  for (const char byte : bytes) {
    reader.Append(std::string(1, byte));
    for (auto next = reader.Next(); next && *next; next = reader.Next()) frames.push_back(**next);
  }
  EXPECT_EQ(frames, (std::vector<std::string>{"hello", "", std::string(300, 'x')}));
  reader.Append("\xff\xff\xff\xff");
  EXPECT_FALSE(reader.Next());
}

TEST(CaseText, ReadsBackAndRepeats) {
  const Case failing{WorkloadOf(MatmulRelu()), {kIllegalSchedule}, "wrong\nx"};
  const std::string text = Print(failing);
  const Result<Case> back = ParseCase(text, "case");
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(Print(*back), text);
  const Result<Measurement> again = RepeatCase(*back);
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->status, TrialStatus::kIllegal);
}

TEST(CaseText, NamesWhatCallersPlace) {
  Case failing{WorkloadOf(MatmulRelu()), {kIllegalSchedule}, "x"};
  failing.workload.callers = {"A", "C"};
  const Result<Case> back = ParseCase(Print(failing), "case");
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(back->workload.callers, failing.workload.callers);
}

TEST(CaseText, DamageIsReportedAtItsLine) {
  const std::string text = Print(Case{WorkloadOf(MatmulRelu()), {kGoodSchedule}, "x"});
  EXPECT_THAT(ParseCase("rubbish", "f").error().Format(), HasSubstr("f:1: error: expected"));
  EXPECT_FALSE(ParseCase(text.substr(0, text.size() / 2), "f"));
  EXPECT_FALSE(ParseCase(text.substr(0, 60), "f"));
}

TEST(CaseText, IsWrittenUnderAStableName) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "tunec-cases";
  std::filesystem::remove_all(folder);
  const Case failing{WorkloadOf(MatmulRelu()), {kGoodSchedule}, "x"};
  const auto first = WriteCase(folder, failing);
  const auto second = WriteCase(folder, failing);
  ASSERT_TRUE(first) << first.error().Format();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(*ReadFile(*first), Print(failing));
}

TEST(Keys, NameTheFactsThatChangeTheResult) {
  const TuningTask task = TaskOf(MatmulRelu());
  Target target = DetectCpu(2);
  const TuningKey key = MakeTuningKey(task, target, {});
  EXPECT_EQ(key.workload.kind, "matmul");
  EXPECT_GT(key.workload.flops, 2 * 37 * 29 * 13 - 1);
  EXPECT_THAT(key.target, HasSubstr("accuracy=f32"));
  EXPECT_THAT(key.target, HasSubstr("threads=2"));
  EXPECT_EQ(key.policy, kMeasurementPolicy);
  EXPECT_NE(key, MakeTuningKey(task, target, {AccuracyMode::kExact}));
  target.host.threads = 1;
  EXPECT_NE(key, MakeTuningKey(task, target, {}));
}

TEST(Keys, TheGroupsNameIsNoPartOfThem) {
  Compute renamed = MatmulRelu();
  renamed.name = "another";
  EXPECT_EQ(WorkloadText(TaskOf(renamed)), WorkloadText(TaskOf(MatmulRelu())));
  const Result<Schedule> schedule = ParseSchedule(kGoodSchedule, "test");
  ASSERT_TRUE(schedule);
  const Target target = DetectCpu(2);
  const std::string key = ArtifactKey(TaskOf(MatmulRelu()), *schedule, target, {});
  EXPECT_EQ(key, ArtifactKey(TaskOf(renamed), *schedule, target, {}));
  EXPECT_THAT(key, HasSubstr("LLVM"));
  EXPECT_THAT(key, HasSubstr("vectorize C.j"));
  EXPECT_NE(key, ArtifactKey(TaskOf(renamed), Schedule{.lowering = "direct"}, target, {}));
}

TEST(KeyParts, SayInWhatTwoKeysDiffer) {
  const auto use = [](const Target& target, const char* accuracy) {
    return KeyUse{fmt::format("{} accuracy={}", Print(target), accuracy), "warm", 3};
  };
  Target two{.host = {.features = {"avx2", "fma"}, .threads = 2}};
  Target one = two;
  one.host.threads = 1;
  EXPECT_EQ(Compare(use(two, "f32"), use(two, "f32")), (KeyDifference{"", ""}));
  EXPECT_EQ(Compare(use(two, "f32"), use(one, "f32")), (KeyDifference{"threads=2", "threads=1"}));
  EXPECT_EQ(Compare(use(two, "f32"), use(one, "exact")),
            (KeyDifference{"threads=2 accuracy=f32", "threads=1 accuracy=exact"}));
  Target wide = two;
  wide.host.features.insert("avx512f");
  EXPECT_EQ(Compare(use(wide, "f32"), use(two, "f32")),
            (KeyDifference{"processors with avx512f", "fewer processor features"}));
  KeyUse older = use(two, "f32");
  older.schedule_version = 2;
  EXPECT_EQ(Compare(older, use(two, "f32")),
            (KeyDifference{"schedule_language=2", "schedule_language=3"}));
}

TEST(KeyParts, TellNearTargetsFromOthers) {
  const Target own{.host = {.features = {"avx2"}, .cores = 4, .threads = 2}};
  const auto distance = [&](const std::function<void(Target&)>& change) {
    Target other = own;
    change(other);
    return NearDistance(Print(other) + " accuracy=f32", Print(own) + " accuracy=f32");
  };
  EXPECT_EQ(distance([](Target&) {}), std::nullopt);
  EXPECT_EQ(distance([](Target& target) { target.host.l3_bytes = 1; }), 1);
  EXPECT_EQ(distance([](Target& target) {
              target.host.l1_bytes = target.host.l2_bytes = 1;
              target.host.cores = 8;
            }),
            3);
  EXPECT_EQ(distance([](Target& target) { target.host.threads = 1; }), 8);
  EXPECT_EQ(distance([](Target& target) { target.host.features = {"avx2", "fma"}; }), std::nullopt);
  EXPECT_EQ(distance([](Target& target) { target.host.cpu = "znver3"; }), std::nullopt);
  EXPECT_EQ(NearDistance("cpu x [avx2] l3=1 accuracy=f32", "cpu x [avx2] l3=2 accuracy=exact"), 17);
  EXPECT_EQ(NearDistance("cuda sm_90 [] l2=1 accuracy=f32", "cuda sm_90 [] l2=2 accuracy=f32"),
            std::nullopt);
  EXPECT_EQ(NearDistance("rubbish", "cpu x [avx2] l3=2"), std::nullopt);
}

TEST(KeyParts, TellTargetsApart) {
  const Target two{.host = {.features = {"avx2"}, .threads = 2}};
  Target one = two;
  one.host.threads = 1;
  one.host.l3_bytes = 5;
  const DistinctTargets apart = FindDistinctTargets({Print(two), Print(one)});
  EXPECT_EQ(apart.own, (std::vector<std::string>{"l3=16777216 threads=2", "l3=5 threads=1"}));
  EXPECT_THAT(apart.common, HasSubstr("cpu generic [avx2] vector_bits=256"));
  EXPECT_EQ(FindDistinctTargets({Print(two)}).common, Print(two));
  const DistinctTargets odd = FindDistinctTargets({"another form", Print(two)});
  EXPECT_EQ(odd.own, (std::vector<std::string>{"another form", Print(two)}));
}

}  // namespace
}  // namespace tunec
