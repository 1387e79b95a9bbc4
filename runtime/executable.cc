#include "runtime/executable.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/device_constants.h"
#include "runtime/device_context.h"
#include "runtime/host_context.h"
#include "runtime/preprocess_weights.h"
#include "runtime/share_constants.h"
#include "support/check.h"

namespace tunec {
namespace {

Result<std::vector<int64_t>> ByteSizes(const std::vector<TensorSpec>& specs) {
  std::vector<int64_t> sizes;
  for (const TensorSpec& spec : specs) {
    TUNEC_ASSIGN(sizes.emplace_back(), ByteSize(spec));
  }
  return sizes;
}

Status CheckBuffer(const char* role, const TensorSpec& spec, int64_t bytes, const void* data) {
  if (bytes == 0) return {};
  if (data == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' is null, expected {} bytes", role, spec.name,
                bytes);
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(spec.type) != 0)
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' is at {}, not aligned to its {} bytes", role,
                spec.name, fmt::ptr(data), SizeOf(spec.type));
  return {};
}

std::unexpected<Error> MakeHostMemoryError(const char* role, const TensorSpec& spec) {
  return Fail(ErrorCode::kInvalidArgument,
              "a queued run needs device memory, but {} '{}' is in host memory", role, spec.name);
}

}  // namespace

struct Executable::Impl {
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<Device> device;  // null: the host; destroyed after the members below
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<int64_t> input_bytes;
  std::vector<int64_t> output_bytes;
  std::vector<Constant> constants;
  DeviceConstants on_device;
  std::vector<Step> steps;
  InPlaceOutputs in_place;
  std::vector<std::string> step_names;
  std::vector<IndexCheck> index_checks;
  std::vector<std::atomic<int64_t>> outside;  // count of each check over all runs
  StagedBuffers staged;
  int64_t arena_bytes = 0;
  std::optional<Error> rejection;
  std::string context_note;

  std::mutex mutex;  // held for a few instructions; guards the members below
  // List of contexts that no call uses; null: none. The context that was returned last is first,
  // because its memory may still be in the caches.
  std::unique_ptr<RunContext> idle;
  int64_t contexts = 0;
  int64_t context_bytes = 0;  // bytes of one context without copies of inputs

  using ContextResult = Result<std::unique_ptr<RunContext>>;
  Status LoadConstants(std::vector<Constant> loaded, const ConstantSharing& sharing);
  ContextResult MakeContext();
  ContextResult TakeContext(void* stream = nullptr);
  ContextResult TakeIdle(void* stream);
  Status Wait();
  void ReturnContext(std::unique_ptr<RunContext> context);
  Status CheckBuffers(const RunBuffers& buffers) const;
  Status CheckRunOptions(const RunBuffers& buffers) const;
  Status CheckQueued(const RunOptions& options) const;
  Status Run(std::span<const void* const> in, std::span<void* const> out, const RunOptions& options,
             std::span<double> seconds);
  Status CountOutside(RunContext& context, const RunBuffers& buffers);
};

Status Executable::Impl::LoadConstants(std::vector<Constant> loaded,
                                       const ConstantSharing& sharing) {
  constants = std::move(loaded);
  if (device == nullptr || rejection) return {};
  TUNEC_ASSIGN(on_device, CopyConstants({pool, device}, constants, sharing, steps, arena_bytes));
  return {};
}

Executable::Impl::ContextResult Executable::Impl::MakeContext() {
  if (device == nullptr) return HostContext::Make(steps, arena_bytes, constants, *pool, in_place);
  return DeviceContext::Make({.device = *device,
                              .pool = *pool,
                              .steps = steps,
                              .checks = index_checks,
                              .constants = on_device.addresses,
                              .arena_bytes = arena_bytes,
                              .staged = staged});
}

// Takes the first idle context without an unfinished run in another stream. Returns null if there
// is none. Fails with the error of an earlier run. Requires: `mutex` is locked.
Executable::Impl::ContextResult Executable::Impl::TakeIdle(void* stream) {
  for (std::unique_ptr<RunContext>* at = &idle; *at != nullptr; at = &(*at)->next) {
    if (device != nullptr) {
      TUNEC_ASSIGN(const bool is_free, (*at)->IsFreeFor(stream));
      if (!is_free) continue;
    }
    std::unique_ptr<RunContext> context = std::move(*at);
    *at = std::move(context->next);
    return context;
  }
  return nullptr;
}

Executable::Impl::ContextResult Executable::Impl::TakeContext(void* stream) {
  {
    const std::lock_guard lock(mutex);
    TUNEC_ASSIGN(std::unique_ptr<RunContext> context, TakeIdle(stream));
    if (context != nullptr) return context;
    ++contexts;
  }
  ContextResult made = MakeContext();
  if (!made) {
    const std::lock_guard lock(mutex);
    --contexts;
  }
  return made;
}

void Executable::Impl::ReturnContext(std::unique_ptr<RunContext> context) {
  const std::lock_guard lock(mutex);
  context->next = std::move(idle);
  idle = std::move(context);
}

Status Executable::Impl::Wait() {
  std::unique_ptr<RunContext> taken;
  {
    const std::lock_guard lock(mutex);
    taken = std::move(idle);
  }
  Status first;
  while (taken != nullptr) {
    std::unique_ptr<RunContext> context = std::move(taken);
    taken = std::move(context->next);
    const Status waited = context->Wait();
    if (first) first = waited;
    ReturnContext(std::move(context));
  }
  return first;
}

// Checks the stream and the buffers of a queued run. The call must not wait, so no output may be in
// host memory. An input may be there only if it is read before the call returns (kHostNow).
Status Executable::Impl::CheckQueued(const RunOptions& options) const {
  if (options.stream == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "a queued run needs a stream");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (options.inputs.empty() || options.inputs[i] == BufferLocation::kHost)
      return MakeHostMemoryError("input", inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (options.outputs.empty() || options.outputs[i] != BufferLocation::kDevice)
      return MakeHostMemoryError("output", outputs[i]);
  return {};
}

Status Executable::Impl::CheckRunOptions(const RunBuffers& buffers) const {
  const RunOptions& options = buffers.options;
  const auto fits = [](const auto& said, const std::vector<TensorSpec>& specs) {
    return said.empty() || said.size() == specs.size();
  };
  TUNEC_CHECK(fits(options.inputs, inputs) && fits(options.outputs, outputs) &&
                  fits(options.input_slices, inputs) && fits(options.output_slices, outputs),
              "{} and {} addresses, {} and {} slices of {} inputs and {} outputs",
              options.inputs.size(), options.outputs.size(), options.input_slices.size(),
              options.output_slices.size(), inputs.size(), outputs.size());
  TUNEC_CHECK(device != nullptr || (options.input_slices.empty() && options.output_slices.empty()),
              "slices of a run on the host");
  if (device != nullptr && device->Number())
    return options.returns == RunReturn::kQueued ? CheckQueued(options) : Status();
  const auto there = [](BufferLocation location) { return location == BufferLocation::kDevice; };
  if (std::ranges::none_of(options.inputs, there) && std::ranges::none_of(options.outputs, there) &&
      options.stream == nullptr && options.returns == RunReturn::kDone) {
    return {};
  }
  const bool memory = options.stream == nullptr && options.returns == RunReturn::kDone;
  return Fail(ErrorCode::kInvalidArgument, "the model runs on the host: it has no {} of a device",
              memory ? "memory" : "stream");
}

Status Executable::Impl::CheckBuffers(const RunBuffers& buffers) const {
  const auto& in = buffers.inputs;
  const auto& out = buffers.outputs;
  if (in.size() != inputs.size() || out.size() != outputs.size())
    return Fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, expected {} and {}",
                in.size(), out.size(), inputs.size(), outputs.size());
  TUNEC_RETURN_IF_ERROR(CheckRunOptions(buffers));
  for (size_t i = 0; i < in.size(); ++i)
    TUNEC_RETURN_IF_ERROR(CheckBuffer("input", inputs[i], buffers.BytesOfInput(i), in[i]));
  for (size_t i = 0; i < out.size(); ++i)
    TUNEC_RETURN_IF_ERROR(CheckBuffer("output", outputs[i], buffers.BytesOfOutput(i), out[i]));
  return CheckDisjoint(outputs, out, [&](size_t i) { return buffers.BytesOfOutput(i); });
}

Status Executable::Impl::CountOutside(RunContext& context, const RunBuffers& buffers) {
  for (size_t i = 0; i < index_checks.size(); ++i) {
    TUNEC_ASSIGN(const int64_t count, context.CountOutside(index_checks[i], buffers));
    if (count > 0) outside[i].fetch_add(count, std::memory_order_relaxed);
  }
  return {};
}

Status Executable::Impl::Run(std::span<const void* const> in, std::span<void* const> out,
                             const RunOptions& options, std::span<double> seconds) {
  if (rejection) return std::unexpected(*rejection);
  const RunBuffers buffers{in, input_bytes, out, output_bytes, options};
  TUNEC_RETURN_IF_ERROR(CheckBuffers(buffers));
  TUNEC_ASSIGN(std::unique_ptr<RunContext> context, TakeContext(options.stream));
  Status ran = context->Run(buffers, seconds);
  // In ProfileRepeated, steps that run several times may have overwritten their indices.
  const bool counted = options.returns == RunReturn::kDone && seconds.size() <= steps.size();
  if (ran && counted) ran = CountOutside(*context, buffers);
  ReturnContext(std::move(context));
  return ran;
}

Result<Executable> Executable::Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool) {
  TUNEC_RETURN_IF_ERROR(Verify(plan));
  auto impl = std::make_unique<Impl>();
  impl->pool = pool != nullptr ? std::move(pool) : std::make_shared<ThreadPool>(plan.threads);
  impl->device = plan.device;  // code that the plan still owns is destroyed before the device
  TUNEC_ASSIGN(impl->input_bytes, ByteSizes(plan.inputs));
  TUNEC_ASSIGN(impl->output_bytes, ByteSizes(plan.outputs));
  ConstantSharing sharing;
  if (plan.device != nullptr && plan.shared != nullptr)
    sharing = {plan.shared, KeysOfConstants(plan)};
  if (!plan.rejection) TUNEC_RETURN_IF_ERROR(PreprocessWeights(plan, *impl->pool));
  impl->rejection = std::move(plan.rejection);
  impl->in_place = InPlaceOutputs(plan);
  impl->inputs = std::move(plan.inputs);
  impl->outputs = std::move(plan.outputs);
  impl->steps = std::move(plan.steps);
  impl->outside = std::vector<std::atomic<int64_t>>(plan.index_checks.size());
  impl->index_checks = std::move(plan.index_checks);
  impl->arena_bytes = plan.arena_bytes;
  impl->staged = StagedBuffers(impl->inputs.size(), impl->outputs.size());
  for (const Step& step : impl->steps) impl->step_names.push_back(step.name);
  TUNEC_RETURN_IF_ERROR(impl->LoadConstants(std::move(plan.constants), sharing));
  TUNEC_ASSIGN(auto context, impl->TakeContext());
  impl->context_bytes = context->Bytes();
  impl->context_note = context->Note();
  impl->ReturnContext(std::move(context));
  return Executable(std::move(impl));
}

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

const std::vector<TensorSpec>& Executable::Inputs() const { return impl_->inputs; }
const std::vector<TensorSpec>& Executable::Outputs() const { return impl_->outputs; }
const std::vector<std::string>& Executable::StepNames() const { return impl_->step_names; }
int Executable::Threads() const { return impl_->pool->threads(); }
std::optional<int> Executable::DeviceNumber() const {
  return impl_->device == nullptr ? std::nullopt : impl_->device->Number();
}

MemoryUse Executable::Memory() const {
  MemoryUse use;
  for (const Constant& constant : impl_->constants)
    if (constant.data != nullptr) use.constants += constant.bytes;
  use.constants += impl_->on_device.bytes;
  const std::lock_guard lock(impl_->mutex);
  use.contexts = impl_->contexts;
  use.per_context = impl_->context_bytes;
  return use;
}

void Executable::FreeIdle() const {
  // The contexts are destroyed after the lock is released, because freeing memory may take long.
  std::unique_ptr<RunContext> freed;
  const std::lock_guard lock(impl_->mutex);
  for (std::unique_ptr<RunContext>* at = &impl_->idle; *at != nullptr;) {
    if ((*at)->HasQueuedRun() && !(*at)->IsFreeFor(nullptr).value_or(false)) {
      at = &(*at)->next;
      continue;
    }
    std::unique_ptr<RunContext> context = std::move(*at);
    *at = std::move(context->next);
    context->next = std::move(freed);
    freed = std::move(context);
    --impl_->contexts;
  }
}

std::vector<OutsideIndices> Executable::Outside() const {
  std::vector<OutsideIndices> found;
  for (size_t i = 0; i < impl_->index_checks.size(); ++i) {
    const int64_t count = impl_->outside[i].load(std::memory_order_relaxed);
    const IndexCheck& check = impl_->index_checks[i];
    if (count > 0) found.push_back({check.node, check.extent, count});
  }
  return found;
}

int64_t Executable::CountOutside() const {
  int64_t count = 0;
  for (const OutsideIndices& outside : Outside()) count += outside.count;
  return count;
}

std::vector<std::string> Executable::Notes() const {
  std::vector<std::string> notes;
  if (!impl_->context_note.empty()) notes.push_back(impl_->context_note);
  const auto add = [&](const char* role, const std::vector<TensorSpec>& specs, const auto& staged) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!staged[i].load(std::memory_order_relaxed)) continue;
      notes.push_back(fmt::format("{} '{}' is not aligned to {} bytes: each run copies it", role,
                                  specs[i].name, kDeviceAlignment));
    }
  };
  add("input", impl_->inputs, impl_->staged.inputs);
  add("output", impl_->outputs, impl_->staged.outputs);
  return notes;
}

Status Executable::Run(std::span<const void* const> inputs, std::span<void* const> outputs,
                       const RunOptions& options) const {
  return impl_->Run(inputs, outputs, options, {});
}

bool Executable::CanBatchWith(const Executable& other) const {
  const Impl& one = *impl_;
  const Impl& two = *other.impl_;
  return one.device == nullptr && two.device == nullptr && one.pool == two.pool &&
         one.steps.size() == two.steps.size();
}

Status Executable::RunBatch(std::span<const BatchedRun> runs, const RunOptions& options) {
  if (runs.size() == 1) {
    const auto& [executable, given] = runs[0];
    return executable->Run(given.inputs, given.outputs, options);
  }
  std::vector<RunBuffers> buffers;
  std::vector<HostContext*> contexts;
  for (const auto& [executable, given] : runs) {
    TUNEC_CHECK(executable->CanBatchWith(*runs[0].executable), "runs that do not go together");
    const Impl& impl = *executable->impl_;
    if (impl.rejection) return std::unexpected(*impl.rejection);
    buffers.push_back({given.inputs, impl.input_bytes, given.outputs, impl.output_bytes, options});
    TUNEC_RETURN_IF_ERROR(impl.CheckBuffers(buffers.back()));
  }
  Status ran;
  while (ran && contexts.size() < runs.size()) {
    Impl::ContextResult context = runs[contexts.size()].executable->impl_->TakeContext();
    if (context)
      contexts.push_back(static_cast<HostContext*>(context->release()));
    else
      ran = std::unexpected(context.error());
  }
  if (ran) ran = HostContext::RunBatch(contexts, buffers);
  for (size_t i = 0; i < contexts.size(); ++i) {
    Impl& impl = *runs[i].executable->impl_;
    if (ran) ran = impl.CountOutside(*contexts[i], buffers[i]);
    impl.ReturnContext(std::unique_ptr<RunContext>(contexts[i]));
  }
  return ran;
}

Status Executable::Wait() const { return impl_->Wait(); }

Result<std::vector<double>> Executable::ProfileRun(std::span<const void* const> inputs,
                                                   std::span<void* const> outputs,
                                                   const RunOptions& options) const {
  std::vector<double> seconds(impl_->steps.size());
  RunOptions timed = options;
  timed.returns = RunReturn::kDone;
  TUNEC_RETURN_IF_ERROR(impl_->Run(inputs, outputs, timed, seconds));
  return seconds;
}

Result<std::vector<double>> Executable::ProfileRepeated(std::span<const void* const> inputs,
                                                        std::span<void* const> outputs,
                                                        int times) const {
  TUNEC_CHECK(times >= 1, "each step runs {} times", times);
  if (impl_->device != nullptr)
    return Fail(ErrorCode::kUnsupported, "on a device, steps are not run by themselves");
  std::vector<double> seconds(impl_->steps.size() * static_cast<size_t>(times));
  TUNEC_RETURN_IF_ERROR(impl_->Run(inputs, outputs, {}, seconds));
  return seconds;
}

}  // namespace tunec
