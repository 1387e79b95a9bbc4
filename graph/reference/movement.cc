// The reference execution of operators that move data or fill a result. Many of them use
// CopyByOffsets. CopyByOffsets adds one offset per axis, which gives the position of the element in
// the input.
#include <algorithm>
#include <cstring>

#include "graph/reference/run.h"
#include "ir/rounding.h"
#include "support/check.h"

namespace tunec::reference {
namespace {

constexpr int64_t kOutside = -1;
/// Offsets into the input, in elements, for each axis of the (possibly reshaped) result and each
/// index along the axis. kOutside selects the fill value.
using AxisOffsets = std::vector<std::vector<int64_t>>;

template <class T>
void CopyRow(const T* from, const std::vector<int64_t>& offsets, T fill, T* to) {
  for (size_t i = 0; i < offsets.size(); ++i)
    to[i] = offsets[i] == kOutside ? fill : from[offsets[i]];
}

template <class T>
void CopyRows(const Array& from, const AxisOffsets& offsets, const std::byte* fill_bytes,
              Array& to) {
  T fill;
  std::memcpy(&fill, fill_bytes, sizeof(T));
  const T* input = reinterpret_cast<const T*>(from.data());
  T* output = reinterpret_cast<T*>(to.mutable_data());
  const std::vector<int64_t>& columns = offsets.back();
  const auto width = static_cast<int64_t>(columns.size());
  if (width == 0) return;
  bool contiguous = columns[0] >= 0;
  for (int64_t i = 1; i < width && contiguous; ++i) contiguous = columns[i] == columns[0] + i;
  ParallelFor(to.size() / width, width * 2, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t base = 0, rest = row;
      for (size_t a = offsets.size() - 1; a-- > 0;) {
        const auto size = static_cast<int64_t>(offsets[a].size());
        const int64_t offset = offsets[a][rest % size];
        base = offset == kOutside || base == kOutside ? kOutside : base + offset;
        rest /= size;
      }
      T* line = output + row * width;
      if (base == kOutside) {
        std::fill_n(line, width, fill);
      } else if (contiguous) {
        std::copy_n(input + base + columns[0], width, line);
      } else {
        CopyRow(input + base, columns, fill, line);
      }
    }
  });
}

/// Returns an array of the shape `shape` with the elements of `from`, or `fill`, that `offsets`
/// selects. The dimensions of `shape` may differ from those of `offsets`, but the order of elements
/// is the same.
Array CopyByOffsets(const Array& from, AxisOffsets offsets, std::vector<int64_t> shape,
                    double fill = 0) {
  Array to(from.type(), std::move(shape));
  std::byte fill_bytes[8] = {};
  if (IsFloat(from.type())) {
    StoreFloat(fill_bytes, from.type(), fill);
  } else {
    StoreInt(fill_bytes, from.type(), SaturateToInt(fill, from.type()));
  }
  if (offsets.empty()) offsets = {{0}};
  switch (SizeOf(from.type())) {
    case 1:
      CopyRows<uint8_t>(from, offsets, fill_bytes, to);
      break;
    case 2:
      CopyRows<uint16_t>(from, offsets, fill_bytes, to);
      break;
    case 4:
      CopyRows<uint32_t>(from, offsets, fill_bytes, to);
      break;
    case 8:
      CopyRows<uint64_t>(from, offsets, fill_bytes, to);
      break;
    default:
      TUNEC_UNREACHABLE("element of {} bytes", SizeOf(from.type()));
  }
  return to;
}

/// Returns `i` if it is in 0..size-1. Otherwise returns the input index that the pad's `mode`
/// selects, or kOutside for the fill value.
int64_t Mirror(int64_t i, int64_t size, const std::string& mode) {
  if (i >= 0 && i < size) return i;
  if (mode == "constant") return kOutside;
  if (mode == "edge" || size == 1) return std::clamp<int64_t>(i, 0, size - 1);
  if (mode == "wrap") return FloorModulo(i, size);
  const int64_t period = 2 * (size - 1);  // `reflect` does not repeat the border
  const int64_t phase = FloorModulo(i, period);
  return phase < size ? phase : period - phase;
}

/// Returns the input index along `axis` for result index `i` of a slice, tile or pad. Returns
/// kOutside in a padding with the fill value.
int64_t SourceIndex(const Node& node, size_t axis, int64_t i, const Array& input) {
  const int64_t size = input.shape()[axis];
  switch (node.op) {
    case Op::kSlice:
      return node.Ints("starts")[axis] + i * node.Ints("steps")[axis];
    case Op::kTile:
      return i % size;
    case Op::kPad:
      return Mirror(i - node.Ints("pads")[axis], size, node.String("mode"));
    default:
      TUNEC_UNREACHABLE("{} moves nothing along one axis", Name(node.op));
  }
}

/// Returns the input axis for axis `a` of the result. Returns -1 for an axis of an expand that the
/// input lacks or that has extent 1 in the input.
int64_t SourceAxis(const Node& node, size_t a, size_t rank, const Array& input) {
  if (node.op == Op::kTranspose) return node.Ints("perm")[a];
  const auto axis = static_cast<int64_t>(a) - static_cast<int64_t>(rank - input.shape().size());
  if (node.op == Op::kExpand && (axis < 0 || input.shape()[axis] == 1)) return -1;
  return axis;
}

/// Clamps an index to the valid range, as a compiled gather does. Negative indices count from the
/// end. `size` must be positive.
int64_t IndexInRange(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
}

std::vector<int64_t> Steps(int64_t count, int64_t stride) {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
  return offsets;
}

}  // namespace

Outputs RunMovement(const RunContext& context) {
  const Node& node = context.node;
  const Array& input = context.input(0);
  const std::vector<int64_t> shape = context.output_types[0].Shape();
  const std::vector<int64_t> strides = StridesOf(input.shape());
  AxisOffsets offsets(shape.size());
  for (size_t a = 0; a < shape.size(); ++a) {
    const int64_t axis = SourceAxis(node, a, shape.size(), input);
    for (int64_t i = 0; i < shape[a]; ++i) {
      const bool direct = node.op == Op::kTranspose || node.op == Op::kExpand;
      const int64_t index = axis < 0 ? 0 : direct ? i : SourceIndex(node, axis, i, input);
      offsets[a].push_back(index == kOutside ? kOutside : axis < 0 ? 0 : index * strides[axis]);
    }
  }
  const double fill = node.op == Op::kPad ? node.Float("value") : 0;
  return std::vector<Array>{CopyByOffsets(input, std::move(offsets), shape, fill)};
}

Outputs RunReshape(const RunContext& context) {
  return std::vector<Array>{context.input(0).Reshaped(context.output_types[0].Shape())};
}

Outputs RunConcat(const RunContext& context) {
  const std::vector<int64_t> shape = context.output_types[0].Shape();
  const auto axis = static_cast<size_t>(context.node.Int("axis"));
  std::vector<Array> parts(context.inputs.begin(), context.inputs.end());
  if (context.precision == Precision::kFloat64)  // constants may still have a narrower type
    for (Array& part : parts) part = Widened(part);
  Array result(parts[0].type(), shape);
  const size_t element = SizeOf(result.type());
  const auto block_of = [&](const std::vector<int64_t>& s) {
    return static_cast<size_t>(Product(s, axis, s.size())) * element;
  };
  const size_t block = block_of(shape);
  std::byte* start = result.mutable_data();
  for (const Array& part : parts) {
    const size_t bytes = block_of(part.shape());
    for (int64_t i = 0; i < Product(shape, 0, axis) && bytes > 0; ++i)
      std::memcpy(start + static_cast<size_t>(i) * block,
                  part.data() + static_cast<size_t>(i) * bytes, bytes);
    start += bytes;
  }
  return std::vector<Array>{std::move(result)};
}

Outputs RunGather(const RunContext& context) {
  const Array& data = context.input(0);
  const auto axis = static_cast<size_t>(context.node.Int("axis"));
  const int64_t inner = Product(data.shape(), axis + 1, data.shape().size());
  const int64_t outer = Product(data.shape(), 0, axis);
  std::vector<int64_t> rows;
  for (const int64_t index : LoadAll<int64_t>(context.input(1)))
    rows.push_back(IndexInRange(index, data.shape()[axis]) * inner);
  AxisOffsets offsets = {Steps(outer, data.shape()[axis] * inner), std::move(rows),
                         Steps(inner, 1)};
  return std::vector<Array>{
      CopyByOffsets(data, std::move(offsets), context.output_types[0].Shape())};
}

Outputs RunGatherElements(const RunContext& context) {
  const Array& data = context.input(0);
  const std::vector<int64_t> indices = LoadAll<int64_t>(context.input(1));
  const std::vector<int64_t>& shape = context.input(1).shape();
  const auto axis = static_cast<size_t>(context.node.Int("axis"));
  const std::vector<int64_t> strides = StridesOf(data.shape());
  std::vector<int64_t> from(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      const int64_t index = d == axis ? IndexInRange(indices[i], data.shape()[d]) : rest % shape[d];
      from[i] += index * strides[d];
    }
  }
  return std::vector<Array>{CopyByOffsets(data, {std::move(from)}, shape)};
}

Outputs RunRange(const RunContext& context) {
  Array result = context.MakeOutput();
  const double start = context.node.Float("start"), delta = context.node.Float("delta");
  for (int64_t i = 0; i < result.size(); ++i) {
    const double value = start + static_cast<double>(i) * delta;
    Store(&value, i, 1, result);
  }
  return std::vector<Array>{std::move(result)};
}

Outputs RunOneHot(const RunContext& context) {
  Array result = context.MakeOutput();
  const int64_t depth = context.node.Int("depth");
  const double on = context.node.Float("on_value"), off = context.node.Float("off_value");
  const int64_t inner = Product(result.shape(), static_cast<size_t>(context.node.Int("axis")) + 1,
                                result.shape().size());
  const std::vector<int64_t> indices = LoadAll<int64_t>(context.input(0));
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t index = indices[i / (inner * depth) * inner + i % inner];
    const int64_t hot = index < 0 ? index + depth : index;  // an index out of range sets no element
                                                            // to `on`
    const double value = i / inner % depth == hot ? on : off;
    Store(&value, i, 1, result);
  }
  return std::vector<Array>{std::move(result)};
}

Outputs RunAlloc(const RunContext& context) { return std::vector<Array>{context.MakeOutput()}; }

Outputs RunFree(const RunContext&) { return std::vector<Array>{}; }

}  // namespace tunec::reference
