#include "tests/runtime/bundle/touch_bundle.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/bundle/bundle_file.h"
#include "runtime/bundle/device_code.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/bundle/read_sizes.h"
#include "runtime/bundle/sized_bundle.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"
#include "runtime/executable.h"
#include "support/check.h"
#include "tests/scripted_cuda/script.h"

namespace tunec::testing {
namespace {

using bundle::ArgumentContract;
using bundle::BundleFile;
using bundle::DeviceCodeTable;
using bundle::KernelContract;
using bundle::SectionKind;
using bundle::TrustedRange;

// The limits of bundles that are run. A plan with a buffer above kMostBytes is not run, because
// large buffers take long to fill. An arena or a constant above kNobodyHas is tried, because the
// plan must be rejected.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr int64_t kNobodyHas = int64_t{1} << 47;
constexpr size_t kMostKernels = 128;
constexpr size_t kGpuBytes = size_t{1} << 28;

// The kernels of the current variant. The functions below replace the code of these kernels.
std::vector<KernelContract> host_kernels;
DeviceCodeTable device_code;
volatile std::byte seen;

template <class T>
void CheckRange(const std::byte* bytes, int64_t size, const TrustedRange& range) {
  for (int64_t at = 0; at + static_cast<int64_t>(sizeof(T)) <= size; at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes + at, sizeof value);
    TUNEC_CHECK(!std::cmp_less(value, range.least) && !std::cmp_greater(value, range.most),
                "an index of {} in {} to {}", value, range.least, range.most);
  }
}

void CheckRange(const std::byte* bytes, int64_t size, const TrustedRange& range) {
  switch (SizeOf(range.type)) {
    case 1:
      return IsSigned(range.type) ? CheckRange<int8_t>(bytes, size, range)
                                  : CheckRange<uint8_t>(bytes, size, range);
    case 2:
      return IsSigned(range.type) ? CheckRange<int16_t>(bytes, size, range)
                                  : CheckRange<uint16_t>(bytes, size, range);
    case 4:
      return IsSigned(range.type) ? CheckRange<int32_t>(bytes, size, range)
                                  : CheckRange<uint32_t>(bytes, size, range);
    default:
      return IsSigned(range.type) ? CheckRange<int64_t>(bytes, size, range)
                                  : CheckRange<uint64_t>(bytes, size, range);
  }
}

void Touch(const ArgumentContract& contract, void* argument) {
  TUNEC_CHECK(
      reinterpret_cast<uintptr_t>(argument) % static_cast<uint64_t>(contract.alignment) == 0,
      "an argument at {}, expected a multiple of {}", fmt::ptr(argument), contract.alignment);
  const auto* const bytes = static_cast<const std::byte*>(argument);
  if (contract.range) CheckRange(bytes, contract.bytes, *contract.range);
  if (contract.written) {
    if (contract.bytes > 0) std::memset(argument, 1, static_cast<size_t>(contract.bytes));
    return;
  }
  for (int64_t at = 0; at < contract.bytes; ++at) seen = bytes[at];
}

template <size_t number>
void TouchAs(void* const* arguments, void* workspace, void* scratch, int64_t) {
  const KernelContract& kernel = host_kernels[number];
  for (size_t i = 0; i < kernel.arguments.size(); ++i) Touch(kernel.arguments[i], arguments[i]);
  Touch({.bytes = kernel.workspace_bytes, .alignment = 64, .written = true}, workspace);
  Touch({.bytes = kernel.scratch_bytes, .alignment = 64, .written = true}, scratch);
}

template <size_t... numbers>
PhaseFunction FunctionOf(size_t number, std::index_sequence<numbers...>) {
  static constexpr PhaseFunction kFunctions[] = {TouchAs<numbers>...};
  return kFunctions[number];
}

bool AskForTooMuch(const std::vector<KernelContract>& kernels) {
  return kernels.size() > kMostKernels ||
         std::ranges::any_of(kernels, [](const KernelContract& kernel) {
           return std::max(kernel.workspace_bytes, kernel.scratch_bytes) > kMostBytes;
         });
}

Result<std::vector<Kernel>> TouchingKernels(const std::vector<KernelContract>& kernels,
                                            std::span<const std::byte>, const bundle::CodeParts&) {
  // A changed section table can make other bytes the table of kernels.
  if (AskForTooMuch(kernels)) return Fail(ErrorCode::kUnsupported, "too many kernels");
  host_kernels = kernels;
  std::vector<Kernel> touching;
  for (size_t i = 0; i < kernels.size(); ++i)
    touching.push_back(
        {.phases = {{.function = FunctionOf(i, std::make_index_sequence<kMostKernels>())}},
         .workspace_bytes = kernels[i].workspace_bytes,
         .scratch_bytes = kernels[i].scratch_bytes});
  return touching;
}

// Returns the first kernel whose image has the function `symbol`. Ends the process if there is
// none.
const KernelContract& ContractOf(std::string_view symbol) {
  for (size_t i = 0; i < device_code.kernels.size(); ++i)
    for (const PhaseLaunch& phase : device_code.images[device_code.image_of[i]].phases)
      if (phase.symbol == symbol) return device_code.kernels[i];
  TUNEC_CHECK(false, "no kernel has a function '{}'", symbol);
}

// Touches the arguments and the workspace at the addresses that the launch passes.
void TouchOnGpu(const scripted_cuda::Launch& launch) {
  const KernelContract& kernel = ContractOf(launch.symbol);
  const auto pointer = [&](size_t i) { return *static_cast<void**>(launch.parameters[i]); };
  const size_t arguments = kernel.arguments.size();
  for (size_t i = 0; i < arguments; ++i) Touch(kernel.arguments[i], pointer(i));
  Touch({.bytes = kernel.workspace_bytes, .alignment = 64, .written = true}, pointer(arguments));
}

// Returns whether the plan is too large to run. An arena or a constant above kNobodyHas is not too
// large, because the loader or the run must reject such a plan.
bool IsTooLarge(const ExecutablePlan& plan) {
  const auto is_too_large = [](int64_t bytes) { return bytes > kMostBytes && bytes <= kNobodyHas; };
  for (const auto* specs : {&plan.inputs, &plan.outputs})
    for (const TensorSpec& spec : *specs)
      if (ByteSize(spec).value_or(kMostBytes + 1) > kMostBytes) return true;
  return is_too_large(plan.arena_bytes) ||
         std::ranges::any_of(plan.constants, [&](const Constant& constant) {
           return is_too_large(constant.bytes);
         });
}

/// The inputs and outputs of a run, in buffers of exactly their sizes.
class RunMemory {
 public:
  RunMemory(const Executable& executable, Random& random) {
    for (const TensorSpec& spec : executable.Inputs()) from_.push_back(Make(spec));
    for (const TensorSpec& spec : executable.Outputs()) to_.push_back(Make(spec));
    // Some inputs share an output's buffer, as for a cache that is updated in place.
    for (size_t o = 0; o < to_.size(); ++o)
      for (size_t i = 0; i < from_.size(); ++i)
        if (random.Below(3) == 0 &&
            BytesOf(executable.Inputs()[i]) == BytesOf(executable.Outputs()[o]))
          from_[i] = to_[o];
  }
  std::span<const void* const> inputs() const { return from_; }
  std::span<void* const> outputs() const { return to_; }

 private:
  static int64_t BytesOf(const TensorSpec& spec) { return ByteSize(spec).value_or(0); }
  void* Make(const TensorSpec& spec) {
    const auto bytes = static_cast<size_t>(BytesOf(spec));
    return memory_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

/// Returns a size of each dimension: the lesser of 64 and a listed size, or a random size up to 14.
Sizes SomeSizes(const SizedForm& form, Random& random) {
  constexpr int64_t kMostOfOne = 64;
  Sizes sizes;
  for (const ListedSizes& listed : form.listed)
    sizes.push_back(random.Below(2) == 0
                        ? std::min(listed.sizes[random.Below(listed.sizes.size())], kMostOfOne)
                        : 1 + static_cast<int64_t>(random.Below(14)));
  return sizes;
}

std::unique_ptr<std::byte[]> BytesOf(const TensorSpec& spec) {
  const int64_t bytes = ByteSize(spec).value_or(kMostBytes + 1);
  return bytes > kMostBytes ? nullptr : std::make_unique<std::byte[]>(static_cast<size_t>(bytes));
}

/// Tries to run the model once with these sizes, in buffers of exactly the required sizes.
Touched RunAt(const SizedBundle& model, const Sizes& sizes) {
  std::vector<TensorSpec> specs = model.form().inputs;
  for (const SizedAxis& axis : model.form().open)
    specs[axis.input].shape[axis.axis] = sizes[axis.dimension];
  std::vector<std::unique_ptr<std::byte[]>> memory;
  std::vector<Shape> shapes;
  std::vector<const void*> from;
  for (const TensorSpec& spec : specs) {
    shapes.push_back(spec.shape);
    memory.push_back(BytesOf(spec));
    if (memory.back() == nullptr) return Touched::kTooLarge;
    from.push_back(memory.back().get());
  }
  const auto results = model.OutputShapes(shapes);
  if (!results) return Touched::kRejected;
  std::vector<void*> to;
  for (size_t i = 0; i < results->size(); ++i) {
    memory.push_back(BytesOf({"", model.Outputs()[i].type, (*results)[i]}));
    if (memory.back() == nullptr) return Touched::kTooLarge;
    to.push_back(memory.back().get());
  }
  return model.Run(shapes, from, to) ? Touched::kRan : Touched::kRejected;
}

/// Tries to run a variant for several sizes. Returns kRan if any run completed.
Touched RunSizes(const BundleFile& file, uint32_t variant, std::shared_ptr<ThreadPool> pool,
                 Random& random) {
  auto plans = bundle::ReadSizedPlans(file, variant, TouchingKernels);
  if (!plans) return Touched::kRejected;
  for (const SizedPlan& plan : plans->plans)
    if (IsTooLarge(plan.plan)) return Touched::kTooLarge;
  const SizedBundle model(std::move(plans->form), std::move(plans->plans), std::move(pool), "");
  Touched touched = Touched::kRejected;
  for (int run = 0; run < 6; ++run) {
    const Touched one = RunAt(model, SomeSizes(model.form(), random));
    touched = std::max(touched, one);
  }
  return touched;
}

}  // namespace

struct BundleToucher::Impl {
  std::shared_ptr<ThreadPool> pool = std::make_shared<ThreadPool>(1);
  std::shared_ptr<Device> device;
  scripted_cuda::Script* script = nullptr;
};

BundleToucher::BundleToucher(const std::string& scripted_cuda) : impl_(new Impl) {
  void* const library = dlopen(scripted_cuda.c_str(), RTLD_NOW | RTLD_LOCAL);
  TUNEC_CHECK(library != nullptr, "{}", dlerror());
  impl_->script = reinterpret_cast<scripted_cuda::Script* (*)()>(
      dlsym(library, scripted_cuda::kScriptFunction))();
  *impl_->script = {.memory_bytes = kGpuBytes, .any_function = true, .run = TouchOnGpu};
  impl_->script->parameters_of = [](std::string_view symbol) {
    return ContractOf(symbol).arguments.size() + 2;
  };
  const auto driver = LoadCudaDriver(scripted_cuda);
  TUNEC_CHECK(driver.has_value(), "{}", driver.error().Format());
  auto device = OpenCudaDevice(*driver, 0);
  TUNEC_CHECK(device.has_value(), "{}", device.error().Format());
  impl_->device = *std::move(device);
}

BundleToucher::~BundleToucher() {
  impl_->device.reset();
  *impl_->script = {};
  delete impl_;
}

Touched BundleToucher::Run(std::span<const std::byte> bytes, uint32_t variant, Random& random) {
  const auto file = BundleFile::Read({.bytes = bytes, .owner = nullptr}, *impl_->pool);
  if (!file || variant >= file->Variants()) return Touched::kRejected;
  const auto heads = bundle::ReadHeads(*file);
  if (!heads) return Touched::kRejected;
  const bool on_gpu = !(*heads)[variant].device.empty();
  if (on_gpu && file->Has(SectionKind::kDeviceCode, variant)) {
    const auto table = bundle::ParseDeviceCode(*file->Section(SectionKind::kDeviceCode, variant));
    if (!table || AskForTooMuch(table->kernels)) return Touched::kRejected;
    device_code = *table;
  }
  impl_->script->log.clear();
  if (file->Has(SectionKind::kSizes, variant))
    return on_gpu ? Touched::kRejected : RunSizes(*file, variant, impl_->pool, random);
  auto plan = bundle::ReadPlan(*file, variant, TouchingKernels, on_gpu ? impl_->device : nullptr);
  if (!plan) return Touched::kRejected;
  if (IsTooLarge(*plan)) return Touched::kTooLarge;
  const auto executable = Executable::Make(*std::move(plan), impl_->pool);
  if (!executable) return Touched::kRejected;
  const RunMemory memory(*executable, random);
  for (int round = 0; round < 2; ++round)
    if (!executable->Run(memory.inputs(), memory.outputs())) return Touched::kRejected;
  return Touched::kRan;
}

}  // namespace tunec::testing
