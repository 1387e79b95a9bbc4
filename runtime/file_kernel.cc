#include "runtime/file_kernel.h"

#include <cstring>
#include <string>
#include <utility>

#include "support/random.h"

namespace tunec {
namespace {

// The bits of a float type: the sign bit, the exponent of [0.5, 1), and all fraction bits.
struct FloatForm {
  uint64_t sign;
  uint64_t half;
  uint64_t fraction;
};

FloatForm FormOf(DataType type) {
  switch (type) {
    case DataType::kF64:
      return {uint64_t{1} << 63, uint64_t{0x3fe} << 52, (uint64_t{1} << 52) - 1};
    case DataType::kF16:
      return {1 << 15, 0x3800, 0x3ff};
    case DataType::kBF16:
      return {1 << 15, 0x3f00, 0x7f};
    default:
      return {uint64_t{1} << 31, 0x3f000000, 0x7fffff};
  }
}

uint64_t RandomBits(DataType type, Random& random) {
  const uint64_t bits = random.Next();
  if (type == DataType::kBool) return bits & 1;
  if (!IsFloat(type)) return 0;
  const FloatForm form = FormOf(type);
  return (bits & form.sign) | form.half | ((bits >> 8) & form.fraction);
}

KernelVector RandomVector(const KernelArgument& argument, uint64_t seed) {
  Random random(StreamSeed(seed, argument.name));
  const size_t size = SizeOf(argument.type);
  KernelVector vector{argument.name, argument.type, std::string(argument.bytes(), '\0')};
  for (size_t at = 0; at < vector.bytes.size(); at += size) {
    const uint64_t bits = RandomBits(argument.type, random);
    std::memcpy(vector.bytes.data() + at, &bits, size);
  }
  return vector;
}

}  // namespace

KernelVectors RandomInputs(const std::vector<KernelArgument>& arguments, uint64_t seed) {
  KernelVectors inputs;
  for (const KernelArgument& argument : arguments)
    if (!argument.output) inputs.arguments.push_back(RandomVector(argument, seed));
  return inputs;
}

Result<FileKernel> FileKernel::Load(Device& device, const KernelFile& file) {
  FileKernel kernel(device);
  kernel.arguments_ = file.arguments;
  TUNEC_ASSIGN(kernel.code_, device.Load(file.image));
  std::vector<void*> addresses;
  for (const KernelArgument& argument : file.arguments) {
    TUNEC_ASSIGN(DeviceMemory memory, device.Allocate(argument.bytes()));
    addresses.push_back(memory.address);
    kernel.memory_.push_back(std::move(memory));
  }
  if (file.image.workspace_bytes > 0) {
    TUNEC_ASSIGN(kernel.workspace_,
                 device.Allocate(static_cast<size_t>(file.image.workspace_bytes)));
  }
  TUNEC_ASSIGN(kernel.kernel_,
               device.Bind(kernel.code_, std::move(addresses), kernel.workspace_.address));
  return kernel;
}

Status FileKernel::WriteInput(size_t argument, const KernelVectors& inputs) {
  const KernelArgument& expected = arguments_[argument];
  const KernelVector* const given = inputs.Find(expected.name);
  if (given == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "there is no vector for {}", expected.name);
  if (given->type != expected.type || given->bytes.size() != expected.bytes()) {
    return Fail(ErrorCode::kInvalidArgument, "{} has {} elements of {}, expected {} of {}",
                expected.name, given->elements(), Name(given->type), expected.elements,
                Name(expected.type));
  }
  return device_->CopyIn(memory_[argument].address, given->bytes.data(), given->bytes.size());
}

Result<std::vector<KernelVector>> FileKernel::Run(const KernelVectors& inputs) {
  constexpr std::byte kNan{0xff};
  for (size_t i = 0; i < arguments_.size(); ++i) {
    TUNEC_RETURN_IF_ERROR(arguments_[i].output
                              ? device_->Fill(memory_[i].address, kNan, arguments_[i].bytes())
                              : WriteInput(i, inputs));
  }
  kernel_->Poison();
  kernel_->Start();
  TUNEC_RETURN_IF_ERROR(device_->Synchronize());
  std::vector<KernelVector> outputs;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].output) continue;
    KernelVector output{arguments_[i].name, arguments_[i].type,
                        std::string(arguments_[i].bytes(), '\0')};
    TUNEC_RETURN_IF_ERROR(
        device_->CopyOut(output.bytes.data(), memory_[i].address, output.bytes.size()));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

DeviceCall FileKernel::Call() const {
  DeviceCall call{.code = code_, .arguments = {}, .workspace = workspace_.address};
  for (const DeviceMemory& memory : memory_) call.arguments.push_back(memory.address);
  return call;
}

Result<std::vector<double>> FileKernel::Time(int64_t cache_bytes, int samples) {
  std::vector<size_t> bytes;
  int64_t sum = 0;
  for (const KernelArgument& argument : arguments_) {
    bytes.push_back(argument.bytes());
    sum += static_cast<int64_t>(argument.bytes());
  }
  TUNEC_RETURN_IF_ERROR(kernel_->Seconds(1));  // the first run may still load code
  TUNEC_ASSIGN(const double once, kernel_->Seconds(1));
  TUNEC_ASSIGN(ColdRuns runs,
               ColdRuns::Make(*device_, Call(), bytes, ChooseLap(sum, cache_bytes, once)));
  lap_ = runs.lap();
  TUNEC_RETURN_IF_ERROR(runs.Seconds(lap_.runs));  // warm-up
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    TUNEC_ASSIGN(const double lap, runs.Seconds(lap_.runs));
    seconds.push_back(lap / lap_.runs);
  }
  return seconds;
}

}  // namespace tunec
