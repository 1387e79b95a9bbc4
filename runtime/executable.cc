#include "runtime/executable.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/run_context.h"

namespace tunec {
namespace {

using Kind = ValueRef::Kind;

Result<std::vector<int64_t>> ByteSizes(const std::vector<TensorSpec>& specs) {
  std::vector<int64_t> sizes;
  for (const TensorSpec& spec : specs) {
    TUNEC_ASSIGN(sizes.emplace_back(), ByteSize(spec));
  }
  return sizes;
}

Result<std::shared_ptr<const void>> AllocateShared(int64_t bytes) {
  TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(bytes));
  auto owner = std::make_shared<Buffer>(std::move(buffer));
  // A constant of no bytes still needs an owner that is not null.
  const void* data = owner->size() > 0 ? static_cast<const void*>(owner->data()) : owner.get();
  return std::shared_ptr<const void>(std::move(owner), data);
}

// Gives `constant` storage of its own where it has none, or none that is aligned as wanted.
Status Settle(Constant& constant) {
  const auto address = reinterpret_cast<uintptr_t>(constant.data.get());
  if (constant.data != nullptr && address % constant.alignment == 0) return {};
  TUNEC_ASSIGN(std::shared_ptr<const void> storage, AllocateShared(constant.bytes));
  if (constant.data != nullptr && constant.bytes > 0)
    std::memcpy(const_cast<void*>(storage.get()), constant.data.get(), constant.bytes);
  constant.data = std::move(storage);
  return {};
}

std::vector<std::byte*> Addresses(const std::vector<Constant>& constants) {
  std::vector<std::byte*> addresses;
  for (const Constant& constant : constants)
    addresses.push_back(static_cast<std::byte*>(const_cast<void*>(constant.data.get())));
  return addresses;
}

// For each constant the last prologue step that names it; `kept` if a run step does, -1 if none.
std::vector<size_t> LastUses(const ExecutablePlan& plan, size_t kept) {
  std::vector<size_t> last(plan.constants.size(), SIZE_MAX);
  for (size_t s = 0; s < plan.prologue.size(); ++s)
    for (const ValueRef& ref : plan.prologue[s].arguments) last[ref.index] = s;
  for (const Step& step : plan.steps)
    for (const ValueRef& ref : step.arguments)
      if (ref.kind == Kind::kConstant) last[ref.index] = kept;
  return last;
}

// Runs the prologue. Afterwards exactly the constants that run steps name have data. A prologue
// kernel and a constant are dropped as soon as no later step needs them, so that packing all
// weights of a model holds one of them twice, not all.
Status RunPrologue(ExecutablePlan& plan, ThreadPool& pool) {
  const size_t kept = plan.prologue.size();
  const std::vector<size_t> last_use = LastUses(plan, kept);
  for (size_t i = 0; i < plan.constants.size(); ++i)
    if (last_use[i] == SIZE_MAX) plan.constants[i].data = nullptr;
  for (size_t s = 0; s < plan.prologue.size(); ++s) {
    Step step = std::exchange(plan.prologue[s], {});
    for (const ValueRef& ref : step.arguments)
      TUNEC_RETURN_IF_ERROR(Settle(plan.constants[ref.index]));
    const std::vector<std::byte*> addresses = Addresses(plan.constants);
    TUNEC_ASSIGN(auto context, RunContext::Make({&step, 1}, 0, addresses, pool.threads()));
    TUNEC_RETURN_IF_ERROR(context->Bind({}, {}, {}, {}));
    context->RunStep(0, pool);
    for (const ValueRef& ref : step.arguments)
      if (last_use[ref.index] == s) plan.constants[ref.index].data = nullptr;
  }
  plan.prologue.clear();
  for (size_t i = 0; i < plan.constants.size(); ++i)
    if (last_use[i] == kept) TUNEC_RETURN_IF_ERROR(Settle(plan.constants[i]));
  return {};
}

Status CheckBuffer(const char* role, const TensorSpec& spec, int64_t bytes, const void* data) {
  if (bytes == 0) return {};
  if (data == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' is null, wanted {} bytes", role, spec.name,
                bytes);
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(spec.type) != 0)
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' is at {}, not aligned to its {} bytes", role,
                spec.name, fmt::ptr(data), SizeOf(spec.type));
  return {};
}

}  // namespace

struct Executable::Impl {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<int64_t> input_bytes;
  std::vector<int64_t> output_bytes;
  std::vector<Constant> constants;
  std::vector<std::byte*> constant_addresses;
  std::vector<Step> steps;
  std::vector<std::string> step_names;
  std::vector<IndexCheck> index_checks;
  std::vector<std::atomic<int64_t>> outside;  // of each check, in all runs
  int64_t arena_bytes = 0;
  std::optional<Error> refusal;
  std::shared_ptr<ThreadPool> pool;

  std::mutex mutex;                  // held for a few instructions: guards what follows
  std::unique_ptr<RunContext> idle;  // most recently used first, for its warm caches
  int64_t contexts = 0;
  int64_t context_bytes = 0;  // of one, without copies of inputs

  using ContextResult = Result<std::unique_ptr<RunContext>>;
  ContextResult TakeContext();
  void ReturnContext(std::unique_ptr<RunContext> context);
  Status CheckBuffers(std::span<const void* const> in, std::span<void* const> out) const;
  Status Run(std::span<const void* const> in, std::span<void* const> out,
             std::span<double> seconds);
  void RunSteps(RunContext& context, std::span<double> seconds);
  void CountOutside(RunContext& context, std::span<void* const> out);
};

Executable::Impl::ContextResult Executable::Impl::TakeContext() {
  {
    const std::lock_guard lock(mutex);
    if (idle != nullptr) {
      std::unique_ptr<RunContext> context = std::move(idle);
      idle = std::move(context->next);
      return context;
    }
    ++contexts;
  }
  ContextResult made = RunContext::Make(steps, arena_bytes, constant_addresses, pool->threads());
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

Status Executable::Impl::CheckBuffers(std::span<const void* const> in,
                                      std::span<void* const> out) const {
  if (in.size() != inputs.size() || out.size() != outputs.size())
    return Fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, wanted {} and {}",
                in.size(), out.size(), inputs.size(), outputs.size());
  for (size_t i = 0; i < in.size(); ++i)
    TUNEC_RETURN_IF_ERROR(CheckBuffer("input", inputs[i], input_bytes[i], in[i]));
  for (size_t i = 0; i < out.size(); ++i) {
    TUNEC_RETURN_IF_ERROR(CheckBuffer("output", outputs[i], output_bytes[i], out[i]));
    for (size_t j = 0; j < i; ++j)
      if (Overlap(out[i], output_bytes[i], out[j], output_bytes[j]))
        return Fail(ErrorCode::kInvalidArgument, "outputs '{}' and '{}' overlap", outputs[j].name,
                    outputs[i].name);
  }
  return {};
}

void Executable::Impl::RunSteps(RunContext& context, std::span<double> seconds) {
  using Clock = std::chrono::steady_clock;
  if (seconds.empty()) {
    for (size_t i = 0; i < steps.size(); ++i) context.RunStep(i, *pool);
    return;
  }
  auto before = Clock::now();
  for (size_t i = 0; i < steps.size(); ++i) {
    context.RunStep(i, *pool);
    const auto after = Clock::now();
    seconds[i] = std::chrono::duration<double>(after - before).count();
    before = after;
  }
}

void Executable::Impl::CountOutside(RunContext& context, std::span<void* const> out) {
  for (size_t i = 0; i < index_checks.size(); ++i) {
    const int64_t count = context.CountOutside(index_checks[i], out, *pool);
    if (count > 0) outside[i].fetch_add(count, std::memory_order_relaxed);
  }
}

Status Executable::Impl::Run(std::span<const void* const> in, std::span<void* const> out,
                             std::span<double> seconds) {
  if (refusal) return std::unexpected(*refusal);
  TUNEC_RETURN_IF_ERROR(CheckBuffers(in, out));
  TUNEC_ASSIGN(std::unique_ptr<RunContext> context, TakeContext());
  const Status bound = context->Bind(in, input_bytes, out, output_bytes);
  if (bound) {
    RunSteps(*context, seconds);
    CountOutside(*context, out);
  }
  ReturnContext(std::move(context));
  return bound;
}

Result<Executable> Executable::Make(ExecutablePlan plan, std::shared_ptr<ThreadPool> pool) {
  TUNEC_RETURN_IF_ERROR(Verify(plan));
  auto impl = std::make_unique<Impl>();
  impl->pool = pool != nullptr ? std::move(pool) : std::make_shared<ThreadPool>(plan.threads);
  TUNEC_ASSIGN(impl->input_bytes, ByteSizes(plan.inputs));
  TUNEC_ASSIGN(impl->output_bytes, ByteSizes(plan.outputs));
  if (!plan.refusal) TUNEC_RETURN_IF_ERROR(RunPrologue(plan, *impl->pool));
  impl->refusal = std::move(plan.refusal);
  impl->inputs = std::move(plan.inputs);
  impl->outputs = std::move(plan.outputs);
  impl->constants = std::move(plan.constants);
  impl->constant_addresses = Addresses(impl->constants);
  impl->steps = std::move(plan.steps);
  impl->outside = std::vector<std::atomic<int64_t>>(plan.index_checks.size());
  impl->index_checks = std::move(plan.index_checks);
  impl->arena_bytes = plan.arena_bytes;
  for (const Step& step : impl->steps) impl->step_names.push_back(step.name);
  TUNEC_ASSIGN(auto context, impl->TakeContext());
  impl->context_bytes = context->Bytes();
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

MemoryUse Executable::Memory() const {
  MemoryUse use;
  for (const Constant& constant : impl_->constants)
    if (constant.data != nullptr) use.constants += constant.bytes;
  const std::lock_guard lock(impl_->mutex);
  use.contexts = impl_->contexts;
  use.per_context = impl_->context_bytes;
  return use;
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

Status Executable::Run(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  return impl_->Run(inputs, outputs, {});
}

Result<std::vector<double>> Executable::ProfileRun(std::span<const void* const> inputs,
                                                   std::span<void* const> outputs) const {
  std::vector<double> seconds(impl_->steps.size());
  TUNEC_RETURN_IF_ERROR(impl_->Run(inputs, outputs, seconds));
  return seconds;
}

}  // namespace tunec
