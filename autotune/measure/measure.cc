#include "autotune/measure/measure.h"

#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "autotune/judge/check.h"
#include "autotune/judge/guarded_buffer.h"
#include "autotune/judge/oracle.h"
#include "ir/array_storage.h"
#include "jit/open_device.h"
#include "kernel/compile_kernel.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

TrialStatus StatusOf(ErrorCode code) {
  if (code == ErrorCode::kIllegalSchedule) return TrialStatus::kIllegal;
  if (code == ErrorCode::kWrongResult) return TrialStatus::kWrongResult;
  return TrialStatus::kCompileError;
}

Measurement FailedBy(const Error& error) {
  return {.status = StatusOf(error.code), .message = error.message};
}

using Storage = std::map<std::string, std::shared_ptr<GuardedBuffer>>;

Result<std::shared_ptr<GuardedBuffer>> AllocatePoisoned(size_t bytes) {
  TUNEC_ASSIGN(GuardedBuffer buffer, GuardedBuffer::Allocate(bytes));
  // Padding that a layout adds holds NaN: a kernel may load it, but not use it.
  buffer.Poison();
  return std::make_shared<GuardedBuffer>(std::move(buffer));
}

Result<void*> AddressOf(const std::string& argument, const Storage& storage,
                        const Storage& packed) {
  if (const auto own = packed.find(argument); own != packed.end()) return own->second->data();
  if (const auto found = storage.find(argument); found != storage.end()) {
    return found->second->data();
  }
  return Fail(ErrorCode::kInternal, "the kernel has an argument {} that the workload lacks",
              argument);
}

}  // namespace

struct CompiledCandidate::Impl {
  std::optional<Measurement> failure;
  CompiledKernel kernel;
  std::string schedule;  // its text
  double compile_ms = 0;
};

CompiledCandidate::CompiledCandidate() : impl_(std::make_unique<Impl>()) {}
CompiledCandidate::CompiledCandidate(CompiledCandidate&&) noexcept = default;
CompiledCandidate& CompiledCandidate::operator=(CompiledCandidate&&) noexcept = default;
CompiledCandidate::~CompiledCandidate() = default;
const std::optional<Measurement>& CompiledCandidate::failure() const { return impl_->failure; }

// A candidate that is ready to run.
struct LoadedCandidate {
  Storage packed;
  std::unique_ptr<DeviceKernel> kernel;
};

struct CheckedRun {
  Verdict verdict;
  double seconds = 0;  // of the run
};

struct Workbench::Impl {
  Workload workload;
  std::unique_ptr<Device> device;
  Oracle oracle;
  Storage storage;              // by argument name; the host's memory, which its kernels run on
  std::vector<Tensor> outputs;  // of the default lowering
  CandidateHooks hooks;

  Status AllocateStorage();
  Status CompileInto(const CandidateRequest& request, CompiledCandidate::Impl& candidate) const;
  Result<Storage> Pack(const std::vector<CompiledPrepack>& prepacks);
  Result<LoadedCandidate> Load(const CompiledCandidate::Impl& candidate);
  CheckedRun Check(LoadedCandidate& candidate);
  std::string OverrunBuffer() const;
};

Status Workbench::Impl::AllocateStorage() {
  size_t next = 0;
  for (const Tensor& tensor : workload.lowerings.front().compute.tensors) {
    const bool output = tensor.role == TensorRole::kOutput;
    const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
    if (!output && !argument) continue;
    TUNEC_ASSIGN(storage[tensor.name], AllocatePoisoned(static_cast<size_t>(StorageBytes(tensor))));
    if (output) outputs.push_back(tensor);
    if (argument) ToStorage(tensor, oracle.arguments[next++], storage[tensor.name]->data());
  }
  return {};
}

Status Workbench::Impl::CompileInto(const CandidateRequest& request,
                                    CompiledCandidate::Impl& candidate) const {
  if (hooks.before_compiling) hooks.before_compiling(request.schedule);
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(request.schedule, "candidate"));
  const Compute* compute = FindLowering(workload.lowerings, schedule.lowering);
  if (compute == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "there is no lowering '{}'", schedule.lowering);
  }
  KernelOptions options{.target = workload.target,
                        .loops = {.rounding = RoundingFreedomFor(workload.accuracy)}};
  if (hooks.change_loops) {
    options.loops.plant = [&](const StageRecord& record, const MutableStageProduct& product) {
      if (record.stage != "emit" || record.name != compute->name) return;
      LoopNest& nest = *std::get<LoopNest*>(product);
      nest = hooks.change_loops(std::move(nest), request.schedule);
    };
  }
  TUNEC_ASSIGN(candidate.kernel, CompileKernel(*compute, schedule, options));
  return {};
}

Result<Storage> Workbench::Impl::Pack(const std::vector<CompiledPrepack>& prepacks) {
  Storage packed;
  for (const CompiledPrepack& prepack : prepacks) {
    std::shared_ptr<GuardedBuffer>& result = packed[prepack.packed];
    TUNEC_ASSIGN(result, AllocatePoisoned(static_cast<size_t>(prepack.packed_bytes)));
    TUNEC_ASSIGN(void* const weight, AddressOf(prepack.weight, storage, packed));
    TUNEC_ASSIGN(const auto pack, device->Load(prepack.image, {weight, result->data()}));
    pack->Launch();
    TUNEC_RETURN_IF_ERROR(device->Synchronize());
  }
  return packed;
}

Result<LoadedCandidate> Workbench::Impl::Load(const CompiledCandidate::Impl& candidate) {
  const CompiledKernel& kernel = candidate.kernel;
  TUNEC_ASSIGN(Storage packed, Pack(kernel.prepacks));
  std::vector<void*> addresses;
  for (const std::string& argument : kernel.arguments) {
    TUNEC_ASSIGN(void* const address, AddressOf(argument, storage, packed));
    addresses.push_back(address);
  }
  TUNEC_ASSIGN(auto loaded, device->Load(kernel.image, std::move(addresses)));
  return LoadedCandidate{std::move(packed), std::move(loaded)};
}

std::string Workbench::Impl::OverrunBuffer() const {
  for (const auto& [name, buffer] : storage) {
    if (const ptrdiff_t distance = buffer->Overrun(); distance != 0) {
      return fmt::format("wrote {} bytes {} {}", std::abs(distance),
                         distance < 0 ? "before" : "beyond", name);
    }
  }
  return {};
}

CheckedRun Workbench::Impl::Check(LoadedCandidate& candidate) {
  for (const Tensor& tensor : outputs) storage.at(tensor.name)->Poison();
  candidate.kernel->Poison();
  const double seconds = candidate.kernel->Seconds(1);
  if (const Status ran = device->Synchronize(); !ran) {
    return {{.problem = ran.error().message}, seconds};
  }
  if (std::string overrun = OverrunBuffer(); !overrun.empty()) {
    return {{.problem = overrun}, seconds};
  }
  std::vector<Array> actual;
  for (const Tensor& tensor : outputs) {
    actual.push_back(FromStorage(tensor, storage.at(tensor.name)->data()));
  }
  return {JudgeOutputs(actual, oracle.judges), seconds};
}

Workbench::Workbench(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workbench::Workbench(Workbench&&) noexcept = default;
Workbench& Workbench::operator=(Workbench&&) noexcept = default;
Workbench::~Workbench() = default;
const Workload& Workbench::workload() const { return impl_->workload; }

size_t Workbench::Bytes() const {
  size_t bytes = 0;
  for (const auto& [name, buffer] : impl_->storage) bytes += buffer->size();
  for (const OutputJudge& judge : impl_->oracle.judges) {
    bytes += judge.expected.bytes() + judge.sequential.bytes() + judge.bounds.bytes();
  }
  return bytes;
}

Result<Workbench> Workbench::Make(Workload workload, ThreadPool& pool, CandidateHooks hooks) {
  TUNEC_ASSIGN(auto device, OpenDevice(workload.target, pool));
  if (workload.lowerings.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the workload has no lowering");
  }
  auto impl = std::make_unique<Impl>();
  impl->device = std::move(device);
  impl->hooks = std::move(hooks);
  TUNEC_ASSIGN(impl->oracle, ComputeOracle(workload.lowerings.front().compute, workload.accuracy,
                                           workload.seed, workload.target, pool));
  impl->workload = std::move(workload);
  TUNEC_RETURN_IF_ERROR(impl->AllocateStorage());
  impl->oracle.arguments.clear();
  return Workbench(std::move(impl));
}

CompiledCandidate Workbench::Compile(const CandidateRequest& request) const {
  CompiledCandidate candidate;
  Stopwatch watch;
  candidate.impl_->schedule = request.schedule;
  try {
    const Status status = impl_->CompileInto(request, *candidate.impl_);
    if (!status) candidate.impl_->failure = FailedBy(status.error());
  } catch (const std::bad_alloc&) {
    candidate.impl_->failure = {.status = TrialStatus::kOutOfMemory,
                                .message = "no memory while compiling"};
  }
  candidate.impl_->compile_ms = watch.Lap();
  if (candidate.impl_->failure) candidate.impl_->failure->compile_ms = candidate.impl_->compile_ms;
  return candidate;
}

Measurement Workbench::Measure(CompiledCandidate candidate, std::optional<double> best,
                               const TimingPolicy& policy) {
  if (candidate.failure()) return *candidate.failure();
  Measurement result{.compile_ms = candidate.impl_->compile_ms};
  Stopwatch watch;
  Result<LoadedCandidate> loaded = impl_->Load(*candidate.impl_);
  if (!loaded) {
    Measurement failed = FailedBy(loaded.error());
    if (loaded.error().code == ErrorCode::kResourceLimit) {
      failed.status = TrialStatus::kOutOfMemory;
    }
    failed.compile_ms = result.compile_ms;
    return failed;
  }
  const auto [verdict, run_seconds] = impl_->Check(*loaded);
  result.accuracy_error = verdict.e;
  result.check_ms = watch.Lap();
  if (!verdict.problem.empty()) {
    result.status = TrialStatus::kWrongResult;
    result.message = verdict.problem;
    result.samples = {run_seconds};
    return result;
  }
  if (impl_->hooks.before_timing) impl_->hooks.before_timing(candidate.impl_->schedule);
  const auto run = [&](int times) { return loaded->kernel->Seconds(times); };
  result.samples = TimeRuns(run, best, policy, SteadyClock(), run_seconds);
  result.measure_ms = watch.Lap();
  result.artifact = ToArtifact(candidate.impl_->kernel);
  return result;
}

std::vector<Measurement> Workbench::Retime(std::vector<CompiledCandidate> candidates, int rounds,
                                           const TimingPolicy& policy) {
  std::vector<Measurement> results(candidates.size());
  std::vector<std::optional<LoadedCandidate>> loaded(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].failure()) {
      results[i] = *candidates[i].failure();
      continue;
    }
    Result<LoadedCandidate> one = impl_->Load(*candidates[i].impl_);
    if (one) loaded[i] = std::move(*one);
    if (!one) results[i] = FailedBy(one.error());
  }
  const Clock clock = SteadyClock();
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!loaded[i]) continue;
      const auto run = [&](int times) { return loaded[i]->kernel->Seconds(times); };
      // The run before was another kernel: its first sample warms up.
      TimingPolicy once = policy;
      once.least_samples = once.most_samples = 1;
      results[i].samples.push_back(TimeRuns(run, std::nullopt, once, clock).back());
    }
  }
  return results;
}

}  // namespace tunec
