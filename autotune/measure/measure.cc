#include "autotune/measure/measure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "autotune/checker/check.h"
#include "autotune/checker/guarded_memory.h"
#include "autotune/checker/kernel_reference.h"
#include "autotune/checker/sample_blocks.h"
#include "autotune/measure/predict_candidate.h"
#include "device/open_device.h"
#include "kernel/compile_kernel.h"
#include "kernel/device_arrays.h"
#include "runtime/cache_eviction.h"
#include "runtime/cold_runs.h"
#include "support/check.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

TrialStatus StatusOf(ErrorCode code) {
  if (code == ErrorCode::kIllegalSchedule) return TrialStatus::kIllegal;
  if (code == ErrorCode::kWrongResult) return TrialStatus::kWrongResult;
  if (code == ErrorCode::kDevice) return TrialStatus::kCrashed;
  return TrialStatus::kCompileError;
}

Measurement MakeFailedMeasurement(const Error& error) {
  return {.status = StatusOf(error.code), .message = error.message};
}

using Storage = std::map<std::string, GuardedMemory>;  // key: argument name

// Allocates memory filled with 0xff bytes, which are NaN as floats. Padding of packed weights stays
// NaN, so that a kernel that computes with the padding gives NaN. Loading the padding is allowed.
Result<GuardedMemory> AllocatePoisoned(Device& device, size_t bytes) {
  TUNEC_ASSIGN(GuardedMemory memory, GuardedMemory::Allocate(device, bytes));
  TUNEC_RETURN_IF_ERROR(memory.Poison());
  return memory;
}

Result<const GuardedMemory*> MemoryOf(const std::string& argument, const Storage& storage,
                                      const Storage& packed) {
  if (const auto own = packed.find(argument); own != packed.end()) return &own->second;
  if (const auto found = storage.find(argument); found != storage.end()) return &found->second;
  return Fail(ErrorCode::kInternal, "the kernel has an argument {} that the workload lacks",
              argument);
}

Status RunPrepack(Device& device, const CompiledPrepack& prepack, void* weight, void* packed) {
  TUNEC_ASSIGN(const DeviceMemory workspace, AllocateWorkspace(device, prepack.image));
  TUNEC_ASSIGN(auto code, device.Load(prepack.image));
  TUNEC_ASSIGN(const auto pack, device.Bind(std::move(code), {weight, packed}, workspace.address));
  pack->Start();
  return device.Synchronize();
}

// Packs a weight on the host and copies the result to the device. The code that packs weights for a
// device runs on the host.
Status RunPrepackOnHost(Device& host, Device& device, const CompiledPrepack& prepack,
                        const GuardedMemory& weight, const GuardedMemory& packed) {
  TUNEC_ASSIGN(const DeviceMemory from, host.Allocate(weight.size()));
  TUNEC_ASSIGN(const DeviceMemory to, host.Allocate(packed.size()));
  TUNEC_RETURN_IF_ERROR(device.CopyOut(from.address, weight.data().address, weight.size()));
  TUNEC_RETURN_IF_ERROR(device.CopyOut(to.address, packed.data().address, packed.size()));
  TUNEC_RETURN_IF_ERROR(RunPrepack(host, prepack, from.address, to.address));
  return device.CopyIn(packed.data().address, to.address, packed.size());
}

// Returns the memory that displaces other data in the caches. All workbenches of a thread share
// this memory, which has the size of all second-level caches.
CacheDisplacement& DisplacementFor(int threads) {
  thread_local std::map<int, CacheDisplacement> displacements;
  return displacements.try_emplace(threads, threads).first->second;
}

}  // namespace

struct CompiledCandidate::Impl {
  std::optional<Measurement> failure;
  std::string schedule;
  CompiledKernel kernel;
  std::optional<Prediction> prediction;
  double compile_ms = 0;
};

CompiledCandidate::CompiledCandidate() : impl_(std::make_unique<Impl>()) {}
CompiledCandidate::CompiledCandidate(CompiledCandidate&&) noexcept = default;
CompiledCandidate& CompiledCandidate::operator=(CompiledCandidate&&) noexcept = default;
CompiledCandidate::~CompiledCandidate() = default;
const std::optional<Measurement>& CompiledCandidate::failure() const { return impl_->failure; }

// A candidate that is ready to run. C++ destroys members in reverse order, so the kernel is
// destroyed before its code and memory.
struct LoadedCandidate {
  Storage packed;
  std::vector<void*> arguments;
  std::vector<size_t> argument_bytes;
  DeviceMemory workspace;
  std::shared_ptr<const DeviceCode> code;
  std::unique_ptr<DeviceKernel> kernel;
  std::optional<ColdRuns> cold;  // made when the candidate is first timed
  CacheEviction constants;       // host kernels: arguments that are the same in every run
};

// The incumbent of the latest timing. `loaded` is empty if the incumbent could not be compiled or
// loaded.
struct LoadedIncumbent {
  std::string schedule;
  std::optional<LoadedCandidate> loaded;
  ReferenceRuns runs;   // of `loaded`
  bool failed = false;  // a run has failed
};

struct CheckedRun {
  Verdict verdict;
  double seconds = 0;
};

struct Workbench::Impl {
  Workload workload;
  std::optional<Target> emulated;  // device whose times are predicted; none: measured
  ThreadPool* pool = nullptr;
  std::unique_ptr<Device> device;
  std::unique_ptr<Device> host;  // host that packs weights; null: the device is the host
  KernelReference reference;
  Storage storage;
  std::vector<Tensor> outputs;  // outputs of the default lowering
  std::set<std::string> weights;
  CandidateHook hook;
  TimingLock* lock = nullptr;
  std::optional<LoadedIncumbent> incumbent;
  double timing_seconds = 0;  // sum of timing in turns
  double paused_seconds = 0;  // sum of MayPause

  // The code of candidates that were compiled ahead or may be finalists, by their schedules. They
  // are compiled once.
  struct RetainedKernel {
    CompiledKernel kernel;
    double compile_ms = 0;
  };
  mutable std::mutex kernels_mutex;
  std::map<std::string, RetainedKernel> kernels;
  // The compilations ahead, by their schedules. The last member is destroyed first. Its destruction
  // waits for the compilations, which use the other members.
  std::map<std::string, std::shared_future<void>> ahead;

  Status AllocateStorage();
  Status ComputeReference();
  void CompileAhead(const CandidateRequest& request);
  void WaitForAhead() const;
  void Retain(const CompiledCandidate::Impl& candidate);
  std::optional<RetainedKernel> FindRetained(const std::string& schedule) const;
  Status CompileInto(const CandidateRequest& request, CompiledCandidate::Impl& candidate) const;
  Result<Storage> Pack(const std::vector<CompiledPrepack>& prepacks);
  Result<LoadedCandidate> Load(const CompiledCandidate::Impl& candidate);
  Result<CheckedRun> Check(LoadedCandidate& candidate);
  Result<Verdict> CheckBlocks(LoadedCandidate& candidate, std::span<const int64_t> blocks);
  Result<std::vector<Array>> ReadOutputs();
  Result<std::string> Overrun(const LoadedCandidate& candidate) const;
  CacheEviction Constants(const std::vector<std::string>& names, const Storage& packed) const;
  Result<double> Seconds(LoadedCandidate& candidate, int runs);
  Result<double> SecondsOfHost(LoadedCandidate& candidate, int runs);
  Result<Measurement> Predict(const CompiledCandidate::Impl& candidate);
  ReferenceRuns* ReadyIncumbent(const Incumbent& best);
  Result<TimesInTurns> Time(LoadedCandidate& candidate, const std::optional<Incumbent>& best,
                            const TimingPolicy& policy, double before);
  bool MayPause();
  Result<Measurement> Measure(const CompiledCandidate::Impl& candidate,
                              const std::optional<Incumbent>& best, const TimingPolicy& policy);
};

Status Workbench::Impl::AllocateStorage() {
  size_t next = 0;
  for (const Tensor& tensor : workload.lowerings.front().compute.tensors) {
    const bool output = tensor.role == TensorRole::kOutput;
    const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
    if (!output && !argument) continue;
    const bool callers = std::ranges::find(workload.callers, tensor.name) != workload.callers.end();
    TUNEC_ASSIGN(GuardedMemory memory,
                 GuardedMemory::Allocate(*device, static_cast<size_t>(StorageBytes(tensor)),
                                         callers ? Placement::kCallers : Placement::kDevices));
    if (output) outputs.push_back(tensor);
    if (tensor.role == TensorRole::kWeight) weights.insert(tensor.name);
    if (argument) {
      TUNEC_RETURN_IF_ERROR(
          WriteArray(*device, memory.data(), tensor, reference.arguments[next++]));
    }
    storage.emplace(tensor.name, std::move(memory));
  }
  return {};
}

// Retains the code of a candidate. If there is too much code, an arbitrary one is dropped; it is
// then compiled again when it is needed.
void Workbench::Impl::Retain(const CompiledCandidate::Impl& candidate) {
  constexpr size_t kMost = 32;
  const std::lock_guard lock(kernels_mutex);
  if (kernels.size() >= kMost) kernels.erase(kernels.begin());
  kernels.emplace(candidate.schedule, RetainedKernel{candidate.kernel, candidate.compile_ms});
}

std::optional<Workbench::Impl::RetainedKernel> Workbench::Impl::FindRetained(
    const std::string& schedule) const {
  const std::lock_guard lock(kernels_mutex);
  const auto found = kernels.find(schedule);
  return found == kernels.end() ? std::nullopt : std::optional(found->second);
}

Status Workbench::Impl::CompileInto(const CandidateRequest& request,
                                    CompiledCandidate::Impl& candidate) const {
  candidate.schedule = request.schedule;
  if (std::optional<RetainedKernel> retained = FindRetained(request.schedule)) {
    candidate.kernel = std::move(retained->kernel);
    candidate.compile_ms = retained->compile_ms;
    return {};
  }
  const Stopwatch watch;
  KernelOptions options{.target = workload.target,
                        .loops = {.rounding = RoundingFreedomFor(workload.accuracy)}};
  if (hook) hook(options.loops, request.schedule);
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(request.schedule, "candidate"));
  const Compute* compute = FindLowering(workload.lowerings, schedule.lowering);
  if (compute == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "there is no lowering '{}'", schedule.lowering);
  }
  if (emulated) {
    TUNEC_ASSIGN(PredictedCandidate made,
                 PredictCandidate(*compute, schedule, workload.target, *emulated, options.loops));
    candidate.kernel = std::move(made.kernel);
    candidate.prediction = std::move(made.prediction);
  } else {
    TUNEC_ASSIGN(const KernelLoops loops, RunLoopPipeline(*compute, schedule, options.loops));
    TUNEC_RETURN_IF_ERROR(CheckFits(loops, workload.target));
    TUNEC_ASSIGN(candidate.kernel, CompileLoops(loops, options));
  }
  candidate.compile_ms = watch.Milliseconds();
  return {};
}

Result<Storage> Workbench::Impl::Pack(const std::vector<CompiledPrepack>& prepacks) {
  Storage packed;
  for (const CompiledPrepack& prepack : prepacks) {
    TUNEC_ASSIGN(const GuardedMemory* const weight, MemoryOf(prepack.weight, storage, packed));
    TUNEC_ASSIGN(GuardedMemory result,
                 AllocatePoisoned(*device, static_cast<size_t>(prepack.packed_bytes)));
    TUNEC_RETURN_IF_ERROR(
        host != nullptr
            ? RunPrepackOnHost(*host, *device, prepack, *weight, result)
            : RunPrepack(*device, prepack, weight->data().address, result.data().address));
    packed.emplace(prepack.packed, std::move(result));
  }
  return packed;
}

// Returns the kernel's arguments that are the same in every run of a model: weights and packed
// weights. The result is empty for a device.
CacheEviction Workbench::Impl::Constants(const std::vector<std::string>& names,
                                         const Storage& packed) const {
  std::vector<std::span<const std::byte>> ranges;
  if (workload.target.device) return {};
  for (const std::string& name : names) {
    const auto own = packed.find(name);
    if (own == packed.end() && !weights.contains(name)) continue;
    const GuardedMemory& memory = own == packed.end() ? storage.at(name) : own->second;
    ranges.emplace_back(memory.data().on_host, memory.size());
  }
  return CacheEviction(ranges);
}

Result<LoadedCandidate> Workbench::Impl::Load(const CompiledCandidate::Impl& candidate) {
  const CompiledKernel& kernel = candidate.kernel;
  TUNEC_ASSIGN(Storage packed, Pack(kernel.prepacks));
  std::vector<void*> addresses;
  std::vector<size_t> bytes;
  for (const std::string& argument : kernel.arguments) {
    TUNEC_ASSIGN(const GuardedMemory* const memory, MemoryOf(argument, storage, packed));
    addresses.push_back(memory->data().address);
    bytes.push_back(memory->size());
  }
  TUNEC_ASSIGN(DeviceMemory workspace, AllocateWorkspace(*device, kernel.image));
  TUNEC_ASSIGN(auto code, device->Load(kernel.image));
  TUNEC_ASSIGN(auto bound, device->Bind(code, addresses, workspace.address));
  CacheEviction constants = Constants(kernel.arguments, packed);
  return LoadedCandidate{.packed = std::move(packed),
                         .arguments = std::move(addresses),
                         .argument_bytes = std::move(bytes),
                         .workspace = std::move(workspace),
                         .code = std::move(code),
                         .kernel = std::move(bound),
                         .cold = std::nullopt,
                         .constants = std::move(constants)};
}

// Returns a description of overwritten guard bytes of an input, weight, output or packed weight;
// empty if all of these are intact.
Result<std::string> Workbench::Impl::Overrun(const LoadedCandidate& candidate) const {
  for (const Storage* group : {&storage, &candidate.packed}) {
    for (const auto& [name, memory] : *group) {
      TUNEC_ASSIGN(const ptrdiff_t distance, memory.Overrun());
      if (distance != 0) {
        return fmt::format("wrote {} bytes {} {}", std::abs(distance),
                           distance < 0 ? "before" : "beyond", name);
      }
    }
  }
  return std::string();
}

Result<CheckedRun> Workbench::Impl::Check(LoadedCandidate& candidate) {
  for (const Tensor& tensor : outputs) TUNEC_RETURN_IF_ERROR(storage.at(tensor.name).Poison());
  candidate.kernel->Poison();
  TUNEC_ASSIGN(const double seconds, candidate.kernel->Seconds(1));
  TUNEC_ASSIGN(std::string overrun, Overrun(candidate));
  if (!overrun.empty()) return CheckedRun{{.problem = std::move(overrun)}, seconds};
  TUNEC_ASSIGN(const std::vector<Array> actual, ReadOutputs());
  return CheckedRun{CheckOutputs(actual, reference.checkers), seconds};
}

Result<std::vector<Array>> Workbench::Impl::ReadOutputs() {
  std::vector<Array> arrays;
  for (const Tensor& tensor : outputs) {
    TUNEC_ASSIGN(Array array, ReadArray(*device, storage.at(tensor.name).data(), tensor));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

// Runs the blocks on outputs filled with zeros, then on outputs filled with 0xff bytes. Checks the
// elements that either run changed.
Result<Verdict> Workbench::Impl::CheckBlocks(LoadedCandidate& candidate,
                                             std::span<const int64_t> blocks) {
  const Kernel* const kernel = candidate.code->OnHost();
  TUNEC_CHECK(kernel != nullptr, "blocks of {} are run alone", workload.target.Kind());
  const auto run = [&] {
    candidate.kernel->Poison();
    RunBlocks(*kernel, candidate.arguments.data(), candidate.workspace.address, blocks, *pool);
    return ReadOutputs();
  };
  for (const Tensor& tensor : outputs) TUNEC_RETURN_IF_ERROR(storage.at(tensor.name).Clear());
  TUNEC_ASSIGN(const std::vector<Array> over_zeros, run());
  for (const Tensor& tensor : outputs) TUNEC_RETURN_IF_ERROR(storage.at(tensor.name).Poison());
  TUNEC_ASSIGN(const std::vector<Array> actual, run());
  TUNEC_ASSIGN(std::string overrun, Overrun(candidate));
  if (!overrun.empty()) return Verdict{.problem = std::move(overrun)};
  std::vector<std::vector<bool>> written;
  int64_t elements = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    written.push_back(WrittenElements(actual[i], over_zeros[i]));
    elements += std::ranges::count(written.back(), true);
  }
  if (elements == 0) return Verdict{.problem = "the blocks that were run wrote nothing"};
  return CheckOutputs(actual, reference.checkers, written);
}

// Returns the seconds of `runs` runs. Before each run, the constants are evicted from the caches,
// and other data leaves the first two levels. If runs and evictions together take longer than 3 ms,
// the remaining runs are skipped, and the mean of the others is used for them. Evictions take long,
// for example, if a constant is a large table.
Result<double> Workbench::Impl::SecondsOfHost(LoadedCandidate& candidate, int runs) {
  CacheDisplacement& displacement = DisplacementFor(pool->threads());
  constexpr double kMostMilliseconds = 3;
  const Stopwatch watch;
  double seconds = 0;
  int done = 0;
  do {
    candidate.constants.Run(*pool);
    displacement.Run(*pool);
    TUNEC_ASSIGN(const double one, candidate.kernel->Seconds(1));
    seconds += one;
    ++done;
  } while (done < runs && watch.Milliseconds() < kMostMilliseconds);
  return seconds * runs / done;
}

// Returns the seconds of the runs. On a device with a cache, the runs are those of ColdRuns.
Result<double> Workbench::Impl::Seconds(LoadedCandidate& candidate, int runs) {
  if (!workload.target.device) return SecondsOfHost(candidate, runs);
  const int64_t cache_bytes = workload.target.device->l2_bytes;
  if (cache_bytes == 0) return candidate.kernel->Seconds(runs);
  if (!candidate.cold) {
    const std::vector<size_t>& bytes = candidate.argument_bytes;
    TUNEC_ASSIGN(const double once, candidate.kernel->Seconds(1));
    const Lap lap =
        ChooseLap(static_cast<int64_t>(std::accumulate(bytes.begin(), bytes.end(), size_t{0})),
                  cache_bytes, once);
    const DeviceCall call{candidate.code, candidate.arguments, candidate.workspace.address};
    TUNEC_ASSIGN(candidate.cold, ColdRuns::Make(*device, call, bytes, lap));
  }
  return candidate.cold->Seconds(runs);
}

// Checks the candidate in the emulation. The time of a correct candidate is the prediction that was
// made when the candidate was compiled.
Result<Measurement> Workbench::Impl::Predict(const CompiledCandidate::Impl& candidate) {
  const Prediction& prediction = *candidate.prediction;
  Measurement result{.message = prediction.warnings, .note = prediction.note};
  const Stopwatch watch;
  TUNEC_ASSIGN(LoadedCandidate loaded, Load(candidate));
  const std::vector<PhaseLaunch>& phases = candidate.kernel.image.phases;
  std::vector<int64_t> blocks;
  if (!prediction.blocks.empty())
    blocks = BlocksToCheck(phases.front(), candidate.kernel.work.front(), prediction.blocks,
                           workload.seed);
  CheckedRun checked;
  if (blocks.empty()) {
    TUNEC_ASSIGN(checked, Check(loaded));
  } else {
    TUNEC_ASSIGN(checked.verdict, CheckBlocks(loaded, blocks));
    result.note += fmt::format(" checked.blocks={}/{}", blocks.size(), phases.front().Blocks());
  }
  result.check_ms = watch.Milliseconds();
  result.accuracy_error = checked.verdict.e;
  if (!checked.verdict.problem.empty()) {
    result.status = TrialStatus::kWrongResult;
    result.message = checked.verdict.problem;
    return result;
  }
  result.samples = {prediction.seconds};
  result.artifact = ToArtifact(candidate.kernel);
  return result;
}

// Returns the runs of the incumbent, or null if it cannot run. Its schedule may come from a
// database that another version or device wrote.
ReferenceRuns* Workbench::Impl::ReadyIncumbent(const Incumbent& best) {
  if (!incumbent || incumbent->schedule != best.schedule) {
    incumbent = {.schedule = best.schedule, .loaded = std::nullopt, .runs = {}, .failed = false};
    CompiledCandidate::Impl compiled;
    if (!CompileInto({best.schedule}, compiled)) return nullptr;
    Result<LoadedCandidate> loaded = Load(compiled);
    if (loaded) incumbent->loaded = *std::move(loaded);
    incumbent->runs.time_of = [this](int runs) {
      Result<double> seconds = Seconds(*incumbent->loaded, runs);
      incumbent->failed |= !seconds;
      return seconds;
    };
  }
  incumbent->runs.known = best.seconds;
  return incumbent->loaded ? &incumbent->runs : nullptr;
}

// Returns true and sleeps, if the pauses of this workbench are at most a tenth of its timing.
bool Workbench::Impl::MayPause() {
  constexpr double kPauseSeconds = 0.2;
  constexpr double kMostPart = 0.1;
  if (paused_seconds > kMostPart * timing_seconds) return false;
  std::this_thread::sleep_for(std::chrono::duration<double>(kPauseSeconds));
  paused_seconds += kPauseSeconds;
  return true;
}

Result<TimesInTurns> Workbench::Impl::Time(LoadedCandidate& candidate,
                                           const std::optional<Incumbent>& best,
                                           const TimingPolicy& policy, double before) {
  const auto run = [&](int times) { return Seconds(candidate, times); };
  ReferenceRuns* const other = best ? ReadyIncumbent(*best) : nullptr;
  const PinnedThread pinned(pool->CallersProcessor());
  if (other == nullptr) {
    const auto known = best ? std::optional(best->seconds) : std::nullopt;
    TUNEC_ASSIGN(std::vector<double> samples, TimeRuns(run, known, policy, SteadyClock(), before));
    return TimesInTurns{.samples = std::move(samples)};
  }
  constexpr int kMostRepeats = 2;
  for (int repeat = 0;; ++repeat) {
    const Stopwatch watch;
    Result<TimesInTurns> times = TimeInTurns(run, *other, policy, SteadyClock(), before);
    timing_seconds += watch.Milliseconds() / 1e3;
    if (!times && incumbent->failed) break;
    if (!times) return times;
    const bool disturbed = 3 * times->disturbed > times->turns;
    if (!disturbed || repeat == kMostRepeats || !MayPause()) return times;
  }
  incumbent->loaded.reset();  // the candidate is timed alone
  TUNEC_ASSIGN(std::vector<double> samples, TimeRuns(run, best->seconds, policy, SteadyClock()));
  return TimesInTurns{.samples = std::move(samples)};
}

Result<Measurement> Workbench::Impl::Measure(const CompiledCandidate::Impl& candidate,
                                             const std::optional<Incumbent>& best,
                                             const TimingPolicy& policy) {
  Measurement result;
  Stopwatch watch;
  TUNEC_ASSIGN(LoadedCandidate loaded, Load(candidate));
  TUNEC_ASSIGN(const CheckedRun checked, Check(loaded));
  result.accuracy_error = checked.verdict.e;
  result.check_ms = watch.Lap();
  if (!checked.verdict.problem.empty()) {
    result.status = TrialStatus::kWrongResult;
    result.message = checked.verdict.problem;
    result.samples = {checked.seconds};
    return result;
  }
  TimesInTurns times;
  {
    // The incumbent is compiled here, so that its compilation does not use the lock.
    if (best) (void)ReadyIncumbent(*best);
    TUNEC_ASSIGN(const TimingLock::Hold hold, AcquireIfAny(lock));
    (void)watch.Lap();  // waiting is not part of the measurement
    TUNEC_ASSIGN(times, Time(loaded, best, policy, checked.seconds));
  }
  SetTimes(times, result);
  result.measure_ms = watch.Lap();
  std::vector<std::string> notes;
  if (loaded.cold) notes.push_back(fmt::format("timed.copies={}", loaded.cold->lap().copies));
  if (times.disturbed > 0)
    notes.push_back(fmt::format("timed.disturbed={}/{}", times.disturbed, times.turns));
  result.note = fmt::format("{}", fmt::join(notes, " "));
  result.artifact = ToArtifact(candidate.kernel);
  constexpr double kSlower = 1.1;
  if (result.ratio.value_or(1) <= kSlower) Retain(candidate);
  return result;
}

Workbench::Workbench(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workbench::Workbench(Workbench&&) noexcept = default;
Workbench& Workbench::operator=(Workbench&&) noexcept = default;
Workbench::~Workbench() = default;
const Workload& Workbench::workload() const { return impl_->workload; }

void Workbench::DropIncumbent() { impl_->incumbent.reset(); }

size_t Workbench::Bytes() const {
  size_t bytes = 0;
  for (const auto& [name, memory] : impl_->storage) bytes += memory.size();
  for (const OutputChecker& checker : impl_->reference.checkers) {
    bytes += checker.expected.bytes() + checker.sequential.bytes() + checker.bounds.bytes();
  }
  return bytes;
}

Status Workbench::Impl::ComputeReference() {
  // The host's own code computes the reference faster than emulated code of a device.
  const Target target = emulated ? Target{.host = workload.target.host} : workload.target;
  TUNEC_ASSIGN(reference, ComputeKernelReference(workload.lowerings.front().compute,
                                                 workload.accuracy, workload.seed, target, *pool));
  TUNEC_RETURN_IF_ERROR(AllocateStorage());
  reference.arguments.clear();
  return {};
}

// Compiles a candidate and retains its code. A candidate that fails is compiled again when it is
// measured, which reports the failure.
void Workbench::Impl::CompileAhead(const CandidateRequest& request) {
  try {
    CompiledCandidate::Impl candidate;
    if (CompileInto(request, candidate)) Retain(candidate);
  } catch (const std::bad_alloc&) {
    return;  // measuring the candidate reports the lack of memory
  }
}

// Waits for the compilations ahead, which would disturb a measurement.
void Workbench::Impl::WaitForAhead() const {
  for (const auto& [schedule, compilation] : ahead) compilation.wait();
}

Result<Workbench> Workbench::Make(Workload workload, ThreadPool& pool, CandidateHook hook,
                                  TimingLock* lock, std::span<const CandidateRequest> ahead) {
  TUNEC_ASSIGN(auto device,
               OpenDevice(workload.target, pool, PerfMap::kOff, {.name = workload.device}));
  if (workload.lowerings.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the workload has no lowering");
  }
  auto impl = std::make_unique<Impl>();
  impl->device = std::move(device);
  if (workload.target.device) {
    TUNEC_ASSIGN(impl->host, OpenDevice({.host = workload.target.host}, pool));
  }
  impl->hook = std::move(hook);
  impl->lock = lock;
  impl->pool = &pool;
  impl->emulated = EmulatedTarget(workload.target);
  impl->workload = std::move(workload);
  // A predicted candidate consists of more than the code that is retained.
  const size_t idle = impl->emulated ? 0 : static_cast<size_t>(pool.threads() - 1);
  for (const CandidateRequest& request : ahead.first(std::min(ahead.size(), idle))) {
    impl->ahead[request.schedule] = std::async(
        std::launch::async, [impl = impl.get(), request] { impl->CompileAhead(request); });
  }
  TUNEC_RETURN_IF_ERROR(impl->ComputeReference());
  return Workbench(std::move(impl));
}

CompiledCandidate Workbench::Compile(const CandidateRequest& request) const {
  CompiledCandidate candidate;
  Stopwatch watch;
  const auto ahead = impl_->ahead.find(request.schedule);
  if (ahead != impl_->ahead.end()) ahead->second.wait();
  try {
    const Status status = impl_->CompileInto(request, *candidate.impl_);
    if (!status) candidate.impl_->failure = MakeFailedMeasurement(status.error());
  } catch (const std::bad_alloc&) {
    candidate.impl_->failure = {.status = TrialStatus::kOutOfMemory,
                                .message = "no memory while compiling"};
  }
  if (candidate.impl_->failure) candidate.impl_->failure->compile_ms = watch.Lap();
  return candidate;
}

Measurement Workbench::Measure(CompiledCandidate candidate,
                               const std::optional<Incumbent>& incumbent,
                               const TimingPolicy& policy) {
  if (candidate.failure()) return *candidate.failure();
  impl_->WaitForAhead();
  const auto measure = [&] {
    return candidate.impl_->prediction ? impl_->Predict(*candidate.impl_)
                                       : impl_->Measure(*candidate.impl_, incumbent, policy);
  };
  Result<Measurement> result = measure();
  // The loaded incumbent may have used the memory that the candidate needs, so it is unloaded.
  if (!result && result.error().code == ErrorCode::kResourceLimit && impl_->incumbent) {
    impl_->incumbent.reset();
    result = measure();
  }
  if (!result) {
    const bool no_memory = result.error().code == ErrorCode::kResourceLimit;
    result = MakeFailedMeasurement(result.error());
    if (no_memory) result->status = TrialStatus::kOutOfMemory;
  }
  result->compile_ms = candidate.impl_->compile_ms;
  return *std::move(result);
}

std::vector<Measurement> Workbench::Compare(std::vector<CompiledCandidate> candidates,
                                            const CompareLimits& limits,
                                            const TimingPolicy& policy) {
  std::vector<Measurement> results(candidates.size());
  std::vector<std::optional<LoadedCandidate>> loaded(candidates.size());
  impl_->incumbent.reset();  // frees memory for the candidates
  impl_->WaitForAhead();
  std::vector<size_t> compared;
  std::vector<TimeOf> kernels;
  std::optional<size_t> failing;  // the candidate whose run failed last
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].failure()) {
      results[i] = *candidates[i].failure();
      continue;
    }
    Result<LoadedCandidate> one = impl_->Load(*candidates[i].impl_);
    if (!one) {
      results[i] = MakeFailedMeasurement(one.error());
      continue;
    }
    loaded[i] = std::move(*one);
    compared.push_back(i);
    kernels.emplace_back([this, &failing, i, &candidate = *loaded[i]](int runs) {
      Result<double> seconds = impl_->Seconds(candidate, runs);
      if (!seconds) failing = i;
      return seconds;
    });
  }
  if (kernels.empty()) return results;
  const Result<TimingLock::Hold> hold = AcquireIfAny(impl_->lock);
  if (!hold) return results;  // cancelled
  const PinnedThread pinned(impl_->pool->CallersProcessor());
  Result<ComparedTimes> times = CompareInTurns(kernels, limits, policy, SteadyClock());
  if (!times) {
    results[failing.value_or(compared.front())] = MakeFailedMeasurement(times.error());
    return results;
  }
  for (size_t k = 0; k < compared.size(); ++k) results[compared[k]].samples = (*times)[k];
  return results;
}

}  // namespace tunec
