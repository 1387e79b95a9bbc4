// Tests of the recording of spans.
#include "support/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> StagesOf(const std::vector<TraceSpan>& spans) {
  std::vector<std::string> stages;
  for (const TraceSpan& span : spans) stages.push_back(span.stage);
  return stages;
}

TEST(Trace, ScopesWithoutARecordingRecordNothing) {
  { const TraceScope scope("before"); }
  const TraceRecording recording;
  EXPECT_THAT(recording.Spans(), IsEmpty());
}

TEST(Trace, SpansNestAndAreInTheOrderOfTheirEnds) {
  const TraceRecording recording;
  {
    const TraceScope outer("outer", "detail");
    { const TraceScope inner("inner"); }
    EXPECT_THAT(StagesOf(recording.Spans()), ElementsAre("inner"));
  }
  const std::vector<TraceSpan> spans = recording.Spans();
  ASSERT_THAT(StagesOf(spans), ElementsAre("inner", "outer"));
  EXPECT_EQ(spans[1].detail, "detail");
  EXPECT_LE(spans[1].begin, spans[0].begin);
  EXPECT_LE(spans[0].begin, spans[0].end);
  EXPECT_LE(spans[0].end, spans[1].end);
  EXPECT_LE(spans[0].processor, spans[1].processor);
}

TEST(Trace, ThreadsHaveNumbers) {
  const TraceRecording recording;
  const auto span = [] { const TraceScope scope("work"); };
  span();
  for (int i = 0; i < 2; ++i) std::thread(span).join();
  span();
  std::vector<int> threads;
  for (const TraceSpan& each : recording.Spans()) threads.push_back(each.thread);
  EXPECT_THAT(threads, ElementsAre(0, 1, 2, 0));
}

TEST(Trace, ALaterRecordingStartsAnew) {
  for (int i = 0; i < 2; ++i) {
    const TraceRecording recording;
    { const TraceScope scope("work"); }
    const std::vector<TraceSpan> spans = recording.Spans();
    ASSERT_EQ(spans.size(), 1U);
    EXPECT_EQ(spans[0].thread, 0);
  }
}

TEST(Trace, SleepingTakesNoProcessorTime) {
  const TraceRecording recording;
  {
    const TraceScope scope("sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const TraceSpan span = recording.Spans().at(0);
  EXPECT_GE(span.end - span.begin, 20'000'000);
  EXPECT_LT(span.processor, 20'000'000);
}

}  // namespace
}  // namespace tunec
