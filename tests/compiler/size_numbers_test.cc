// Tests of numbers that ONNX models compute from sizes. Models run directly and in bundles. The
// results are compared with expected values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/bundle/compile_sizes.h"
#include "compiler/bundle/write_bundle.h"
#include "compiler/sized/load_sized.h"
#include "compiler/sized/sized_model.h"
#include "runtime/bundle/load_bundle.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/load_sized_bytes.h"
#include "tests/compiler/models.h"
#include "tests/compiler/size_numbers.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec {
namespace {

using onnx_test::Ints;
using onnx_test::Model;
using testing::Added;
using ::testing::AllOf;
using testing::HalfOf;
using ::testing::HasSubstr;
using testing::IsOne;
using testing::kWidth;
using testing::Number;
using testing::Remainder;
using testing::SlicedFrom;
using testing::Use;

Result<SizedSource> SourceOf(const Number& number, const Use& use, const DimSizes& lengths) {
  ModelOptions options;
  options.dims["length"] = lengths;
  const std::string bytes = testing::BytesOf(number, use);
  return testing::LoadSizedBytes(std::as_bytes(std::span(bytes)), "onnx", options);
}

DimSizes Range(int64_t least, int64_t most) { return {RoundedSizes(least, most), /*exact=*/false}; }

void ExpectRight(const AnyShape& model, const Number& number, const Use& use, int64_t n) {
  SCOPED_TRACE(fmt::format("{} {} at {}", number.name, use.name, n));
  Array x(DataType::kF32, {n, kWidth});
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t row = i / kWidth;
    x.SetDouble(i, static_cast<double>(row));
  }
  const std::vector<Shape> shapes = {x.shape()};
  const auto results = model.OutputShapes(shapes);
  ASSERT_TRUE(results) << results.error().Format();
  const std::vector<double> expected = use.first_column(n, number.of(n));
  ASSERT_EQ((*results)[0], (Shape{static_cast<int64_t>(expected.size()), kWidth}));
  Array y(DataType::kF32, (*results)[0]);
  const std::vector<const void*> from = {x.data()};
  const std::vector<void*> to = {y.mutable_data()};
  const Status run = model.Run(shapes, from, to);
  ASSERT_TRUE(run) << run.error().Format();
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(y.GetDouble(static_cast<int64_t>(i) * kWidth), expected[i]) << "row " << i;
}

class SizeNumbers : public ::testing::TestWithParam<std::pair<Number, Use>> {};

TEST_P(SizeNumbers, AreThoseOfEachSize) {
  const auto& [number, use] = GetParam();
  const DimSizes lengths = Range(32, 64);
  auto source = SourceOf(number, use, lengths);
  ASSERT_TRUE(source) << source.error().Format();
  SizedOptions options;
  options.listed = {{lengths.sizes, lengths.exact}};
  options.compile = testing::Options();
  const auto model = SizedModel::Make(*std::move(source), std::move(options), nullptr);
  ASSERT_TRUE(model) << model.error().Format();
  for (int64_t n = 32; n <= 64; ++n) ExpectRight(**model, number, use, n);
}

Result<LoadedBundle> Build(const Number& number, const Use& use, const DimSizes& lengths,
                           const testing::BundlePath& file) {
  TUNEC_ASSIGN(const SizedSource source, SourceOf(number, use, lengths));
  TUNEC_ASSIGN(BundleVariant variant,
               CompileSizedVariant(source, {{lengths.sizes, lengths.exact}}, nullptr,
                                   testing::OptionsForCpu("native"), "native"));
  std::vector<BundleVariant> variants;
  variants.push_back(std::move(variant));
  TUNEC_RETURN_IF_ERROR(WriteBundle(file.path(), std::move(variants)));
  return LoadBundle(file.path());
}

// A bundle of a few sizes has separate code for each size that needs it.
TEST_P(SizeNumbers, AreThoseOfEachSizeInABundle) {
  const auto& [number, use] = GetParam();
  const testing::BundlePath file;
  const auto bundle = Build(number, use, Range(36, 54), file);
  ASSERT_TRUE(bundle) << bundle.error().Format();
  for (int64_t n = 36; n <= 54; ++n) ExpectRight(*bundle->sized, number, use, n);
}

std::string NameOf(const ::testing::TestParamInfo<std::pair<Number, Use>>& info) {
  return info.param.first.name + "_" + info.param.second.name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Models, SizeNumbers, ::testing::ValuesIn(testing::AllNumbers()), NameOf);

int CountPadded(const SizedModel& model) {
  int padded = 0;
  const nlohmann::json report = nlohmann::json::parse(model.Report());
  for (const auto& each : report["executables"]) padded += each["open"][0].get<bool>() ? 1 : 0;
  return padded;
}

// Half of a size is a size at all sizes, so a few executables serve all sizes.
TEST(SizeNumbersOfRules, RunOnFewExecutables) {
  const Number half = HalfOf();
  const Use use = SlicedFrom();
  auto source = SourceOf(half, use, Range(16, 128));
  ASSERT_TRUE(source) << source.error().Format();
  SizedOptions options;
  options.listed = {{RoundedSizes(16, 128), false}};
  options.compile = testing::Options();
  const auto model = SizedModel::Make(*std::move(source), std::move(options), nullptr);
  ASSERT_TRUE(model) << model.error().Format();
  for (int64_t n = 65; n <= 128; ++n) ExpectRight(**model, half, use, n);
  EXPECT_EQ(CountPadded(**model), 4) << (*model)->Report();
  EXPECT_FALSE(nlohmann::json::parse((*model)->Report()).contains("refused")) << (*model)->Report();
}

TEST(SizeNumbersOfOneSize, AreRightInFewExecutables) {
  const Number is_one = IsOne(117);
  const testing::BundlePath file;
  const auto bundle = Build(is_one, Added(), Range(100, 128), file);
  ASSERT_TRUE(bundle) << bundle.error().Format();
  for (int64_t n = 100; n <= 128; ++n) ExpectRight(*bundle->sized, is_one, Added(), n);
  const auto report = nlohmann::json::parse(bundle->sized->Report());
  EXPECT_LE(report["executables"].size(), 4U) << report;
}

// A remainder that is added to elements needs no exact code. A remainder that is the size of a
// result does: padded code has as many elements as the largest size, which may be fewer.
TEST(SizeNumbersOfRanges, AreRejectedWhereEachOfManyNeedsCode) {
  const testing::BundlePath file;
  const auto added = Build(Remainder(10), Added(), Range(16, 512), file);
  ASSERT_TRUE(added) << added.error().Format();
  for (int64_t n = 16; n <= 512; n += 7) ExpectRight(*added->sized, Remainder(10), Added(), n);
  const auto bundle = Build(Remainder(10), SlicedFrom(), Range(16, 512), file);
  if (bundle) {
    for (int64_t n = 16; n <= 512; n += 7)
      ExpectRight(*bundle->sized, Remainder(10), SlicedFrom(), n);
    return;
  }
  EXPECT_EQ(bundle.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(bundle.error().message,
              AllOf(HasSubstr("a range of length needs code for each size"),
                    HasSubstr("list the sizes that are needed, as length=16,512")));
}

/// Returns true if the bundle runs at the length `n`. In this case, checks the first element.
bool RunsOrRejects(const SizedBundle& bundle, const Number& number, int64_t n) {
  const std::vector<float> x(static_cast<size_t>(n * kWidth), 0.0F);
  std::vector<float> y(x.size());
  const std::vector<Shape> shapes = {{n, kWidth}};
  const std::vector<const void*> from = {x.data()};
  const std::vector<void*> to = {y.data()};
  const bool runs = bundle.Run(shapes, from, to).has_value();
  if (runs) {
    EXPECT_EQ(y[0], static_cast<float>(number.of(n))) << n;
  }
  return runs;
}

TEST(SizeNumbersOfLists, AreRightOrRejected) {
  const testing::BundlePath file;
  const auto bundle = Build(Remainder(10), Added(), {{100, 109, 120}}, file);
  ASSERT_TRUE(bundle) << bundle.error().Format();
  for (int64_t n = 1; n <= 120; ++n) {
    const bool is_listed = n == 100 || n == 109 || n == 120;
    const bool runs = RunsOrRejects(*bundle->sized, Remainder(10), n);
    EXPECT_TRUE(runs || !is_listed) << n;
  }
}

// A number depends on both sizes, so a run must not be split, although its rows are independent.
TEST(SizeNumbersOfTwo, AreThoseOfBoth) {
  Model model(14);
  model.Input("x", {-1, -1})
      .Constant("first", Ints({1}, {0}))
      .Constant("m", Ints({1}, {7}))
      .Node("Shape", {"x"}, {"shape"})
      .Node("ReduceProd", {"shape"}, {"all"}, {{"keepdims", 1}})
      .Node("Mod", {"all", "m"}, {"r"})
      .Node("Cast", {"r"}, {"f"}, {{"to", onnx_test::OnnxType(DataType::kF32)}})
      .Node("Add", {"x", "f"}, {"y"})
      .Output("y");
  auto* shape =
      model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->mutable_dim(1)->set_dim_param("length");
  const std::string bytes = model.Bytes();
  ModelOptions load;
  load.dims = {{"batch", {{1, 8}}}, {"length", Range(16, 64)}};
  auto source = testing::LoadSizedBytes(std::as_bytes(std::span(bytes)), "onnx", load);
  ASSERT_TRUE(source) << source.error().Format();
  SizedOptions options;
  options.listed = {{.sizes = {1, 8}}, {RoundedSizes(16, 64), false}};
  options.compile = testing::Options();
  const auto made = SizedModel::Make(*std::move(source), std::move(options), nullptr);
  ASSERT_TRUE(made) << made.error().Format();
  for (const auto& [batch, length] :
       {std::pair{1, 20}, {8, 64}, {5, 21}, {9, 35}, {3, 40}, {7, 33}, {16, 29}}) {
    Array x(DataType::kF32, {batch, length}), y(DataType::kF32, {batch, length});
    const std::vector<const void*> from = {x.data()};
    const std::vector<void*> to = {y.mutable_data()};
    const std::vector<Shape> shapes = {x.shape()};
    const Status run = (*made)->Run(shapes, from, to);
    ASSERT_TRUE(run) << run.error().Format();
    for (int64_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y.GetDouble(i), batch * length % 7) << batch << "x" << length << " " << i;
  }
}

}  // namespace
}  // namespace tunec
