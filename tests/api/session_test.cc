// Tests of tunec.hpp as a C++ program uses it: this file includes no internal header of tunec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tunec/tunec.hpp>

#include "models.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tunec::Session;
using tunec::Tensor;

const std::string kTiny = std::string(TUNEC_TEST_DATA) + "/tiny.graph";
const std::string kProduct = std::string(TUNEC_TEST_DATA) + "/matmul.graph";
const std::string kNoDatabase = R"({"threads": 2, "db": ""})";
const std::string kFewTrials = R"({"threads": 1, "db": "", "trials": 4})";

// Returns the value. If there is none, throws an exception.
template <class T>
T Must(tunec::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Session, KnowsWhatGoesInAndComesOut) {
  const Session session = Must(Session::Compile(kTiny, kNoDatabase));
  const auto inputs = session.Inputs();
  const auto outputs = session.Outputs();
  ASSERT_EQ(inputs.size(), 3u);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "a");
  EXPECT_THAT(inputs[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(inputs[0].type.code, kDLFloat);
  EXPECT_EQ(inputs[0].bytes, 24u);
  EXPECT_EQ(outputs[1].name, "n");
  EXPECT_EQ(outputs[1].type.code, kDLInt);
  EXPECT_EQ(outputs[1].type.bits, 64);
  EXPECT_EQ(session.InputIndex("k"), 2u);
  EXPECT_EQ(session.InputIndex("y"), std::nullopt);
  EXPECT_EQ(session.OutputIndex("n"), 1u);
  EXPECT_FALSE(session.StepNames().empty());
  EXPECT_EQ(session.OutsideIndices(), 0u);
}

TEST(Session, TensorsThatLieOtherwise) {
  constexpr std::string_view kText =
      "graph g {\n  input x: f32[2, 3, 4]\n  y = neg(x)\n  output y\n}\n";
  const Session session = Must(Session::CompileBytes(
      Bytes(kText), "graph", R"({"threads": 1, "db": "", "layouts": {"x": "channels_last"}})"));
  EXPECT_THAT(session.Inputs()[0].shape, ElementsAre(2, 3, 4));
  EXPECT_THAT(session.Inputs()[0].order, ElementsAre(0, 2, 1));
  EXPECT_TRUE(session.Outputs()[0].order.empty());
  const std::vector<Tensor> inputs = session.NewInputs();
  const std::span x = Must(inputs[0].As<float>());
  std::iota(x.begin(), x.end(), 0.0F);
  const std::vector<Tensor> outputs = Must(session.Run(inputs));
  const std::span y = Must(outputs[0].As<float>());
  for (size_t n = 0; n < 2; ++n)
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(y[n * 12 + c * 4 + i], -x[n * 12 + i * 3 + c]);
}

// A graph with the dynamic dimensions batch and length. Its outputs are the mean along the length,
// the last position of the length, and the doubled input.
constexpr std::string_view kOfAnyLength = R"(graph of_any_length {
  input x: f32[batch, length]
  mean = reduce_mean(x) {axes=[1], keepdims=0}
  last = slice(x) {starts=[0, length - 1], ends=[batch, length]}
  twice = add(x, x)
  output mean
  output last
  output twice
})";

TEST(Session, OfAnySize) {
  const Session session = Must(Session::CompileBytes(
      Bytes(kOfAnyLength), "graph",
      R"({"threads": 1, "db": "", "dims": {"batch": [2, 4], "length": [12, 24]}})"));
  EXPECT_THAT(session.Inputs()[0].shape, ElementsAre(-1, -1));
  EXPECT_THAT(session.Outputs()[1].shape, ElementsAre(-1, 1));
  EXPECT_EQ(session.Inputs()[0].bytes, 0);
  for (const auto& [batch, length] : {std::pair{2, 12}, {3, 20}, {1, 7}, {5, 30}}) {
    std::vector<float> numbers(static_cast<size_t>(batch * length));
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    std::vector<Tensor> inputs;
    inputs.push_back(Must(Tensor::View(numbers, std::array<int64_t, 2>{batch, length})));
    const auto shapes = Must(session.OutputShapes(inputs));
    EXPECT_THAT(shapes[2], ElementsAre(batch, length));
    const std::vector<Tensor> outputs = Must(session.Run(inputs));
    const auto mean = *outputs[0].As<float>();
    const auto last = *outputs[1].As<float>();
    ASSERT_EQ(mean.size(), static_cast<size_t>(batch));
    for (int b = 0; b < batch; ++b) {
      const auto first = static_cast<float>(b * length);
      EXPECT_NEAR(mean[b], first + static_cast<float>(length - 1) / 2, 1e-3);
      EXPECT_EQ(last[b], first + static_cast<float>(length - 1));
    }
    EXPECT_EQ((*outputs[2].As<float>())[batch * length - 1],
              2 * static_cast<float>(batch * length - 1));
  }
  const auto report = nlohmann::json::parse(session.Report());
  EXPECT_THAT(report["dimensions"], ElementsAre("batch", "length"));
}

TEST(Session, OfAnySizeWithWeightsOfTheCaller) {
  constexpr std::string_view kText = R"(graph layer {
  input x: f32[batch, 4]
  weight w: f32[4, 3]
  y = matmul(x, w)
  output y
})";
  const std::vector<float> ones(12, 1.0F);
  std::map<std::string, Tensor> weights;
  weights.emplace("w", Must(Tensor::View(ones, std::array<int64_t, 2>{4, 3})));
  const Session session = Must(Session::CompileGraph(
      kText, weights, R"({"threads": 1, "db": "", "dims": {"batch": [1, 8]}})"));
  weights.clear();
  for (const int64_t batch : {1, 3, 8, 19}) {
    const std::vector<float> x(static_cast<size_t>(batch) * 4, 2.0F);
    std::vector<Tensor> inputs;
    inputs.push_back(Must(Tensor::View(x, std::array<int64_t, 2>{batch, 4})));
    const std::vector<Tensor> outputs = Must(session.Run(inputs));
    const std::span values = Must(outputs[0].As<float>());
    for (const float y : values) EXPECT_EQ(y, 8.0F);
  }
}

TEST(Session, RunsOnTensorsOfItsOwn) {
  const Session session = Must(Session::Compile(kTiny, kNoDatabase));
  const std::vector<Tensor> inputs = session.NewInputs();
  std::ranges::fill(Must(inputs[0].As<float>()), -1.0F);
  std::ranges::copy(std::array{0.5F, 1.0F, 3.0F}, Must(inputs[1].As<float>()).begin());
  std::ranges::fill(Must(inputs[2].As<int64_t>()), 10);
  const std::vector<Tensor> outputs = Must(session.Run(inputs));
  EXPECT_THAT(Must(outputs[0].As<const float>()), ElementsAre(0, 0, 2, 0, 0, 2));
  EXPECT_THAT(Must(outputs[1].As<const int64_t>()), ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(outputs[0].shape(), ElementsAre(2, 3));

  const auto seconds = Must(session.Profile(inputs, outputs));
  EXPECT_EQ(seconds.size(), session.StepNames().size());
}

TEST(Session, RunsWithoutInputs) {
  constexpr std::string_view kText =
      "graph g {\n  constant c: f32[2] = [1, 2]\n  y = neg(c)\n  output y\n}\n";
  const Session session = Must(Session::CompileBytes(Bytes(kText), "graph", kNoDatabase));
  const std::vector<Tensor> outputs = Must(session.Run(std::span<const Tensor>()));
  EXPECT_THAT(Must(outputs[0].As<const float>()), ElementsAre(-1, -2));
}

TEST(Session, RunsOnElementsOfOthers) {
  const Session session =
      Must(Session::CompileBytes(std::as_bytes(std::span(kReluOnnx)), "onnx", kNoDatabase));
  const std::vector<int64_t> shape = {4};
  const std::array<float, 4> x = {-1, 2, -3, 4};
  std::vector<float> y(4);
  std::array<Tensor, 1> inputs = {Must(Tensor::View(x, shape))};
  std::array<Tensor, 1> outputs = {Must(Tensor::View(y, shape))};
  ASSERT_TRUE(session.Run(inputs, outputs));
  EXPECT_THAT(y, ElementsAre(0, 2, 0, 4));

  std::ranges::fill(y, 0.0F);
  const std::array raw_inputs = {inputs[0].dlpack()};
  const std::array raw_outputs = {outputs[0].dlpack()};
  ASSERT_TRUE(session.Run(raw_inputs, raw_outputs));
  EXPECT_THAT(y, ElementsAre(0, 2, 0, 4));
}

TEST(Session, CompilesAGraphWithGivenWeights) {
  constexpr std::string_view kScaled =
      "graph g {\n  input x: f32[4]\n  weight w: f32[4]\n  y = mul(x, w)\n  output y = y\n}\n";
  const std::array<float, 4> w = {1, 2, 3, 4};
  std::map<std::string, Tensor> weights;
  weights.emplace("w", Must(Tensor::View(w, std::vector<int64_t>{4})));
  const Session session = Must(Session::CompileGraph(kScaled, weights, kNoDatabase));
  const std::vector<Tensor> inputs = session.NewInputs();
  std::ranges::fill(Must(inputs[0].As<float>()), 2.0F);
  const std::vector<Tensor> outputs = Must(session.Run(inputs));
  EXPECT_THAT(Must(outputs[0].As<const float>()), ElementsAre(2, 4, 6, 8));
  const auto without = Session::CompileGraph(kScaled, {}, kNoDatabase);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().status, TUNEC_NOT_FOUND);
}

TEST(Session, WritesNoConstants) {
  const Session session =
      Must(Session::CompileBytes(std::as_bytes(std::span(kReluOnnx)), "onnx", kNoDatabase));
  const std::array<float, 4> x = {-1, 2, -3, 4};
  const std::array<Tensor, 1> view = {Must(Tensor::View(x, std::vector<int64_t>{4}))};
  EXPECT_TRUE(view[0].constant());
  EXPECT_TRUE(view[0].As<const float>());
  EXPECT_FALSE(view[0].As<float>());
  const auto ran = session.Run(view, view);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "an output is a view of constants");
  EXPECT_FALSE(session.Profile(view, view));
}

TEST(Session, CompilesFromBytes) {
  for (const char* format : {"graph", ""}) {
    const Session session = Must(Session::CompileBytes(Bytes(kDoubleGraph), format, kNoDatabase));
    EXPECT_EQ(session.Inputs()[0].name, "x");
  }
  for (size_t size = 0; size < sizeof kReluOnnx; ++size) {
    const auto part = std::as_bytes(std::span(kReluOnnx)).first(size);
    const auto damaged = Session::CompileBytes(part, "onnx", kNoDatabase);
    ASSERT_FALSE(damaged) << size;
    EXPECT_NE(damaged.error().message, "") << size;
  }
  const auto empty = Session::CompileBytes({}, "graph", kNoDatabase);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().status, TUNEC_PARSE_ERROR);
  EXPECT_EQ(empty.error().message, "the model has no bytes");
  const auto unknown = Session::CompileBytes(Bytes(kDoubleGraph), "hlo", kNoDatabase);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().status, TUNEC_INVALID_ARGUMENT);
  EXPECT_THAT(unknown.error().message, HasSubstr("'hlo', expected onnx or graph"));
}

TEST(Session, FailsWithStatusAndMessage) {
  const auto missing = Session::Compile("/nowhere.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().status, TUNEC_NOT_FOUND);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere.onnx"));

  const Session session = Must(Session::Compile(kTiny, kNoDatabase));
  const auto inputs = session.NewInputs();
  const auto outputs = session.NewOutputs();
  const auto few = session.Run(std::span(inputs).first(2), outputs);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().status, TUNEC_INVALID_ARGUMENT);
  EXPECT_EQ(few.error().message, "2 inputs and 2 outputs given, expected 3 and 2");
  EXPECT_FALSE(session.Profile(inputs, {}));
}

TEST(Tensor, IsZeroAndAligned) {
  const std::vector<int64_t> shape = {3, 5};
  const Tensor tensor(tunec::TensorSpec{"t", tunec::kElementType<double>, shape, 120});
  EXPECT_THAT(Must(tensor.As<double>()), ::testing::Each(0));
  EXPECT_EQ(tensor.bytes().size(), 120u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64, 0u);
}

TEST(Tensor, StaysWhereItIsWhenMoved) {
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  Tensor tensor = Must(Tensor::View(values, std::vector<int64_t>{2, 3}));
  const DLTensor* before = tensor.dlpack();
  const Tensor moved = std::move(tensor);
  EXPECT_EQ(moved.dlpack(), before);
  EXPECT_EQ(moved.dlpack()->data, values.data());
  EXPECT_EQ(moved.dlpack()->ndim, 2);
  EXPECT_EQ(moved.dlpack()->shape[1], 3);
  EXPECT_EQ(moved.dlpack()->strides, nullptr);
}

TEST(Tensor, RejectsOtherShapesAndTypes) {
  std::vector<float> values(6);
  using Shape = std::vector<int64_t>;
  EXPECT_TRUE(Tensor::View(values, Shape{1, 6, 1}));
  for (const Shape& shape : {Shape{7}, Shape{2, 2}, Shape{-2, -3}, Shape{0, 6}, Shape{},
                             Shape{INT64_MAX, INT64_MAX, 4}}) {
    const auto wrong = Tensor::View(values, shape);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message, "the shape of a tensor does not have its 6 elements");
  }
  EXPECT_TRUE(Tensor::View(std::span(values).first(1), Shape{}));
  EXPECT_TRUE(Tensor::View(std::span(values).first(0), Shape{3, 0}));
  const Tensor tensor = Must(Tensor::View(values, Shape{6}));
  EXPECT_TRUE(tensor.As<const float>());
  EXPECT_FALSE(tensor.As<double>());
  EXPECT_FALSE(tensor.As<int32_t>());
  EXPECT_EQ(tensor.As<uint8_t>().error().status, TUNEC_INVALID_ARGUMENT);
}

TEST(Session, CallsBack) {
  int64_t measured = 0;
  int asked = 0;
  const tunec::Callbacks callbacks = {
      .progress = [&](const tunec_progress& progress) { measured = progress.measured; },
      .cancelled = [&] { return ++asked < 0; }};
  EXPECT_TRUE(Session::Compile(kProduct, kFewTrials, callbacks));
  EXPECT_GT(measured, 0);
  EXPECT_GT(asked, 0);
  const auto cancelled = Session::Compile(kProduct, kFewTrials, {.cancelled = [] { return true; }});
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().status, TUNEC_CANCELLED);
}

TEST(Session, ThrowsWhatACallbackThrew) {
  int calls = 0;
  const auto complain = [&](const tunec_progress&) {
    ++calls;
    throw std::out_of_range("of the callback");
  };
  EXPECT_THROW({ (void)Session::Compile(kProduct, kFewTrials, {.progress = complain}); },
               std::out_of_range);
  EXPECT_EQ(calls, 1);
}

TEST(Session, ReportsAsJson) {
  const Session session = Must(Session::Compile(kProduct, kFewTrials));
  const auto report = nlohmann::json::parse(session.Report());
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("accuracy"), "f32");
  EXPECT_EQ(report.at("trials").at("asked"), 4);
  EXPECT_GT(report.at("trials").at("new"), 0);
  EXPECT_GT(report.at("compile_ms"), 0);
  const auto& kernel = report.at("kernels").at(0);
  EXPECT_EQ(kernel.at("kind"), "matmul");
  EXPECT_EQ(kernel.at("count"), 1);
  EXPECT_GE(kernel.at("flops"), 2 * 24 * 40 * 56);
  EXPECT_GT(kernel.at("recorded_ms"), 0);
}

std::string Background(const std::string& database, int trials) {
  return nlohmann::json{{"threads", 1}, {"db", database}, {"trials", trials}, {"background", true}}
      .dump();
}

std::string StateOf(const Session& session) {
  return nlohmann::json::parse(session.Report())["background"]["state"];
}

TEST(Session, TunesInTheBackground) {
  Session session = Must(Session::Compile(kProduct, Background("", 4)));
  const char* const name = tunec_input_name(session.get(), 0);
  const std::vector<Tensor> inputs = session.NewInputs();
  for (const Tensor& input : inputs) std::ranges::fill(Must(input.As<float>()), 0.5F);
  const std::vector<Tensor> before = Must(session.Run(inputs));
  EXPECT_TRUE(session.StepNames().empty());
  EXPECT_EQ(session.Profile(inputs, before).error().status, TUNEC_UNSUPPORTED);
  ASSERT_TRUE(Must(session.WaitTuning(1000)));
  const auto report = nlohmann::json::parse(session.Report());
  EXPECT_EQ(report["background"]["state"], "ended");
  EXPECT_EQ(report["background"]["trials"], 4);
  EXPECT_TRUE(report["background"]["error"].is_null());
  EXPECT_EQ(report["kernels"][0]["schedule"], "tuned");
  EXPECT_EQ(tunec_input_name(session.get(), 0), name);
  const std::vector<Tensor> after = Must(session.Run(inputs));
  const std::span expected = Must(before[0].As<float>());
  const std::span values = Must(after[0].As<float>());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-4F);
  EXPECT_TRUE(session.StopTuning());
  EXPECT_EQ(StateOf(session), "ended");
}

TEST(Session, StopsTuningInTheBackground) {
  Session session = Must(Session::Compile(kProduct, Background("", 1000000)));
  EXPECT_FALSE(Must(session.WaitTuning(0)));
  EXPECT_EQ(StateOf(session), "tuning");
  ASSERT_TRUE(session.StopTuning());
  EXPECT_TRUE(Must(session.WaitTuning(0)));
  EXPECT_EQ(StateOf(session), "stopped");
  EXPECT_TRUE(session.Run(session.NewInputs()));
  Session released = Must(Session::Compile(kProduct, Background("", 1000000)));
  session = std::move(released);  // releases the stopped one; the end of the test, the other
}

TEST(Session, AForkOfAProgramThatTunesEnds) {
  const Session session = Must(Session::Compile(kProduct, Background("", 1000000)));
  const pid_t child = fork();
  if (child == 0) exit(7);  // runs the functions of atexit
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(StateOf(session), "tuning");
}

TEST(Session, RunsAfterTuningInTheBackgroundHasFailed) {
  const std::string options =
      R"({"threads": 1, "db": "", "trials": 4, "background": true, "worker": "/no/such/worker"})";
  const Session session = Must(Session::Compile(kProduct, options));
  const auto waited = session.WaitTuning(1000);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().status, TUNEC_NOT_FOUND);
  EXPECT_EQ(StateOf(session), "failed");
  EXPECT_TRUE(session.Run(session.NewInputs()));
}

TEST(Session, CountsIndicesOfReplacedCode) {
  constexpr std::string_view kGather = R"(graph g {
    input x: f32[4, 8]
    input k: i64[2]
    y = gather(x, k) {axis=0}
    output y
  })";
  const Session session = Must(Session::CompileBytes(Bytes(kGather), "graph", Background("", 2)));
  const std::vector<Tensor> inputs = session.NewInputs();
  std::ranges::fill(Must(inputs[1].As<int64_t>()), 7);
  ASSERT_TRUE(session.Run(inputs));
  const uint64_t counted = session.OutsideIndices();
  EXPECT_GT(counted, 0u);
  ASSERT_TRUE(Must(session.WaitTuning(1000)));
  // The replaced code adds its count when it is destroyed, which may be after the end of tuning.
  for (int i = 0; i < 1000 && session.OutsideIndices() < counted; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(session.OutsideIndices(), counted);
  ASSERT_TRUE(session.Run(inputs));
  EXPECT_EQ(session.OutsideIndices(), 2 * counted);
}

TEST(Session, RejectsTuningDynamicShapesInTheBackground) {
  const auto session = Session::CompileBytes(
      Bytes(kOfAnyLength), "graph",
      R"({"threads": 1, "db": "", "dims": {"batch": [1, 2], "length": 4}, "background": true})");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().status, TUNEC_UNSUPPORTED);
  EXPECT_THAT(session.error().message, HasSubstr("background"));
}

TEST(Session, LogsOnlyDuringTheCall) {
  const std::filesystem::path database =
      std::filesystem::path(::testing::TempDir()) / "logs_only_during_the_call.db";
  struct Log {
    bool has_returned = false;
    int late_lines = 0;
  } log;
  tunec_callbacks callbacks = {};
  callbacks.size = sizeof callbacks;
  callbacks.user = &log;
  callbacks.log = [](void* user, const char*) {
    auto& of = *static_cast<Log*>(user);
    of.late_lines += of.has_returned ? 1 : 0;
  };
  const auto options = nlohmann::json{{"threads", 1},
                                      {"db", database.string()},
                                      {"dims", {{"batch", "1..64"}, {"length", "1..64"}}}};
  tunec_executable* made = nullptr;
  ASSERT_EQ(tunec_compile_bytes(kOfAnyLength.data(), kOfAnyLength.size(), "graph",
                                options.dump().c_str(), &callbacks, &made),
            TUNEC_OK)
      << tunec_error_message();
  log.has_returned = true;
  const std::unique_ptr<tunec_executable, decltype(&tunec_release)> model(made, tunec_release);
  // A run that compiles code notices that the database is missing.
  std::filesystem::remove(database);
  std::vector<float> x(40 * 50), mean(40), last(40), twice(40 * 50);
  const Tensor input = Must(Tensor::View(x, std::array<int64_t, 2>{40, 50}));
  const Tensor means = Must(Tensor::View(mean, std::array<int64_t, 1>{40}));
  const Tensor lasts = Must(Tensor::View(last, std::array<int64_t, 2>{40, 1}));
  const Tensor doubled = Must(Tensor::View(twice, std::array<int64_t, 2>{40, 50}));
  DLTensor* from[] = {input.dlpack()};
  DLTensor* to[] = {means.dlpack(), lasts.dlpack(), doubled.dlpack()};
  EXPECT_EQ(tunec_run(made, from, to), TUNEC_OK) << tunec_error_message();
  EXPECT_EQ(log.late_lines, 0);
}

TEST(Session, RunsInSeveralThreadsAndMoves) {
  Session first = Must(Session::CompileBytes(std::as_bytes(std::span(kReluOnnx)), "", kNoDatabase));
  const Session session = std::move(first);
  std::vector<std::thread> threads;
  std::array<int, 4> right = {};
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Tensor> inputs = session.NewInputs();
      const auto x = Must(inputs[0].As<float>());
      for (int run = 0; run < 200; ++run) {
        std::ranges::fill(x, static_cast<float>(run) - 100);
        const auto outputs = Must(session.Run(inputs));
        const float expected = std::max(x[0], 0.0F);
        right[t] += std::ranges::count(Must(outputs[0].As<float>()), expected) == 4 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ::testing::Each(200));
}

std::ptrdiff_t ThreadsOfThisProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(Session, ManyShareThreads) {
  const std::string options = R"({"threads": 4, "share_threads": true, "db": ""})";
  std::thread([] {}).join();  // a sanitizer may start its own thread with the first thread
  const auto before = ThreadsOfThisProcess();
  std::vector<Session> sessions;
  for (int i = 0; i < 3; ++i)
    sessions.push_back(Must(Session::CompileBytes(Bytes(kDoubleGraph), "graph", options)));
  EXPECT_LE(ThreadsOfThisProcess(), before + 3);
  sessions.erase(sessions.begin());
  for (const Session& session : sessions) {
    const std::vector<Tensor> inputs = session.NewInputs();
    std::ranges::fill(Must(inputs[0].As<float>()), 1.5F);
    const std::vector<Tensor> outputs = Must(session.Run(inputs));
    EXPECT_THAT(Must(outputs[0].As<float>()), ElementsAre(3, 3, 3, 3));
  }
}

// The driver is scripted: its kernels do nothing, and its memory is the host's.
TEST(Session, TakesTensorsOfItsGpu) {
  if (std::getenv("TUNEC_PTXAS") == nullptr) {
    ASSERT_EQ(std::getenv("TUNEC_REQUIRE_PTXAS"), nullptr) << "no ptxas";
    GTEST_SKIP() << "no ptxas";
  }
  setenv("TUNEC_LIBCUDA", TUNEC_SCRIPTED_CUDA, 1);
  const Session session =
      Must(Session::CompileBytes(Bytes(kDoubleGraph), "graph", R"({"target": "cuda", "db": ""})"));
  unsetenv("TUNEC_LIBCUDA");
  alignas(16) std::array<float, 12> memory = {};
  DLTensor from = *session.NewInputs()[0].dlpack();
  DLTensor to = from;
  std::array<int64_t, 1> shape = {4};
  from.shape = to.shape = shape.data();
  from.data = memory.data();
  to.data = memory.data() + 8;
  from.device = to.device = {static_cast<DLDeviceType>(2), 0};
  const std::array inputs = {&from};
  const std::array outputs = {&to};
  EXPECT_TRUE(session.Run(inputs, outputs));
  EXPECT_EQ(session.Notes(), "");

  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's name for its default stream
  tunec_run_options options = {sizeof options, reinterpret_cast<void*>(1), 0};
  EXPECT_TRUE(session.Run(inputs, outputs, options));
  options.queued = 1;
  EXPECT_TRUE(session.Run(inputs, outputs, options));
  EXPECT_TRUE(session.Wait());
  options.stream = nullptr;
  const auto no_stream = session.Run(inputs, outputs, options);
  ASSERT_FALSE(no_stream);
  EXPECT_EQ(no_stream.error().status, TUNEC_INVALID_ARGUMENT);
  EXPECT_THAT(no_stream.error().message, HasSubstr("a queued run needs a stream"));

  from.byte_offset = sizeof(float);
  EXPECT_TRUE(session.Run(inputs, outputs));
  EXPECT_THAT(session.Notes(), HasSubstr("is not aligned to 16 bytes"));

  from.device.device_id = 1;
  const auto rejected = session.Run(inputs, outputs);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().status, TUNEC_INVALID_ARGUMENT);
  EXPECT_THAT(rejected.error().message,
              HasSubstr("is on GPU 1, expected the CPU (1) or GPU 0, which runs the model"));
}

TEST(Session, SaysThatItsGpuHangs) {
  if (std::getenv("TUNEC_PTXAS") == nullptr) GTEST_SKIP() << "no ptxas";
  // A driver reads its script when it is loaded, so this test uses a separate copy of the driver.
  const std::filesystem::path driver = ::testing::TempDir() + "hanging_cuda.so";
  std::filesystem::copy_file(TUNEC_SCRIPTED_CUDA, driver,
                             std::filesystem::copy_options::overwrite_existing);
  setenv("TUNEC_LIBCUDA", driver.c_str(), 1);
  setenv("TUNEC_CUDA_SCRIPT", "hang", 1);
  const Session session = Must(Session::CompileBytes(
      Bytes(kDoubleGraph), "graph", R"({"target": "cuda", "db": "", "hang_after": "0.1s"})"));
  unsetenv("TUNEC_LIBCUDA");
  unsetenv("TUNEC_CUDA_SCRIPT");
  const auto rejected = session.Run(session.NewInputs());
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().status, TUNEC_DEVICE_ERROR);
  EXPECT_THAT(rejected.error().message, HasSubstr("NVIDIA S1 (device 0) hangs, in a graph of"));
}

}  // namespace
