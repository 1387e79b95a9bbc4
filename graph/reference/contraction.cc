// The reference execution of matrix products and convolutions. Both are sums over one depth axis: a
// row of the result is a combination of the rows of a matrix B[depth][columns]. In a convolution, a
// row is one output position, and the inputs under the window are the factors. Four rows share each
// read of B. The innermost loop runs over contiguous columns, so that the compiler vectorises it.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "graph/reference/run.h"

// A program built with the address or thread sanitizer cannot run the resolver that selects a
// function's clone for the CPU.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TUNEC_FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TUNEC_FOR_EACH_CPU
#endif

namespace tunec::reference {
namespace {

constexpr int64_t kRows = 4;
constexpr int64_t kColumns = 512;  // 4 x 512 sums of 8 bytes fit in the first-level cache

template <class Sum>
using Sums = std::array<std::array<Sum, kColumns>, kRows>;

/// Computes sums[r][j] += a[r] * b[j] for j < count.
template <class B, class Sum>
[[gnu::always_inline]] inline void AddScaled(const std::array<Sum, kRows>& a, const B* b,
                                             int64_t count, Sums<Sum>& sums) {
  Sum* __restrict s0 = sums[0].data();
  Sum* __restrict s1 = sums[1].data();
  Sum* __restrict s2 = sums[2].data();
  Sum* __restrict s3 = sums[3].data();
  for (int64_t j = 0; j < count; ++j) {
    const Sum value = static_cast<Sum>(b[j]);
    s0[j] += a[0] * value;
    s1[j] += a[1] * value;
    s2[j] += a[2] * value;
    s3[j] += a[3] * value;
  }
}

TUNEC_FOR_EACH_CPU void AddRow(const std::array<double, kRows>& a, const float* b, int64_t count,
                               Sums<double>& sums) {
  AddScaled(a, b, count, sums);
}
TUNEC_FOR_EACH_CPU void AddRow(const std::array<double, kRows>& a, const double* b, int64_t count,
                               Sums<double>& sums) {
  AddScaled(a, b, count, sums);
}
// Integers are computed as unsigned so that sums wrap.
void AddRow(const std::array<uint64_t, kRows>& a, const uint64_t* b, int64_t count,
            Sums<uint64_t>& sums) {
  AddScaled(a, b, count, sums);
}

/// A product of a matrix A with the row-major matrix `b`. `load_row` provides the rows of A.
/// `store` receives `count` sums of one result row, beginning at `column`.
template <class B, class Sum>
struct Product {
  int64_t rows = 0, depth = 0, columns = 0;
  const B* b = nullptr;
  std::function<void(int64_t row, Sum* a)> load_row;  // writes `depth` factors to `a`
  std::function<void(int64_t row, int64_t column, int64_t count, const Sum* sums)> store;
};

template <class B, class Sum>
void RunRows(const Product<B, Sum>& product, int64_t begin, int64_t end) {
  std::vector<Sum> a(static_cast<size_t>(product.depth * kRows), Sum{0});
  Sums<Sum> sums;
  for (int64_t row = begin; row < end; row += kRows) {
    const int64_t rows = std::min(kRows, end - row);
    for (int64_t r = 0; r < rows; ++r) product.load_row(row + r, a.data() + r * product.depth);
    for (int64_t column = 0; column < product.columns; column += kColumns) {
      const int64_t count = std::min(kColumns, product.columns - column);
      for (auto& line : sums) std::fill_n(line.begin(), count, Sum{0});
      for (int64_t k = 0; k < product.depth; ++k) {
        const int64_t d = product.depth;
        AddRow({a[k], a[d + k], a[2 * d + k], a[3 * d + k]},
               product.b + k * product.columns + column, count, sums);
      }
      for (int64_t r = 0; r < rows; ++r) product.store(row + r, column, count, sums[r].data());
    }
  }
}

template <class B, class Sum>
void RunProduct(const Product<B, Sum>& product) {
  ParallelFor(product.rows, product.depth * product.columns / 4 + product.depth,
              [&](int64_t begin, int64_t end) { RunRows(product, begin, end); });
}

void LoadNumbers(const Array& from, int64_t start, int64_t stride, int64_t count, double* to) {
  Load(from, start, stride, count, to);
}
void LoadNumbers(const Array& from, int64_t start, int64_t stride, int64_t count, uint64_t* to) {
  Load(from, start, stride, count, reinterpret_cast<int64_t*>(to));
}
void LoadNumbers(const Array& from, int64_t start, int64_t stride, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i)  // float represents every f16 and bf16 exactly
    to[i] = static_cast<float>(from.GetDouble(start + i * stride));
}

void StoreNumbers(const double* from, int64_t start, int64_t count, Array& to) {
  Store(from, start, count, to);
}
void StoreNumbers(const uint64_t* from, int64_t start, int64_t count, Array& to) {
  Store(reinterpret_cast<const int64_t*>(from), start, count, to);
}

/// Returns a pointer to the array's elements as type T. They are converted into `storage`, unless
/// both T and the array's type are float32.
template <class T>
const T* NumbersOf(const Array& array, std::vector<T>& storage) {
  if constexpr (std::is_same_v<T, float>)
    if (array.type() == DataType::kF32) return array.As<float>().data();
  storage.resize(static_cast<size_t>(array.size()));
  LoadNumbers(array, 0, 1, array.size(), storage.data());
  return storage.data();
}

/// Returns the index of the operand's matrix that each matrix of the result reads. `own` and
/// `result` are the batch shapes of operand and result; `own` is broadcast.
std::vector<int64_t> BatchOffsets(std::span<const int64_t> own, std::span<const int64_t> result) {
  const std::vector<int64_t> strides = StridesOf(own);
  std::vector<int64_t> offsets;
  const int64_t count = tunec::reference::Product(result, 0, result.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = result.size(); d-- > 0; rest /= result[d]) {
      const size_t skip = result.size() - own.size();
      if (d >= skip && own[d - skip] != 1) offset += rest % result[d] * strides[d - skip];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

struct MatmulShape {
  std::vector<int64_t> lhs, rhs;  // shapes of rank 2 or more; vectors are extended to matrices
  int64_t rows = 0, depth = 0, columns = 0;
  std::vector<int64_t> lhs_batch, rhs_batch;  // offsets in matrices, one per result matrix
};

MatmulShape ShapeOfMatmul(const RunContext& context, bool a_turned, bool b_turned) {
  MatmulShape shape{context.input(0).shape(), context.input(1).shape()};
  std::vector<int64_t> result = context.output_types[0].Shape();
  if (shape.rhs.size() > 1) result.pop_back();
  if (shape.lhs.size() > 1) result.pop_back();
  if (shape.lhs.size() == 1) shape.lhs.insert(a_turned ? shape.lhs.end() : shape.lhs.begin(), 1);
  if (shape.rhs.size() == 1) shape.rhs.insert(b_turned ? shape.rhs.begin() : shape.rhs.end(), 1);
  const size_t l = shape.lhs.size(), r = shape.rhs.size();
  shape.rows = shape.lhs[a_turned ? l - 1 : l - 2];
  shape.depth = shape.lhs[a_turned ? l - 2 : l - 1];
  shape.columns = shape.rhs[b_turned ? r - 2 : r - 1];
  shape.lhs_batch = BatchOffsets(std::span(shape.lhs).first(l - 2), result);
  shape.rhs_batch = BatchOffsets(std::span(shape.rhs).first(r - 2), result);
  return shape;
}

/// Returns `matrix`[columns][rows] transposed to [rows][columns].
template <class T>
std::vector<T> Transposed(const T* matrix, int64_t rows, int64_t columns) {
  std::vector<T> turned(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) turned[i * columns + j] = matrix[j * rows + i];
  return turned;
}

template <class B, class Sum>
std::vector<Array> Matmul(const RunContext& context) {
  const bool a_turned = context.node.Int("transpose_a") != 0;
  const bool b_turned = context.node.Int("transpose_b") != 0;
  const MatmulShape shape = ShapeOfMatmul(context, a_turned, b_turned);
  const Array& lhs = context.input(0);
  Array result = context.MakeOutput();
  std::vector<B> storage;
  const B* rhs = NumbersOf<B>(context.input(1), storage);
  const int64_t b_size = shape.depth * shape.columns;
  for (size_t i = 0; i < shape.lhs_batch.size() && result.size() > 0; ++i) {
    const B* b = rhs + shape.rhs_batch[i] * b_size;
    std::vector<B> turned;
    if (b_turned) b = (turned = Transposed(b, shape.depth, shape.columns)).data();
    const int64_t a_start = shape.lhs_batch[i] * shape.rows * shape.depth;
    const int64_t result_start = static_cast<int64_t>(i) * shape.rows * shape.columns;
    Product<B, Sum> product{shape.rows, shape.depth, shape.columns, b, {}, {}};
    product.load_row = [&](int64_t row, Sum* a) {
      LoadNumbers(lhs, a_start + row * (a_turned ? 1 : shape.depth), a_turned ? shape.rows : 1,
                  shape.depth, a);
    };
    product.store = [&](int64_t row, int64_t column, int64_t count, const Sum* sums) {
      StoreNumbers(sums, result_start + row * shape.columns + column, count, result);
    };
    RunProduct(product);
  }
  return {std::move(result)};
}

struct ConvShape {
  int64_t images, channels, filters, groups;  // channels and filters of one group
  int64_t from, positions, taps;              // elements per input channel, output channel, window
};

/// Returns the weights of one group as B[channel, tap][filter]. The layout of `w` is
/// w[filter][channel][tap] for conv and w[channel][filter][tap] for a transposed convolution.
template <class B>
std::vector<B> GroupWeights(const B* w, const ConvShape& shape, bool transposed) {
  std::vector<B> b(static_cast<size_t>(shape.channels * shape.taps * shape.filters));
  for (int64_t c = 0; c < shape.channels; ++c)
    for (int64_t m = 0; m < shape.filters; ++m)
      for (int64_t t = 0; t < shape.taps; ++t) {
        const int64_t pair = transposed ? c * shape.filters + m : m * shape.channels + c;
        b[(c * shape.taps + t) * shape.filters + m] = w[pair * shape.taps + t];
      }
  return b;
}

/// A weight that is an infinity or a NaN, with its position.
template <class B>
struct SpecialWeight {
  int64_t channel, tap, filter;
  B value;
};

/// Sets infinities and NaN among one group's weights to 0 and returns them. Where a tap of a
/// transposed convolution meets no element of the image, the convolution has no product. There
/// ConvProduct multiplies the weight by 0, which would give NaN for these weights.
template <class B>
std::vector<SpecialWeight<B>> TakeSpecialWeights(const ConvShape& shape, std::vector<B>& b) {
  std::vector<SpecialWeight<B>> taken;
  if constexpr (std::is_floating_point_v<B>)
    for (size_t i = 0; i < b.size(); ++i) {
      if (std::isfinite(b[i])) continue;
      const int64_t filter = static_cast<int64_t>(i) % shape.filters;
      const int64_t pair = static_cast<int64_t>(i) / shape.filters;
      taken.push_back({pair / shape.taps, pair % shape.taps, filter, std::exchange(b[i], B{0})});
    }
  return taken;
}

/// Adds the products with the special weights to `result`, but only where the tap meets an element
/// of the image.
template <class B, class Sum>
void AddSpecialWeights(const std::vector<SpecialWeight<B>>& weights, const ConvShape& shape,
                       const WindowTable& table, const Sum* image, Sum* result) {
  for (const auto& [channel, tap, filter, value] : weights)
    for (int64_t position = 0; position < shape.positions; ++position) {
      const int64_t i = table.At(position)[static_cast<size_t>(tap)];
      if (i < 0) continue;
      result[filter * shape.positions + position] += image[channel * shape.from + i] * value;
    }
}

ConvShape ShapeOfConv(const RunContext& context, const WindowTable& table, bool transposed) {
  const auto &x = context.input(0).shape(), &w = context.input(1).shape();
  const int64_t groups = context.node.Int("group");
  return {.images = x[0],
          .channels = x[1] / groups,
          .filters = transposed ? w[1] : w[0] / groups,
          .groups = groups,
          .from = tunec::reference::Product(x, 2, x.size()),
          .positions = table.positions,
          .taps = table.taps};
}

/// Returns the matrix product that computes one group of one image. Its `store` adds the sums to
/// result[filter][position], which must already contain the bias.
template <class B, class Sum>
Product<B, Sum> ConvProduct(const ConvShape& shape, const WindowTable& table, const B* b,
                            const Sum* x, Sum* result) {
  Product<B, Sum> product{shape.positions, shape.channels * shape.taps, shape.filters, b, {}, {}};
  product.load_row = [&shape, &table, x](int64_t position, Sum* a) {
    const std::span<const int64_t> window = table.At(position);
    for (int64_t c = 0; c < shape.channels; ++c)
      for (const int64_t i : window) *a++ = i < 0 ? Sum{0} : x[c * shape.from + i];
  };
  product.store = [&shape, result](int64_t position, int64_t column, int64_t count,
                                   const Sum* sums) {
    for (int64_t j = 0; j < count; ++j)
      result[(column + j) * shape.positions + position] += sums[j];
  };
  return product;
}

template <class B, class Sum>
std::vector<Array> Conv(const RunContext& context) {
  const bool transposed = context.node.op == Op::kConvTranspose;
  const auto &x_shape = context.input(0).shape(), &w_shape = context.input(1).shape();
  const std::vector<int64_t> y_shape = context.output_types[0].Shape();
  const auto make_table = transposed ? MakeTransposedTable : MakeWindowTable;
  const WindowTable table =
      make_table(context.node, std::span(x_shape).subspan(2), std::span(y_shape).subspan(2),
                 std::span(w_shape).subspan(2));
  const ConvShape shape = ShapeOfConv(context, table, transposed);
  Array result = context.MakeOutput();
  std::vector<B> w_storage;
  std::vector<Sum> x(static_cast<size_t>(context.input(0).size()));
  std::vector<Sum> bias(static_cast<size_t>(shape.groups * shape.filters), Sum{0});
  LoadNumbers(context.input(0), 0, 1, context.input(0).size(), x.data());
  if (context.HasOperand(2))
    LoadNumbers(context.input(2), 0, 1, context.input(2).size(), bias.data());
  const B* w = NumbersOf<B>(context.input(1), w_storage);
  const int64_t w_size = shape.channels * shape.taps * shape.filters;
  const int64_t group_size = shape.filters * shape.positions;
  std::vector<Sum> y(static_cast<size_t>(shape.groups * group_size));
  for (int64_t n = 0; n < shape.images; ++n) {
    for (size_t m = 0; m < bias.size(); ++m)
      std::fill_n(y.data() + m * shape.positions, shape.positions, bias[m]);
    // Several groups can run in parallel. In a single group, output positions can run in parallel.
    ParallelFor(
        shape.groups, group_size * shape.channels * shape.taps, [&](int64_t begin, int64_t end) {
          for (int64_t g = begin; g < end; ++g) {
            std::vector<B> b = GroupWeights(w + g * w_size, shape, transposed);
            std::vector<SpecialWeight<B>> special;
            if (transposed) special = TakeSpecialWeights(shape, b);
            const Sum* image = x.data() + (n * shape.groups + g) * shape.channels * shape.from;
            Sum* filters = y.data() + g * group_size;
            const auto product = ConvProduct<B, Sum>(shape, table, b.data(), image, filters);
            shape.groups == 1 ? RunProduct(product) : RunRows(product, 0, product.rows);
            AddSpecialWeights(special, shape, table, image, filters);
          }
        });
    StoreNumbers(y.data(), n * shape.groups * group_size, shape.groups * group_size, result);
  }
  return {std::move(result)};
}

/// Calls Run<B, Sum>, where B is the type of loaded weights and Sum is the type of sums. Float
/// weights of at most 32 bits are loaded as float, others as double. Their sums are double.
/// Integers are computed in uint64, so that sums wrap.
template <template <class, class> class Run>
Outputs Dispatch(const RunContext& context) {
  const DataType weights = context.input(1).type();
  if (!IsFloat(weights)) return Run<uint64_t, uint64_t>()(context);
  if (weights == DataType::kF64) return Run<double, double>()(context);
  return Run<float, double>()(context);
}

template <class B, class Sum>
struct MatmulOf {
  Outputs operator()(const RunContext& context) const { return Matmul<B, Sum>(context); }
};
template <class B, class Sum>
struct ConvOf {
  Outputs operator()(const RunContext& context) const { return Conv<B, Sum>(context); }
};

}  // namespace

Outputs RunMatmul(const RunContext& context) { return Dispatch<MatmulOf>(context); }
Outputs RunConv(const RunContext& context) { return Dispatch<ConvOf>(context); }

}  // namespace tunec::reference
