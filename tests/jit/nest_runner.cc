#include "tests/jit/nest_runner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "ir/array_storage.h"
#include "ir/interpret/interpret.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"
#include "jit/cpu/serialize_threads.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/regions.h"
#include "support/check.h"
#include "support/random.h"

namespace tunec::jit_test {
namespace {

/// Memory whose size, rounded up to the alignment, ends at an inaccessible page. Accesses of that
/// page fault. Intact returns false if bytes around the memory have changed.
class Buffer {
 public:
  Buffer(int64_t bytes, int64_t alignment) : bytes_(bytes) {
    const int64_t page = getpagesize();
    const int64_t used = CeilDivide(std::max<int64_t>(bytes, 1), alignment) * alignment;
    mapped_ = (CeilDivide(used + 64, page) + 1) * page;
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    TUNEC_CHECK(memory_ != MAP_FAILED, "cannot map {} bytes", mapped_);
    std::memset(memory_, 0xab, mapped_ - page);
    TUNEC_CHECK(mprotect(memory_ + mapped_ - page, page, PROT_NONE) == 0, "cannot protect a page");
    end_ = memory_ + mapped_ - page;
    begin_ = end_ - used;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { munmap(memory_, mapped_); }
  std::byte* data() { return begin_; }
  bool Intact() const {
    for (const std::byte* p = memory_; p < end_; ++p) {
      const bool inside = p >= begin_ && p < begin_ + bytes_;
      if (!inside && *p != std::byte{0xab}) return false;
    }
    return true;
  }

 private:
  int64_t bytes_;
  int64_t mapped_ = 0;
  std::byte* memory_ = nullptr;
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
};

void ExpectClose(const Array& actual, const Array& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  int shown = 0;
  for (int64_t i = 0; i < actual.size() && shown < 5; ++i) {
    if (!IsFloat(actual.type())) {
      if (actual.GetInt(i) == expected.GetInt(i)) continue;
      ADD_FAILURE() << what << "[" << i << "] is " << actual.GetInt(i) << ", expected "
                    << expected.GetInt(i);
      ++shown;
      continue;
    }
    const double a = actual.GetDouble(i);
    const double e = expected.GetDouble(i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double bound = tolerance * std::max({std::fabs(a), std::fabs(e), 1.0});
    if (std::fabs(a - e) <= bound) continue;
    ADD_FAILURE() << what << "[" << i << "] is " << a << ", expected " << e;
    ++shown;
  }
}

// Returns whether the error is kUnsupported or kResourceLimit. Then a GPU may lack tiles, thread
// roles or storage per thread, for example.
bool IsOfOneMachine(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kResourceLimit;
}

}  // namespace

std::vector<Target> Targets() {
  std::vector<Target> targets{DetectCpu(1)};
  if (targets[0].Has("avx512f")) targets.push_back(*ParseCpu("native,-avx512f", 1));
  return targets;
}

LoopNest Parse(const std::string& text) {
  // A store extends to the end of its line, but tests may close a block on the same line.
  std::string lines;
  for (const char c : text) lines += c == '}' ? "\n}" : std::string(1, c);
  auto nest = ParseLoopNest(lines, "test");
  EXPECT_TRUE(nest.has_value()) << (nest ? "" : nest.error().Format());
  if (!nest) return {};
  const Status verified = Verify(*nest);
  EXPECT_TRUE(verified.has_value()) << (verified ? "" : verified.error().Format());
  return std::move(*nest);
}

Result<KernelImage> CompileNest(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  return generator->Compile(nest, target);
}

Result<std::string> AssemblyOf(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(const auto generator, GeneratorFor(target));
  return generator->Show(nest, target, CodeText::kAssembly);
}

std::vector<Array> RandomArguments(const LoopNest& nest, uint64_t seed) {
  Random random(seed);
  std::vector<Array> arguments;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    Array array(tensor.type, tensor.shape);
    for (int64_t i = 0; i < array.size(); ++i) {
      if (IsFloat(tensor.type)) {
        array.SetDouble(i, 4 * random.Unit() - 2);
        continue;
      }
      Interval range{0, tensor.type == DataType::kBool ? 1 : 20};
      if (IsSigned(tensor.type)) range.lo = -20;
      if (tensor.range) range = *tensor.range;
      array.SetInt(i, range.lo + static_cast<int64_t>(
                                     random.Below(static_cast<uint64_t>(range.hi - range.lo + 1))));
    }
    arguments.push_back(std::move(array));
  }
  return arguments;
}

Result<std::vector<Array>> Run(const LoopNest& nest, const std::vector<Array>& arguments,
                               const Kernel& kernel) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<CheckedRegion>> regions;
  const auto know = [&](Buffer& buffer, int64_t bytes, const std::string& name) {
    regions.push_back(std::make_unique<CheckedRegion>(buffer.data(), bytes, name));
  };
  std::vector<void*> addresses;
  size_t next = 0;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    const int64_t alignment = std::max<int64_t>(tensor.alignment, SizeOf(tensor.type));
    buffers.push_back(std::make_unique<Buffer>(StorageBytes(tensor), alignment));
    addresses.push_back(buffers.back()->data());
    know(*buffers.back(), StorageBytes(tensor), tensor.name);
    if (tensor.role == TensorRole::kOutput) continue;
    ToStorage(tensor, arguments.at(next++), buffers.back()->data());
  }
  Buffer workspace(kernel.workspace_bytes, 64);
  know(workspace, kernel.workspace_bytes, "workspace");
  Buffer scratch(kernel.scratch_bytes, 64);
  for (const KernelPhase& phase : kernel.phases)
    for (int64_t task = 0; task < phase.tasks; ++task)
      phase.function(addresses.data(), workspace.data(), scratch.data(), task);
  std::vector<Array> outputs;
  const std::vector<TensorId> order = Arguments(nest);
  for (size_t a = 0; a < order.size(); ++a) {
    const Tensor& tensor = nest.tensors[order[a]];
    if (!buffers[a]->Intact())
      return Fail(ErrorCode::kWrongResult, "bytes around {} were written", tensor.name);
    if (tensor.role != TensorRole::kOutput) continue;
    outputs.push_back(FromStorage(tensor, buffers[a]->data()));
  }
  if (!workspace.Intact() || !scratch.Intact())
    return Fail(ErrorCode::kWrongResult, "bytes around the workspace or scratch were written");
  return outputs;
}

Result<std::vector<Array>> RunCompiled(const LoopNest& nest, const Target& target,
                                       const std::vector<Array>& arguments) {
  TUNEC_ASSIGN(const KernelImage object, CompileNest(SerializeThreads(nest), target));
  TUNEC_ASSIGN(const Kernel kernel, LoadKernel(object));
  return Run(nest, arguments, kernel);
}

Result<std::vector<Array>> RunEmulated(const LoopNest& nest, const std::vector<Array>& arguments) {
  TUNEC_ASSIGN(const LoopNest mapped, MakeCudaGenerator()->MapThreads(nest));
  TUNEC_ASSIGN(const KernelImage image, CompileEmulated(mapped, EmulationMode::kChecked));
  TUNEC_ASSIGN(const Kernel kernel, LoadEmulated(image));
  return Run(nest, arguments, kernel);
}

void ExpectStagesRetainResults(const LoopNest& nest, const std::vector<Array>& arguments,
                               const std::vector<Array>& expected) {
  const auto mapped = MakeCudaGenerator()->MapThreads(nest);
  if (!mapped && IsOfOneMachine(mapped.error())) return;
  ASSERT_TRUE(mapped.has_value()) << mapped.error().Format();
  const auto actual = Interpret(*mapped, arguments, Precision::kNative);
  ASSERT_TRUE(actual.has_value()) << actual.error().Format() << Print(*mapped);
  ASSERT_EQ(actual->size(), expected.size());
  for (size_t i = 0; i < actual->size(); ++i)
    ExpectClose((*actual)[i], expected[i], 0, "mapped, output " + std::to_string(i));
}

void ExpectAsInterpreted(const std::string& text, double tolerance, uint64_t seed) {
  const LoopNest nest = Parse(text);
  if (::testing::Test::HasFailure()) return;
  const std::vector<Array> arguments = RandomArguments(nest, seed);
  const auto expected = Interpret(nest, arguments, Precision::kNative);
  ASSERT_TRUE(expected.has_value()) << expected.error().Format();
  for (const Target& target : Targets()) {
    const auto actual = RunCompiled(nest, target, arguments);
    ASSERT_TRUE(actual.has_value()) << actual.error().Format();
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i)
      ExpectClose((*actual)[i], (*expected)[i], tolerance,
                  std::to_string(target.host.vector_bits) + " bits, output " + std::to_string(i));
  }
  ExpectStagesRetainResults(nest, arguments, *expected);
  if (!kEmulates) return;
  const auto emulated = RunEmulated(nest, arguments);
  if (!emulated && IsOfOneMachine(emulated.error())) return;
  ASSERT_TRUE(emulated.has_value()) << emulated.error().Format();
  ASSERT_EQ(emulated->size(), expected->size());
  for (size_t i = 0; i < emulated->size(); ++i)
    ExpectClose((*emulated)[i], (*expected)[i], tolerance, "cuda, output " + std::to_string(i));
}

}  // namespace tunec::jit_test
