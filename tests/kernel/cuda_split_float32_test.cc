// Tests of the accuracy of float32 products whose operands are split into bfloat16 numbers for
// tensor cores. The emulated machine code is compared with float64 and with sums of float32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/loop_pipeline.h"
#include "kernel/run_once.h"
#include "schedule/sketch.h"
#include "support/check.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr int kRows = 64;
constexpr int kColumns = 64;
constexpr int kInner = 512;

// Returns the text of a product. If `finite`, the second operand is a weight known to be finite.
std::string ProductBy(bool finite) {
  return ProductText({.rows = 64,
                      .columns = 64,
                      .length = kInner,
                      .right = {.index = "j, k", .weight = finite ? "finite" : ""},
                      .value = ""});
}

// A product for tensor cores with three bf16 splits. Run compiles and runs code for the emulation.
class SplitProduct {
 public:
  explicit SplitProduct(bool finite = false) : pool_(2) {
    Target target = Gpu("sm_90a");
    target.device->processors = 1;
    target.device->multiply_adds /= 8;  // makes tensor cores faster even for this small product
    const Compute compute = MustParse(ProductBy(finite));
    const Sketch sketch =
        SketchesFor({{{"direct", compute}}, target, RoundingFreedom(ReductionOrder::kAny)})[0];
    EXPECT_EQ(sketch.Kind(), "cuda_tensor");
    const Schedule schedule = Analytic(sketch);
    EXPECT_TRUE(Print(schedule).contains("precision acc.part bf16 3")) << Print(schedule);
    auto loops = RunLoopPipeline(compute, schedule, {.rounding = ReductionOrder::kAny});
    TUNEC_CHECK(loops.has_value(), "{}", loops.error().message);
    nest_ = std::move(loops->nest);
    target.device->features.insert(std::string(kEmulated));
    target_ = target;
  }

  Array Run(const std::vector<Array>& arguments) {
    const auto results = CompileAndRun(nest_, arguments, target_, pool_);
    TUNEC_CHECK(results.has_value(), "{}", results.error().message);
    return results->front();
  }

 private:
  LoopNest nest_;
  Target target_;
  ThreadPool pool_;
};

using Draw = std::function<float()>;

std::vector<Array> Arguments(const Draw& a, const Draw& b) {
  std::vector<Array> arguments = {Array(DataType::kF32, {kRows, kInner}),
                                  Array(DataType::kF32, {kColumns, kInner})};
  for (float& value : arguments[0].MutableAs<float>()) value = a();
  for (float& value : arguments[1].MutableAs<float>()) value = b();
  return arguments;
}

// The float64 value of an element, the sum of the magnitudes of its products, and the float32
// result of fused multiply-adds one after the other.
struct Element {
  double exact = 0;
  double magnitude = 0;
  float sequential = 0;
};

// Returns the index of an element of either operand. The sum runs along rows.
size_t IndexOf(int row, int k) {
  return static_cast<size_t>(row) * kInner + static_cast<size_t>(k);
}

Element ElementOf(const std::vector<Array>& arguments, int row, int column) {
  const auto a = arguments[0].As<float>();
  const auto b = arguments[1].As<float>();
  Element element;
  for (int k = 0; k < kInner; ++k) {
    const float x = a[IndexOf(row, k)];
    const float y = b[IndexOf(column, k)];
    element.exact += double{x} * y;
    element.magnitude += std::abs(double{x} * y);
    element.sequential = std::fma(x, y, element.sequential);
  }
  return element;
}

struct Errors {
  double split = 0;  // relative to the largest magnitude, as the accuracy mode counts
  double sequential = 0;
  double worst = 0;  // relative to each element's magnitude
};

Errors ErrorsOf(const Array& result, const std::vector<Array>& arguments) {
  Errors errors;
  double scale = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const Element element = ElementOf(arguments, i, j);
      const double error = std::abs(result.GetDouble(i * kColumns + j) - element.exact);
      scale = std::max(scale, element.magnitude);
      errors.split = std::max(errors.split, error);
      errors.sequential = std::max(errors.sequential, std::abs(element.sequential - element.exact));
      if (element.magnitude > 0) errors.worst = std::max(errors.worst, error / element.magnitude);
    }
  }
  errors.split /= scale;
  errors.sequential /= scale;
  return errors;
}

struct Kind {
  std::string name;
  std::function<Draw(std::mt19937&)> a;
  std::function<Draw(std::mt19937&)> b;
};

Draw Normal(std::mt19937& random) {
  return [&random, normal = std::normal_distribution<float>()]() mutable { return normal(random); };
}
Draw Positive(std::mt19937& random) {
  return [&random, unit = std::uniform_real_distribution<float>(0.25F, 1.25F)]() mutable {
    return unit(random);
  };
}
// Returns a maker of generators. The numbers are normally distributed numbers, each multiplied by a
// power of two from 2^-bits to 2^bits.
std::function<Draw(std::mt19937&)> Wide(int bits) {
  return [bits](std::mt19937& random) {
    return [&random, bits, normal = std::normal_distribution<float>()]() mutable {
      const auto exponent = static_cast<int>(random() % static_cast<unsigned>(2 * bits + 1));
      return std::ldexp(normal(random), exponent - bits);
    };
  };
}
// Returns a generator of numbers. Each second number almost cancels the number before it.
Draw Cancelling(std::mt19937& random) {
  return [draw = Normal(random), first = 0.F, is_second = false]() mutable {
    is_second = !is_second;
    if (is_second) return first = draw();
    return -first * (1 + 0x1p-20F);
  };
}
Draw Ones(std::mt19937&) {
  return [] { return 1.F; };
}
std::function<Draw(std::mt19937&)> Scaled(float by) {
  return [by](std::mt19937& random) { return [by, draw = Normal(random)] { return by * draw(); }; };
}

class SplitFloat32 : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  }
};

TEST_P(SplitFloat32, IsAsExactAsTheContractWants) {
  SplitProduct product(GetParam());
  const std::vector<Kind> kinds = {{"normal", Normal, Normal},
                                   {"positive", Positive, Positive},
                                   {"wide", Wide(30), Wide(30)},
                                   {"wide and narrow", Wide(60), Normal},
                                   {"cancelling", Cancelling, Ones},
                                   {"cancelling normal", Cancelling, Normal},
                                   {"huge", Scaled(0x1p100F), Scaled(0x1p-90F)},
                                   {"tiny", Scaled(0x1p-100F), Scaled(0x1p90F)}};
  constexpr double kUlp = 0x1p-23;
  for (const Kind& kind : kinds) {
    std::mt19937 random(11);
    const Draw a = kind.a(random);
    const std::vector<Array> arguments = Arguments(a, kind.b(random));
    const Errors errors = ErrorsOf(product.Run(arguments), arguments);
    EXPECT_LE(errors.split, errors.sequential + kUlp) << kind.name;
    EXPECT_LE(errors.worst, 4 * kUlp) << kind.name;
    RecordProperty(kind.name, std::to_string(errors.split / kUlp) + " ulp, sequential " +
                                  std::to_string(errors.sequential / kUlp));
  }
}

bool IsSameKind(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  return std::isinf(expected) ? found == expected : std::isfinite(found);
}

// Non-finite numbers meet zeros, denormals, non-finite numbers and numbers with several splits.
// Non-finite numbers must not be multiplied by zero splits of numbers other than 0.
TEST_P(SplitFloat32, InfinitiesAndNansAreWhatTheyWere) {
  SplitProduct product(GetParam());
  std::mt19937 random(3);
  const Draw draw = Normal(random);
  std::vector<Array> arguments = Arguments(draw, draw);
  const std::vector<float> special = {kInf, -kInf, kNan,  0.F,         -0.F,           1.F,
                                      -2.F, 0.1F,  -0.3F, 0x1.8p-140F, 0x1.123456p100F};
  const auto count = static_cast<int>(special.size());
  for (int at = 0; at < count; ++at) {
    const float value = special[static_cast<size_t>(at)];
    arguments[0].MutableAs<float>()[IndexOf(3 * at, 7)] = value;
    if (GetParam() && !std::isfinite(value)) continue;
    arguments[1].MutableAs<float>()[IndexOf(5 * at, 7)] = value;
  }
  const Array result = product.Run(arguments);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const Element element = ElementOf(arguments, i, j);
      // An intermediate number beyond the range of float32 may become an infinity.
      if (std::isfinite(element.exact) && !std::isfinite(element.sequential)) continue;
      if (std::isinf(element.sequential) && element.magnitude < double{kInf}) continue;
      const double found = result.GetDouble(i * kColumns + j);
      EXPECT_TRUE(IsSameKind(found, element.sequential))
          << i << ", " << j << ": " << found << " instead of " << element.sequential;
    }
  }
}

// docs/reference/schedules.md gives the upper bound for the error of one product.
TEST_P(SplitFloat32, WhatDenormalsLoseIsSmall) {
  SplitProduct product(GetParam());
  std::mt19937 random(5);
  const Draw a = Scaled(0x1p-130F)(random);
  const std::vector<Array> arguments = Arguments(a, Normal(random));
  const Array result = product.Run(arguments);
  double largest = 0;
  for (const float b : arguments[1].As<float>()) largest = std::max(largest, double{std::abs(b)});
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const Element element = ElementOf(arguments, i, j);
      EXPECT_LE(std::abs(result.GetDouble(i * kColumns + j) - element.exact),
                kInner * largest * 0x1p-126);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operands, SplitFloat32, testing::Bool(), [](const auto& info) {
  return info.param ? "AWeightIsFinite" : "AnyNumbers";
});

}  // namespace
}  // namespace tunec::test
