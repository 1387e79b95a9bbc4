// The reference execution of scatter. It copies the data and applies the updates to the copy, one
// after the other. An update replaces an element, or is combined with it by the reduction. Updates
// whose index is out of range are skipped.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/reference/run.h"
#include "support/check.h"

namespace tunec::reference {
namespace {

// A function that combines a data element with an update.
template <class T>
using Combine = std::function<T(T element, T update)>;

Combine<double> CombineFloats(const std::string& reduction) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto with_nan = [](auto choose) {
    return [choose](double a, double b) {
      return std::isnan(a) || std::isnan(b) ? kNan : choose(a, b);
    };
  };
  if (reduction == "add") return std::plus<>();
  if (reduction == "mul") return std::multiplies<>();
  if (reduction == "min") return with_nan([](double a, double b) { return b < a ? b : a; });
  if (reduction == "max") return with_nan([](double a, double b) { return b > a ? b : a; });
  TUNEC_CHECK(reduction == "none", "scatter by {}", reduction);
  return [](double, double update) { return update; };
}

// Returns a function that applies `function` to uint64 operands, so that sums and products wrap.
template <class Function>
Combine<int64_t> OnBits(Function function) {
  return [function](int64_t a, int64_t b) {
    return static_cast<int64_t>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
}

Combine<int64_t> CombineInts(const std::string& reduction, DataType type) {
  const bool is_signed = IsSigned(type);
  const auto less = [is_signed](int64_t a, int64_t b) {
    return is_signed ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  };
  if (reduction == "add") return OnBits(std::plus<>());
  if (reduction == "mul") return OnBits(std::multiplies<>());
  if (reduction == "min") return [less](int64_t a, int64_t b) { return less(b, a) ? b : a; };
  if (reduction == "max") return [less](int64_t a, int64_t b) { return less(a, b) ? b : a; };
  TUNEC_CHECK(reduction == "none", "scatter by {}", reduction);
  return [](int64_t, int64_t update) { return update; };
}

// The shape of a scatter's data. An index is flattened over one or more axes, and these axes are
// joined into one.
class Target {
 public:
  explicit Target(const RunContext& context)
      : axis_(static_cast<size_t>(context.node.Int("axis"))), shape_(context.input(0).shape()) {
    const size_t end = axis_ + static_cast<size_t>(context.node.Int("depth"));
    const int64_t extent = Product(shape_, axis_, end);
    shape_.erase(shape_.begin() + static_cast<ptrdiff_t>(axis_) + 1,
                 shape_.begin() + static_cast<ptrdiff_t>(end));
    shape_[axis_] = extent;
    strides_ = StridesOf(shape_);
  }

  /// Returns the offset of the element at `point`, with `index` along the joined axis. Returns -1
  /// if `index` is out of range.
  int64_t Find(const std::vector<int64_t>& point, int64_t index) const {
    const int64_t extent = shape_[axis_];
    if (index < -extent || index >= extent) return -1;
    int64_t element = (index < 0 ? index + extent : index) * strides_[axis_];
    for (size_t d = 0; d < point.size(); ++d)
      if (d != axis_) element += point[d] * strides_[d];
    return element;
  }

 private:
  size_t axis_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
};

// Returns the offset of an element in an operand that is broadcast to the updates. `point` is a
// position in the updates, and `shape` is the shape of the operand.
int64_t BroadcastOffset(const std::vector<int64_t>& point, const std::vector<int64_t>& shape) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + point[d] % shape[d];
  return offset;
}

void Advance(const std::vector<int64_t>& shape, std::vector<int64_t>& point) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++point[d] < shape[d]) return;
    point[d] = 0;
  }
}

template <class T>
Outputs Scattered(const RunContext& context, const Combine<T>& combine) {
  std::vector<T> values = LoadAll<T>(context.input(0));
  const std::vector<int64_t> indices = LoadAll<int64_t>(context.input(1));
  const std::vector<T> updates = LoadAll<T>(context.input(2));
  const std::vector<int64_t>& shape = context.input(2).shape();
  const Target target(context);
  std::vector<int64_t> point(shape.size(), 0);
  for (const T update : updates) {
    const int64_t index =
        indices[static_cast<size_t>(BroadcastOffset(point, context.input(1).shape()))];
    const int64_t element = target.Find(point, index);
    if (element >= 0) {
      T& value = values[static_cast<size_t>(element)];
      value = combine(value, update);
    }
    Advance(shape, point);
  }
  Array result = context.MakeOutput();
  Store(values.data(), 0, result.size(), result);
  return std::vector<Array>{std::move(result)};
}

}  // namespace

Outputs RunScatter(const RunContext& context) {
  const std::string& reduction = context.node.String("reduction");
  const DataType type = context.input(0).type();
  if (IsFloat(type)) return Scattered(context, CombineFloats(reduction));
  return Scattered(context, CombineInts(reduction, type));
}

}  // namespace tunec::reference
