#include "runtime/copy_slice.h"

#include <cstring>

namespace tunec {
namespace {

/// An axis of a slice. A step is the distance between consecutive elements of the axis, in bytes.
struct Axis {
  int64_t size = 0;
  int64_t source_step = 0;
  int64_t target_step = 0;
};

/// The axes of a non-empty slice, the slowest first, without axes of size 1. Adjacent axes are
/// merged if their elements are evenly spaced in both arrays. `run_bytes` is the number of bytes
/// that are contiguous in both arrays; axes within these bytes are omitted.
struct MergedAxes {
  std::vector<Axis> axes;
  int64_t run_bytes;

  explicit MergedAxes(const SliceCopy& copy) : run_bytes(static_cast<int64_t>(copy.element_bytes)) {
    std::vector<Axis> fastest_first;
    int64_t source_step = run_bytes, target_step = run_bytes;
    for (size_t a = copy.slice.size(); a-- > 0;) {
      const Axis axis{copy.slice[a], source_step, target_step};
      source_step *= copy.source.extents[a];
      target_step *= copy.target.extents[a];
      if (axis.size == 1) continue;
      if (fastest_first.empty() && axis.source_step == run_bytes && axis.target_step == run_bytes) {
        run_bytes *= axis.size;
      } else if (!fastest_first.empty() && Follows(fastest_first.back(), axis)) {
        fastest_first.back().size *= axis.size;
      } else {
        fastest_first.push_back(axis);
      }
    }
    axes.assign(fastest_first.rbegin(), fastest_first.rend());
  }

  static bool Follows(const Axis& faster, const Axis& slower) {
    return slower.source_step == faster.size * faster.source_step &&
           slower.target_step == faster.size * faster.target_step;
  }
};

bool IsEmpty(const SliceCopy& copy) {
  for (const int64_t size : copy.slice)
    if (size == 0) return true;
  return copy.element_bytes == 0;
}

}  // namespace

int64_t BytesOf(const SlicePosition& position, size_t element_bytes) {
  auto bytes = static_cast<int64_t>(element_bytes);
  for (const int64_t extent : position.extents) bytes *= extent;
  return bytes;
}

int64_t OffsetOf(const SlicePosition& position, size_t element_bytes) {
  int64_t offset = 0;
  for (size_t a = 0; a < position.extents.size(); ++a)
    offset = offset * position.extents[a] + position.begin[a];
  return offset * static_cast<int64_t>(element_bytes);
}

void ForEachRows(const SliceCopy& copy,
                 const std::function<void(int64_t, int64_t, const CopiedRows&)>& each) {
  if (IsEmpty(copy)) return;
  MergedAxes all(copy);
  const auto bytes = static_cast<size_t>(all.run_bytes);
  CopiedRows rows{.row_bytes = bytes, .rows = 1, .source_pitch = bytes, .target_pitch = bytes};
  if (!all.axes.empty()) {
    const Axis& last = all.axes.back();
    rows.rows = static_cast<size_t>(last.size);
    rows.source_pitch = static_cast<size_t>(last.source_step);
    rows.target_pitch = static_cast<size_t>(last.target_step);
    all.axes.pop_back();
  }
  const auto visit = [&](const auto& self, size_t axis, int64_t source, int64_t target) -> void {
    if (axis == all.axes.size()) return each(source, target, rows);
    for (int64_t i = 0; i < all.axes[axis].size; ++i)
      self(self, axis + 1, source + i * all.axes[axis].source_step,
           target + i * all.axes[axis].target_step);
  };
  visit(visit, 0, OffsetOf(copy.source, copy.element_bytes),
        OffsetOf(copy.target, copy.element_bytes));
}

void CopySlice(const void* from, void* to, const SliceCopy& copy) {
  ForEachRows(copy, [&](int64_t source, int64_t target, const CopiedRows& rows) {
    const auto* read = static_cast<const std::byte*>(from) + source;
    auto* written = static_cast<std::byte*>(to) + target;
    for (size_t r = 0; r < rows.rows; ++r, read += rows.source_pitch, written += rows.target_pitch)
      std::memcpy(written, read, rows.row_bytes);
  });
}

}  // namespace tunec
