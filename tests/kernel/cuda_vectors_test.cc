// Tests of the kernels of tests/cuda_vectors on an emulated GPU. Outputs must equal those of the
// stored test vectors, bit for bit or within the vectors' bound. With TUNEC_BLESS=1 the emulation's
// vectors are rewritten, but not those of a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/open_device.h"
#include "ir/array.h"
#include "ir/nest/visit_loop_nest.h"
#include "ir/tile_intrinsic.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/compile_kernel.h"
#include "kernel/make_kernel_file.h"
#include "runtime/file_kernel.h"
#include "support/check.h"
#include "support/file.h"
#include "tests/golden/golden_file.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kEmulation = "the emulation";

fs::path File(const std::string& name, const std::string& ending) {
  return fs::path(TUNEC_TEST_DATA) / "cuda_vectors" / (name + ending);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(File("", "")))
    if (entry.path().extension() == ".compute") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> NamesOfTiles() {
  std::vector<std::string> names = Names();
  std::erase_if(names, [](const std::string& name) {
    return !ReadFile(File(name, ".sched"))->contains("tensorize ");
  });
  return names;
}

Target EmulatedGpu() {
  Target target{.host = DetectCpu(1).host, .device = *CudaAccelerator("sm_80")};
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  return target;
}

// Returns the rounding freedom that a warp's tiles need, including TF32.
RoundingFreedom Freedom() {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.tf32_operands = true;
  return rounding;
}

// Returns the intrinsic that the nest's warp tiles use, or null if there are no such tiles.
const TileIntrinsic* TileOf(const LoopNest& nest) {
  const TileIntrinsic* found = nullptr;
  ForEach<Tile>(nest, [&](const Tile& tile) { found = WarpIntrinsicOf(tile); });
  return found;
}

// --- Elements as numbers ---

uint64_t SignOf(DataType type) { return uint64_t{1} << (8 * SizeOf(type) - 1); }

// Returns the number that these bits represent in f32, f16 or bf16.
double NumberOf(uint64_t bits, DataType type) {
  switch (type) {
    case DataType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DataType::kF16:
      return HalfToFloat(static_cast<uint16_t>(bits));
    default:
      TUNEC_CHECK(type == DataType::kBF16, "no tile multiplies {}", Name(type));
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
  }
}

uint64_t One(DataType type) {
  if (type == DataType::kF16) return 0x3c00;
  return type == DataType::kBF16 ? 0x3f80 : 0x3f800000;
}

// Returns the vectors with `change` applied to the bits of each argument's elements.
KernelVectors Changed(KernelVectors vectors, const auto& change) {
  for (KernelVector& vector : vectors.arguments) {
    const size_t size = SizeOf(vector.type);
    for (size_t at = 0; at < vector.bytes.size(); at += size) {
      uint64_t bits = 0;
      std::memcpy(&bits, vector.bytes.data() + at, size);
      bits = change(bits, vector.type);
      std::memcpy(vector.bytes.data() + at, &bits, size);
    }
  }
  return vectors;
}

double Greatest(const KernelVector& vector) {
  double greatest = 0;
  Changed({.from = {}, .arguments = {vector}}, [&](uint64_t bits, DataType type) {
    greatest = std::max(greatest, std::abs(NumberOf(bits, type)));
    return bits;
  });
  return greatest;
}

// --- Wrong maps of fragments ---

// A guard during whose lifetime the table of tiles has a wrong owner map for an operand or the
// accumulator. Code that was compiled before uses the original map.
class PlantedMap {
 public:
  PlantedMap(const TileIntrinsic& tile, TileOperand TileIntrinsic::*operand, OwnerMap wrong)
      : map_(const_cast<TileOperand&>(tile.*operand).owners), right_(map_) {
    map_ = std::move(wrong);
  }
  ~PlantedMap() { map_ = right_; }
  PlantedMap(const PlantedMap&) = delete;
  PlantedMap& operator=(const PlantedMap&) = delete;

 private:
  std::optional<OwnerMap>& map_;
  const std::optional<OwnerMap> right_;
};

// Returns the map with a digit of the lane and one of the register exchanged in a coordinate. Each
// element still has one owner.
OwnerMap Interleaved(OwnerMap map, int64_t OwnerDigit::*coordinate) {
  OwnerDigit* low = &map.lane[0];
  OwnerDigit* high = nullptr;
  for (OwnerDigit& digit : map.element)
    if (digit.*coordinate != 0) high = &digit;
  TUNEC_CHECK(high != nullptr, "no register tells the coordinate");
  if (low->*coordinate > high->*coordinate) std::swap(low, high);
  high->*coordinate = low->*coordinate;
  low->*coordinate *= high->extent;
  return map;
}

class CudaVectors : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << "the sanitizer does not support the emulation's stacks";
    const Compute compute = test::MustParse(*ReadFile(File(GetParam(), ".compute")));
    const Schedule schedule =
        *ParseSchedule(*ReadFile(File(GetParam(), ".sched")), GetParam() + ".sched");
    const auto loops = test::LoopsOf(compute, schedule, Freedom());
    ASSERT_TRUE(loops) << loops.error().message;
    tile_ = TileOf(loops->nest);
    auto image = EmitImage(loops->nest, EmulatedGpu());
    ASSERT_TRUE(image) << image.error().message;
    file_ = MakeKernelFile(loops->nest, *std::move(image));
  }

  fs::path VectorsPath() const { return File(GetParam(), ".vectors"); }
  KernelVectors Vectors() const {
    const fs::path path = VectorsPath();
    if (fs::exists(path)) return *ParseKernelVectors(*ReadFile(path), path.string());
    KernelVectors vectors = RandomInputs(file_.arguments, /*seed=*/0);
    vectors.from = kEmulation;
    return vectors;
  }

  std::vector<KernelVector> Outputs(const KernelVectors& inputs) const {
    ThreadPool pool(1);
    const auto device = *OpenDevice(EmulatedGpu(), pool);
    auto kernel = FileKernel::Load(*device, file_);
    TUNEC_CHECK(kernel, "{}", kernel.error().message);
    auto outputs = kernel->Run(inputs);
    TUNEC_CHECK(outputs, "{}", outputs.error().message);
    return *std::move(outputs);
  }

  KernelVectors InputsOf(const KernelVectors& vectors) const {
    KernelVectors inputs;
    for (const KernelArgument& argument : file_.arguments)
      if (!argument.output) inputs.arguments.push_back(*vectors.Find(argument.name));
    return inputs;
  }

  // Returns a bound of the difference between sums of tensor cores and the emulation's. For n
  // products with a sum of magnitudes m, the emulation rounds n times to nearest, by 2^-24 of m
  // each. The rounding of tensor cores is not documented. In measurements, they truncated below the
  // last bit of the greatest addend: at most 2^-23 of m per product, and per group of products.
  // Sums of whole numbers in range are exact, as are sums of integers.
  double Bound(const KernelVectors& vectors) const {
    constexpr double kRounding = 0x1p-22;
    if (tile_ == nullptr || tile_->accumulator.type != DataType::kF32) return 0;
    const KernelVectors inputs = InputsOf(vectors);
    bool whole = true;
    const KernelVectors magnitudes = Changed(inputs, [&](uint64_t bits, DataType type) {
      const double number = NumberOf(bits, type);
      whole = whole && number == std::round(number);
      return bits & ~SignOf(type);
    });
    if (whole) return 0;
    const KernelVectors ones = Changed(inputs, [](uint64_t, DataType type) { return One(type); });
    const double count = Greatest(Outputs(ones).front());
    return kRounding * count * Greatest(Outputs(magnitudes).front());
  }

  void ExpectFound(TileOperand TileIntrinsic::*operand, OwnerMap wrong, const char* which) {
    const KernelVectors vectors = Vectors();
    const PlantedMap planted(*tile_, operand, std::move(wrong));
    EXPECT_THAT(*CompareWith(vectors, Outputs(vectors).front()), HasSubstr("elements differ"))
        << which;
  }

  KernelFile file_;
  const TileIntrinsic* tile_ = nullptr;
};

TEST_P(CudaVectors, GoldenAreTheEmulations) {
  KernelVectors vectors = Vectors();
  const std::vector<KernelVector> outputs = Outputs(vectors);
  const double bound = Bound(vectors);
  if (test::RewritesGoldens() && vectors.from == kEmulation) {
    vectors.SetOutputs(kEmulation, outputs);
    for (const KernelVector& output : outputs)
      std::ranges::find(vectors.arguments, output.name, &KernelVector::name)->within = bound;
    std::ofstream(VectorsPath()) << Print(vectors);
    return;
  }
  ASSERT_FALSE(outputs.empty());
  for (const KernelVector& output : outputs) {
    const auto difference = CompareWith(vectors, output);
    ASSERT_TRUE(difference) << difference.error().message;
    EXPECT_EQ(*difference, "") << output.name << " of " << vectors.from;
    EXPECT_EQ(vectors.Find(output.name)->within, bound) << output.name;
  }
}

class CudaTileVectors : public CudaVectors {};

// Each wrong map is that of a GPU whose lanes own other elements than the code assumes.
TEST_P(CudaTileVectors, AnotherMapOfAFragmentIsFound) {
  ASSERT_NE(tile_, nullptr);
  ExpectFound(&TileIntrinsic::left, Interleaved(*tile_->left.owners, &OwnerDigit::columns), "left");
  ExpectFound(&TileIntrinsic::right, Interleaved(*tile_->right.owners, &OwnerDigit::rows), "right");
  ExpectFound(&TileIntrinsic::accumulator,
              Interleaved(*tile_->accumulator.owners, &OwnerDigit::columns), "accumulator");
  // The original maps are restored.
  const KernelVectors vectors = Vectors();
  EXPECT_EQ(*CompareWith(vectors, Outputs(vectors).front()), "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaVectors, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Tiles, CudaTileVectors, testing::ValuesIn(NamesOfTiles()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunec
