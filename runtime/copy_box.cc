#include "runtime/copy_box.h"

#include <cstring>

namespace tunec {
namespace {

/// One array of a copy: strides in bytes, and the address of the box's first element.
struct Side {
  std::vector<int64_t> strides;
  int64_t offset = 0;

  Side(const BoxPlace& place, size_t element_bytes) : strides(place.extents.size()) {
    auto stride = static_cast<int64_t>(element_bytes);
    for (size_t a = place.extents.size(); a-- > 0; stride *= place.extents[a]) {
      strides[a] = stride;
      offset += place.begin[a] * stride;
    }
  }
};

struct Copy {
  const Side& source;
  const Side& target;
  std::span<const int64_t> box;
  size_t row_axes;  // these and all behind them are one run of bytes
  size_t row_bytes;

  void Rows(size_t axis, const std::byte* from, std::byte* to) const {
    if (axis == row_axes) {
      std::memcpy(to, from, row_bytes);
      return;
    }
    for (int64_t i = 0; i < box[axis]; ++i)
      Rows(axis + 1, from + i * source.strides[axis], to + i * target.strides[axis]);
  }
};

}  // namespace

void CopyBox(const void* from, const BoxPlace& source, void* to, const BoxPlace& target,
             std::span<const int64_t> box, size_t element_bytes) {
  const Side a(source, element_bytes), b(target, element_bytes);
  // Axes at the end that are whole in both, and one before them, are one run of bytes.
  size_t rows = box.size();
  size_t bytes = element_bytes;
  bool whole = true;
  while (rows > 0 && whole) {
    --rows;
    bytes *= static_cast<size_t>(box[rows]);
    whole = box[rows] == source.extents[rows] && box[rows] == target.extents[rows];
  }
  if (bytes == 0) return;
  Copy{a, b, box, rows, bytes}.Rows(0, static_cast<const std::byte*>(from) + a.offset,
                                    static_cast<std::byte*>(to) + b.offset);
}

}  // namespace tunec
