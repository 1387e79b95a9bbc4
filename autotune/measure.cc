#include "autotune/measure.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include "autotune/check.h"
#include "autotune/guarded_buffer.h"
#include "autotune/oracle.h"
#include "autotune/run_kernel.h"
#include "jit/compile.h"
#include "jit/detect_cpu.h"
#include "jit/load.h"
#include "schedule/apply.h"

namespace tunec {
namespace {

class Stopwatch {
 public:
  /// Milliseconds since construction or the last call.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TrialStatus StatusOf(ErrorCode code) {
  if (code == ErrorCode::kIllegalSchedule) return TrialStatus::kIllegal;
  if (code == ErrorCode::kWrongResult) return TrialStatus::kWrongResult;
  return TrialStatus::kCompileError;
}

Measurement FailedBy(const Error& error) {
  return {.status = StatusOf(error.code), .message = error.message};
}

using Storage = std::map<std::string, std::shared_ptr<GuardedBuffer>>;

Result<std::shared_ptr<GuardedBuffer>> AllocateFor(const Tensor& tensor) {
  const auto bytes = static_cast<size_t>(StorageElements(tensor)) * SizeOf(tensor.type);
  TUNEC_ASSIGN(GuardedBuffer buffer, GuardedBuffer::Allocate(bytes));
  // Padding that a layout adds holds NaN: a kernel may load it, but not use it.
  buffer.Poison();
  return std::make_shared<GuardedBuffer>(std::move(buffer));
}

struct CompiledNest {
  LoopNest nest;
  ObjectCode object;
};

Result<std::vector<void*>> AddressesOf(const LoopNest& nest, const Storage& storage,
                                       const Storage& packed) {
  std::vector<void*> addresses;
  for (const TensorId id : Arguments(nest)) {
    const std::string& name = nest.tensors[id].name;
    auto found = storage.find(name);
    if (const auto own = packed.find(name); own != packed.end()) {
      found = own;
    } else if (found == storage.end()) {
      return Fail(ErrorCode::kInternal, "nest {} has an argument {} that the workload lacks",
                  nest.name, name);
    }
    addresses.push_back(found->second->data());
  }
  return addresses;
}

Result<KernelRun> LoadRun(const ObjectCode& object, int threads) {
  TUNEC_ASSIGN(Kernel kernel, LoadKernel(object));
  return KernelRun::Make(std::move(kernel), threads);
}

}  // namespace

struct CompiledCandidate::Impl {
  std::optional<Measurement> failure;
  CompiledNest kernel;
  std::vector<CompiledNest> prepack;
  Fault fault = Fault::kNone;
  double compile_ms = 0;
};

CompiledCandidate::CompiledCandidate() : impl_(std::make_unique<Impl>()) {}
CompiledCandidate::CompiledCandidate(CompiledCandidate&&) noexcept = default;
CompiledCandidate& CompiledCandidate::operator=(CompiledCandidate&&) noexcept = default;
CompiledCandidate::~CompiledCandidate() = default;
const std::optional<Measurement>& CompiledCandidate::failure() const { return impl_->failure; }

// A candidate that is ready to run.
struct LoadedCandidate {
  KernelRun run;
  Storage packed;
  std::vector<void*> addresses;
};

struct CheckedRun {
  Verdict verdict;
  double seconds = 0;  // of the run
};

struct Workbench::Impl {
  Workload workload;
  ThreadPool* pool = nullptr;
  Oracle oracle;
  Storage storage;              // by argument name
  std::vector<Tensor> outputs;  // of the default lowering

  Status AllocateStorage();
  Status CompileInto(const CandidateRequest& request, CompiledCandidate::Impl& candidate) const;
  Result<Storage> Pack(const std::vector<CompiledNest>& prepack);
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
    TUNEC_ASSIGN(storage[tensor.name], AllocateFor(tensor));
    if (output) outputs.push_back(tensor);
    if (argument) ToStorage(tensor, oracle.arguments[next++], storage[tensor.name]->data());
  }
  return {};
}

Status Workbench::Impl::CompileInto(const CandidateRequest& request,
                                    CompiledCandidate::Impl& candidate) const {
  Misbehave(request.fault);
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(request.schedule, "candidate"));
  const Compute* compute = nullptr;
  for (const NamedCompute& lowering : workload.lowerings) {
    if (lowering.name == schedule.lowering) compute = &lowering.compute;
  }
  if (compute == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "there is no lowering '{}'", schedule.lowering);
  }
  TUNEC_ASSIGN(ScheduledKernel scheduled,
               ApplySchedule(*compute, schedule, ArithmeticFor(workload.accuracy)));
  candidate.kernel.nest = Corrupt(std::move(scheduled.nest), request.fault);
  TUNEC_ASSIGN(candidate.kernel.object, CompileObject(candidate.kernel.nest, workload.target));
  for (LoopNest& nest : scheduled.prepack) {
    TUNEC_ASSIGN(ObjectCode object, CompileObject(nest, workload.target));
    candidate.prepack.push_back({std::move(nest), std::move(object)});
  }
  return {};
}

Result<Storage> Workbench::Impl::Pack(const std::vector<CompiledNest>& prepack) {
  Storage packed;
  for (const CompiledNest& compiled : prepack) {
    for (const TensorId id : Arguments(compiled.nest)) {
      const Tensor& tensor = compiled.nest.tensors[id];
      if (tensor.role != TensorRole::kOutput) continue;
      TUNEC_ASSIGN(packed[tensor.name], AllocateFor(tensor));
    }
    TUNEC_ASSIGN(const std::vector<void*> addresses, AddressesOf(compiled.nest, storage, packed));
    TUNEC_ASSIGN(KernelRun run, LoadRun(compiled.object, pool->threads()));
    run.Run(addresses, *pool);
  }
  return packed;
}

Result<LoadedCandidate> Workbench::Impl::Load(const CompiledCandidate::Impl& candidate) {
  LoadedCandidate loaded;
  TUNEC_ASSIGN(loaded.packed, Pack(candidate.prepack));
  TUNEC_ASSIGN(loaded.addresses, AddressesOf(candidate.kernel.nest, storage, loaded.packed));
  TUNEC_ASSIGN(loaded.run, LoadRun(candidate.kernel.object, pool->threads()));
  return loaded;
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
  candidate.run.Poison();
  Stopwatch watch;
  candidate.run.Run(candidate.addresses, *pool);
  const double seconds = watch.Lap() / 1e3;
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

Result<Workbench> Workbench::Make(Workload workload, ThreadPool& pool) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(workload.target));
  if (workload.lowerings.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the workload has no lowering");
  }
  auto impl = std::make_unique<Impl>();
  impl->pool = &pool;
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
  candidate.impl_->fault = request.fault;
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
  MisbehaveMeasuring(candidate.impl_->fault);
  const auto run = [&] { loaded->run.Run(loaded->addresses, *impl_->pool); };
  result.samples = TimeRuns(run, best, policy, SteadyClock(), run_seconds);
  result.measure_ms = watch.Lap();
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
      const auto run = [&] { loaded[i]->run.Run(loaded[i]->addresses, *impl_->pool); };
      // The run before was another kernel: its first sample warms up.
      TimingPolicy once = policy;
      once.least_samples = once.most_samples = 1;
      results[i].samples.push_back(TimeRuns(run, std::nullopt, once, clock).back());
    }
  }
  return results;
}

}  // namespace tunec
