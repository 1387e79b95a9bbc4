#include "tests/kernel/second_target/interpreting_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

#include "ir/array_storage.h"
#include "ir/interpret/interpret.h"
#include "support/check.h"
#include "tests/kernel/second_target/printing_generator.h"

namespace tunec::second_target {
namespace {

Status Run(const LoopNest& nest, const std::vector<void*>& addresses) {
  const std::vector<TensorId> order = tunec::Arguments(nest);
  std::vector<Array> arguments;
  for (size_t i = 0; i < order.size(); ++i) {
    const Tensor& tensor = nest.tensors[order[i]];
    if (tensor.role == TensorRole::kOutput) continue;
    arguments.push_back(FromStorage(tensor, static_cast<const std::byte*>(addresses[i])));
  }
  TUNEC_ASSIGN(const std::vector<Array> outputs, Interpret(nest, arguments, Precision::kNative));
  size_t next = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Tensor& tensor = nest.tensors[order[i]];
    if (tensor.role != TensorRole::kOutput) continue;
    ToStorage(tensor, outputs[next++], static_cast<std::byte*>(addresses[i]));
  }
  return {};
}

struct InterpretedCode : DeviceCode {
  LoopNest nest;
  KernelImage image;
};

class InterpretedKernel;

// A started operation: a run of a kernel, or a copy.
struct Work {
  InterpretedKernel* kernel = nullptr;
  std::vector<void*> arguments = {};  // a copy's destination and source
  size_t copy_bytes = 0;
};

// The state that a device shares with its kernels.
struct State {
  Paper& paper;
  std::vector<Work> started = {};  // started operations in order, not completed
  std::string fault = {};          // the error that lost the device, or empty

  void Log(std::string line) { paper.log.push_back(std::move(line)); }
  Status Synchronize();
};

class InterpretedKernel : public DeviceKernel {
 public:
  InterpretedKernel(std::shared_ptr<const InterpretedCode> code, std::vector<void*> arguments,
                    void* workspace, State& state)
      : code_(std::move(code)),
        arguments_(std::move(arguments)),
        workspace_(workspace),
        state_(state) {}
  ~InterpretedKernel() override {
    TUNEC_CHECK(pending_ == 0, "{} goes before {} of its runs are done", code_->nest.name,
                pending_);
  }

  void SetArgument(size_t number, void* address) override { arguments_.at(number) = address; }
  void Start() override {
    for (const PhaseLaunch& phase : code_->image.phases) {
      for (int64_t wave = 0; wave < phase.waves; ++wave) LogLaunch(phase, wave);
    }
    state_.started.push_back({.kernel = this, .arguments = arguments_});
    ++pending_;
  }
  Result<double> Seconds(int times) override {
    for (int i = 0; i < times; ++i) Start();
    TUNEC_RETURN_IF_ERROR(state_.Synchronize());
    return 1e-3 * times;
  }
  void Poison() override {
    state_.Log(fmt::format("poison {}", code_->image.workspace_bytes));
    FillWorkspace(0xff);
  }

  // Completes the oldest started run, with the arguments from the start of the run. Fails if the
  // interpreter fails, or if this is the run that should fail.
  Status RunNext(const std::vector<void*>& arguments) {
    --pending_;
    if (++runs_ == state_.paper.failing_run) {
      return Fail(ErrorCode::kDevice, "run {} of {} failed", runs_, code_->nest.name);
    }
    FillWorkspace(0xab);  // the content is undefined before a run
    return Run(code_->nest, arguments);
  }
  void ForgetNext() { --pending_; }

 private:
  void LogLaunch(const PhaseLaunch& phase, int64_t wave) {
    std::string line =
        fmt::format("launch {} grid {} block {} shared {}", phase.symbol,
                    fmt::join(phase.grid, "x"), fmt::join(phase.block, "x"), phase.shared_bytes);
    if (phase.waves > 1) {
      const int64_t blocks = phase.Blocks() / phase.waves;
      line += fmt::format(" blocks {}..{}", wave * blocks, (wave + 1) * blocks - 1);
    }
    state_.Log(std::move(line));
  }
  void FillWorkspace(int byte) {
    const auto bytes = static_cast<size_t>(code_->image.workspace_bytes);
    if (bytes > 0) std::memset(workspace_, byte, bytes);
  }

  std::shared_ptr<const InterpretedCode> code_;
  std::vector<void*> arguments_;
  void* workspace_;
  State& state_;
  int pending_ = 0;
  int runs_ = 0;
};

Status State::Synchronize() {
  for (const Work& work : std::exchange(started, {})) {
    if (work.kernel == nullptr) {
      if (fault.empty()) std::memcpy(work.arguments[0], work.arguments[1], work.copy_bytes);
    } else if (!fault.empty()) {
      work.kernel->ForgetNext();
    } else if (const Status ran = work.kernel->RunNext(work.arguments); !ran) {
      fault = ran.error().message;
    }
  }
  if (fault.empty()) return {};
  return Fail(ErrorCode::kDevice, "the device is lost: {}", fault);
}

class InterpretingDevice : public Device {
 public:
  explicit InterpretingDevice(Paper& paper) : state_{paper} {}

  Result<std::unique_ptr<Device>> OpenQueue() override {
    state_.Log("queue");
    return MakeInterpretingDevice(state_.paper);
  }
  Result<DeviceMemory> Allocate(size_t bytes) override {
    state_.Log(fmt::format("allocate {}", bytes));
    const auto owner = std::make_shared<std::vector<std::byte>>(bytes);
    return DeviceMemory{.owner = owner, .address = owner->data()};
  }
  Status CopyIn(void* to, const void* from, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(Synchronize());
    state_.Log(fmt::format("copy {} in", bytes));
    std::memcpy(to, from, bytes);
    return {};
  }
  Status CopyOut(void* to, const void* from, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(Synchronize());
    state_.Log(fmt::format("copy {} out", bytes));
    std::memcpy(to, from, bytes);
    return {};
  }
  void StartCopyIn(void* to, const void* from, size_t bytes) override {
    StartCopying("in", to, from, bytes);
  }
  void StartCopyOut(void* to, const void* from, size_t bytes) override {
    StartCopying("out", to, from, bytes);
  }
  void StartCopy(void* to, const void* from, size_t bytes) override {
    StartCopying("within", to, from, bytes);
  }
  Status Fill(void* to, std::byte value, size_t bytes) override {
    TUNEC_RETURN_IF_ERROR(Synchronize());
    state_.Log(fmt::format("fill {}", bytes));
    std::memset(to, static_cast<int>(value), bytes);
    return {};
  }
  Result<std::shared_ptr<const DeviceCode>> Load(const KernelImage& image) override {
    if (image.format != kTextFormat) return Fail(ErrorCode::kParse, "no text of loops");
    const auto code = std::make_shared<InterpretedCode>();
    TUNEC_ASSIGN(code->nest, ParseLoopNest(image.bytes, "image"));
    code->image = image;
    state_.Log(fmt::format("load {}", code->nest.name));
    return code;
  }
  Result<std::unique_ptr<DeviceKernel>> Bind(std::shared_ptr<const DeviceCode> code,
                                             std::vector<void*> arguments,
                                             void* workspace) override {
    auto own = std::dynamic_pointer_cast<const InterpretedCode>(std::move(code));
    TUNEC_CHECK(own != nullptr, "code of another device");
    TUNEC_CHECK((workspace != nullptr) == (own->image.workspace_bytes > 0),
                "{} is bound with the wrong workspace", own->nest.name);
    state_.Log(fmt::format("bind {}", own->nest.name));
    return std::make_unique<InterpretedKernel>(std::move(own), std::move(arguments), workspace,
                                               state_);
  }
  Status Synchronize() override { return state_.Synchronize(); }

 private:
  void StartCopying(std::string_view where, void* to, const void* from, size_t bytes) {
    state_.Log(fmt::format("start copying {} {}", bytes, where));
    state_.started.push_back({.arguments = {to, const_cast<void*>(from)}, .copy_bytes = bytes});
  }

  State state_;
};

}  // namespace

std::unique_ptr<Device> MakeInterpretingDevice(Paper& paper) {
  return std::make_unique<InterpretingDevice>(paper);
}

DeviceDriver DriverOf(Paper& paper) {
  const auto check = [](const DeviceRequest& request) -> Status {
    if (request.device.name == "paper") return {};
    return Fail(ErrorCode::kDevice, "this machine has no {}, only paper", request.device.name);
  };
  return {.kind = std::string(kKind),
          .check = check,
          .open = [&paper, check](const DeviceRequest& request, ThreadPool&,
                                  PerfMap) -> Result<std::unique_ptr<Device>> {
            TUNEC_RETURN_IF_ERROR(check(request));
            return MakeInterpretingDevice(paper);
          }};
}

}  // namespace tunec::second_target
