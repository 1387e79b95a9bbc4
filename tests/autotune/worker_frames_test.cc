// Tests the worker with frames that no tuner sends. The worker answers each frame and still serves
// the next one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "autotune/worker/protocol.h"
#include "support/random.h"
#include "tests/autotune/served_here.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/replaced.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;
using testing::kGoodSchedule;
using testing::MatmulRelu;
using testing::ServedHere;
using testing::WorkloadOf;

std::string GoodPrepare() { return Encode(Request(PrepareRequest{WorkloadOf(MatmulRelu())})); }

std::string GoodMeasure() {
  return Encode(Request(MeasureRequest{{{kGoodSchedule}, {"lower direct\n"}}, std::nullopt}));
}

void ExpectServing(ServedHere& worker) {
  EXPECT_TRUE(worker.Ask(GoodPrepare()).empty());
  size_t measured = 0;
  for (const Event& event : worker.Ask(GoodMeasure())) {
    const auto* finished = std::get_if<FinishedEvent>(&event);
    if (finished == nullptr) continue;
    EXPECT_EQ(finished->measurement.status, TrialStatus::kOk) << finished->measurement.message;
    ++measured;
  }
  EXPECT_EQ(measured, 2u);
}

TEST(WorkerFrames, WhatCannotBeIsNamed) {
  ServedHere worker;
  const std::string good = GoodPrepare();
  const auto with = [&](const std::string& from, const std::string& to) {
    return worker.Rejection(test::ReplacedOnce(good, from, to));
  };
  const auto number = [&](const std::string& field, const std::string& value) {
    const std::regex pattern("\"" + field + "\":[0-9]+");
    return worker.Rejection(std::regex_replace(good, pattern, "\"" + field + "\":" + value));
  };
  EXPECT_THAT(with("  C[i: 37, j: 13]", "  C[i: 37, j: 99999999999]"), HasSubstr("C: index 1"));
  EXPECT_THAT(with("output C: f32[37, 13]", "output C: f32[37, 7]"), HasSubstr("index 1 of C"));
  EXPECT_THAT(with("input A: f32[37, 29]", "input A: f32[37, 0]"), HasSubstr("index 1 of A"));
  EXPECT_THAT(with("acc[i: 37, j: 13,", "acc[i: 37, j: 12,"), HasSubstr("which nothing wrote"));
  EXPECT_THAT(with("input A: f32[37, 29]", "input A: f32[281474976710656, 29]"),
              HasSubstr("no element count"));
  EXPECT_THAT(with("workspace acc: f32[37, 13]", "workspace acc: f32[4000000000, 1300]"),
              HasSubstr("bytes as float64"));
  EXPECT_THAT(number("vector_bits", "18446744073709551615"), HasSubstr("vector_bits is 1844674"));
  EXPECT_THAT(number("vector_bits", "128"), HasSubstr("expected 16 of 256 or 32 of 512"));
  EXPECT_THAT(number("threads", "0"), HasSubstr("threads is 0"));
  EXPECT_THAT(number("l2", "1.5"), HasSubstr("l2 is 1.5"));
  EXPECT_THAT(number("version", "\"1\""), HasSubstr("the tuner speaks protocol"));
  EXPECT_THAT(with("\"avx\"", "\"avx1024\""), HasSubstr("it has no avx1024"));
  EXPECT_THAT(worker.Rejection(GoodMeasure()), HasSubstr("no workload was prepared"));
  ExpectServing(worker);
}

TEST(WorkerFrames, AFrameOfAbsurdLengthIsAnswered) {
  ServedHere worker;
  const std::vector<Event> events = worker.AskBytes("\xff\xff\xff\x7f");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(std::get<FailedEvent>(events[0]).error.message, HasSubstr("a frame of 2147483647"));
}

/// Returns the text with a random change, such as a few flipped bits. The text is framed later, so
/// the frame is valid.
std::string Mutated(std::string text, Random& random) {
  const auto somewhere = [&] { return random.Below(text.size()); };
  switch (random.Below(5)) {
    case 0:
      for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
        text[somewhere()] ^= static_cast<char>(1 << random.Below(8));
      }
      return text;
    case 1:
      return text.substr(0, somewhere());
    case 2:
      return text.erase(somewhere(), 1 + random.Below(8));
    default:
      break;
  }
  static constexpr const char* kValues[] = {"-1",
                                            "0",
                                            "1",
                                            "7",
                                            "1.5",
                                            "null",
                                            "\"x\"",
                                            "[]",
                                            "1e999",
                                            "1000000",
                                            "2147483648",
                                            "99999999999",
                                            "9223372036854775807",
                                            "18446744073709551615"};
  static const std::regex kNumber("[0-9]+");
  const auto begin = std::sregex_iterator(text.begin(), text.end(), kNumber);
  const auto count = static_cast<uint64_t>(std::distance(begin, std::sregex_iterator()));
  if (count == 0) return text + "x";
  const auto chosen = std::next(begin, static_cast<ptrdiff_t>(random.Below(count)));
  return text.replace(static_cast<size_t>(chosen->position()),
                      static_cast<size_t>(chosen->length()),
                      kValues[random.Below(std::size(kValues))]);
}

/// Returns true if the request's first lowering has over 1 GB of tensors, counted as float64. The
/// worker accepts up to UsableMemory, but filling the memory does not test frames.
bool IsLarge(const std::string& text) {
  const auto request = DecodeRequest(text);
  const auto* prepare = request ? std::get_if<PrepareRequest>(&*request) : nullptr;
  if (prepare == nullptr) return false;
  double bytes = 0;
  for (const Tensor& tensor : prepare->workload.lowerings[0].compute.tensors) {
    bytes += 8 * static_cast<double>(StorageElements(tensor));
  }
  return bytes > 1e9;
}

TEST(WorkerFrames, AThousandMutatedOnesAreAnswered) {
  ServedHere worker;
  Random random(20);
  int answered = 0;
  for (int round = 0; round < 1000; ++round) {
    if (round % 4 == 3) {
      EXPECT_TRUE(worker.Ask(GoodPrepare()).empty());
    }
    const std::string text = Mutated(round % 4 == 3 ? GoodMeasure() : GoodPrepare(), random);
    if (IsLarge(text)) continue;
    // A valid workload gives no events before DoneEvent.
    if (worker.Ask(text).empty() && DecodeRequest(text)) continue;
    ++answered;
  }
  EXPECT_GT(answered, 500);
  ExpectServing(worker);
}

}  // namespace
}  // namespace tunec
