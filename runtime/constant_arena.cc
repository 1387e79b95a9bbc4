#include "runtime/constant_arena.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/buffer.h"

namespace tunec {
namespace {

size_t Aligned(int64_t bytes) {
  return (static_cast<size_t>(bytes) + Buffer::kAlignment - 1) / Buffer::kAlignment *
         Buffer::kAlignment;
}

// Returns the non-empty constants without data that run steps name, in order of first use.
std::vector<Constant*> InOrderOfUse(ExecutablePlan& plan) {
  std::vector<Constant*> order;
  std::vector<bool> known(plan.constants.size());
  for (const Step& step : plan.steps) {
    for (const ValueRef& ref : step.arguments) {
      if (ref.kind != ValueRef::Kind::kConstant || known[ref.index]) continue;
      known[ref.index] = true;
      Constant& constant = plan.constants[ref.index];
      if (constant.data == nullptr && constant.bytes > 0) order.push_back(&constant);
    }
  }
  return order;
}

// Returns a pointer to one constant's part of the arena. The whole pages within the part are freed
// with the last copy of the pointer, so with the last executable that uses the constant.
std::shared_ptr<const void> Part(std::shared_ptr<Buffer> arena, std::byte* data, int64_t bytes) {
  const auto discard = [arena = std::move(arena), data, bytes](const void*) {
    DiscardPages(data, static_cast<size_t>(bytes));
  };
  return {static_cast<const void*>(data), discard};
}

}  // namespace

Status AllocateInArena(ExecutablePlan& plan) {
  const std::vector<Constant*> order = InOrderOfUse(plan);
  size_t bytes = 0;
  for (const Constant* constant : order) {
    // The plan is not trusted: after an overflow of the sum the block would be too small.
    if (__builtin_add_overflow(bytes, Aligned(constant->bytes), &bytes))
      return Fail(ErrorCode::kResourceLimit, "cannot allocate {} bytes for constant '{}'",
                  constant->bytes, constant->name);
  }
  if (bytes == 0) return {};
  TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(bytes));
  const auto arena = std::make_shared<Buffer>(std::move(buffer));
  std::byte* next = arena->data();
  for (Constant* constant : order) {
    constant->data = plan.shared == nullptr ? std::shared_ptr<const void>(arena, next)
                                            : Part(arena, next, constant->bytes);
    next += Aligned(constant->bytes);
  }
  return {};
}

}  // namespace tunec
