// swizzle_storage: permutes the 16-byte chunks of a staged tensor.
//
// The accesses of a tensor do not change, because only the storage determines the offset of a
// chunk. Therefore no legality proof is needed. Rows shorter than 128 bytes are combined, because
// shared memory delivers 128 bytes at once.
#include <algorithm>
#include <bit>
#include <optional>

#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

constexpr int64_t kLeastRowBytes = 128;
constexpr int64_t kMostRowBytes = 1 << 20;

std::unexpected<Error> Reject(const SwizzleStorageStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "swizzle_storage {}: {}", step.tensor, why);
}

// Returns the node that allocates the tensor, at or below `node`, or null if there is none.
TreeNode* FindAlloc(TreeNode& node, TensorId tensor) {
  if (node.kind == TreeNode::Kind::kAlloc && node.tensor == tensor) return &node;
  for (TreeNode& child : node.children)
    if (TreeNode* found = FindAlloc(child, tensor)) return found;
  return nullptr;
}

}  // namespace

Status Apply(ScheduleTree& tree, const SwizzleStorageStep& step) {
  const std::optional<TensorId> id = tree.FindTensor(step.tensor);
  TreeNode* const alloc = id ? FindAlloc(tree.root, *id) : nullptr;
  if (alloc == nullptr || alloc->scope != Scope::kShared)
    return Reject(step, "it is not staged in shared storage");
  if (step.chunks != 2 && step.chunks != 4 && step.chunks != 8)
    return Reject(step, fmt::format("{} chunks, expected 2, 4 or 8", step.chunks));
  const Tensor& tensor = tree.tensors[*id];
  const int64_t last = tensor.shape.empty() ? 1 : tensor.shape.back();
  const int64_t row = last * static_cast<int64_t>(SizeOf(tensor.type));
  if (!std::has_single_bit(static_cast<uint64_t>(row)) || row > kMostRowBytes)
    return Reject(step, fmt::format("its rows have {} bytes, expected a power of two", row));
  alloc->swizzle = {.chunks = step.chunks,
                    .row_bytes = static_cast<int>(std::max(row, kLeastRowBytes))};
  return {};
}

}  // namespace tunec
