#include "tests/fuzz/contraction_generator.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "graph/ops/op_table.h"
#include "support/check.h"

namespace tunec::fuzz {
namespace {

using Ints = std::vector<int64_t>;

// Limits of a contraction's multiply-adds and of each array's elements. The multiply-adds of images
// for Winograd's algorithm have a higher limit, because such images have many channels and pixels.
constexpr double kMostMultiplyAdds = 1.5e6;
constexpr double kMostOfImage = 1e7;
constexpr int64_t kMostElements = 60000;

// A contraction whose operands have shapes, but no elements yet.
struct Shapes {
  Op op = Op::kMatmul;
  Ints left, right;
  ReducedAxis of_left, of_right;
  Attributes attributes;
  int64_t channels = 0;  // channels of a convolution's result, which may have a bias; 0: a product
  bool channels_last = false;  // images enter and leave as {batch, height, width, channels}
  double most_multiply_adds = kMostMultiplyAdds;
  double multiply_adds = 0;  // per element of the result
};

class Generator {
 public:
  Generator(uint64_t seed, Widest widest) : random_(Random::Mix(seed)), widest_(widest) {
    case_.seed = seed;
  }

  ContractionCase Make() && {
    case_.accuracy = DrawAccuracy();
    case_.cpu = DrawCpu();
    case_.operands = static_cast<Operands>(Below(kOperandKinds));
    ValueId value = Kernel();
    const bool is_f32 = builder_.TypeOf(value).type == DataType::kF32;
    for (int64_t i = OneOf<int64_t>({0, 0, 1, 1, 2, 3}); is_f32 && i > 0; --i)
      value = Epilogue(value);
    builder_.AddOutput(value);
    case_.graph = std::move(builder_).Build();
    return std::move(case_);
  }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <class T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<int64_t>(choices.size()))];
  }

  void Shuffle(Ints& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i)
      std::swap(numbers[i], numbers[i + random_.Below(numbers.size() - i)]);
  }

  Accuracy DrawAccuracy() {
    const auto text = OneOf<const char*>({"f32", "f32", "f32", "f32", "exact", "exact", "bf16",
                                          "bf16", "bf16", "tf32", "1e-5", "1e-4", "1e-3", "0.01"});
    return *ParseAccuracy(text);
  }
  std::string DrawCpu() {
    if (widest_ == Widest::kAvx2) return "native";
    return OneOf<const char*>({"native", "native", "native", "native,+amx-emulated",
                               "native,+amx-emulated", "native,-avx512f"});
  }

  ValueId Kernel() {
    const int64_t kind = Below(100);
    if (kind < 60) return Contraction();
    case_.operands = OneOf({Operands::kUniform, Operands::kUniform, Operands::kPositive,
                            Operands::kFewBits, Operands::kSparse});
    if (kind < 70) return Attention();
    if (kind < 80) return Chain();
    if (kind < 87) return FewResults();
    return Rows();
  }

  // Returns a random size from 1 to `most`. Most sizes are not multiples of 16.
  int64_t Size(int64_t most) {
    if (Chance(10)) return std::min<int64_t>(most, OneOf<int64_t>({16, 32, 48, 64}));
    return Between(1, Chance(60) ? std::min<int64_t>(most, 40) : most);
  }

  Shapes DrawProduct() {
    Shapes s;
    const int64_t rows = Size(90), columns = Size(130), length = Chance(15) ? Size(900) : Size(150);
    const bool transpose_a = Chance(15), transpose_b = Chance(30);
    s.left = transpose_a ? Ints{length, rows} : Ints{rows, length};
    s.right = transpose_b ? Ints{columns, length} : Ints{length, columns};
    const bool batched = Chance(30), same = Chance(60);
    if (batched) {
      const int64_t batch = Between(1, 5);
      s.left.insert(s.left.begin(), batch);
      if (same) s.right.insert(s.right.begin(), batch);
    }
    const int left = batched ? 1 : 0, right = batched && same ? 1 : 0;
    s.of_left = {left + (transpose_a ? 0 : 1), length};
    s.of_right = {right + (transpose_b ? 1 : 0), length};
    s.attributes = {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}};
    s.multiply_adds = static_cast<double>(length);
    return s;
  }

  // Returns a 3x3 convolution that Winograd's algorithm can compute, with at least 8 channels.
  Shapes DrawImage() {
    Shapes s{.op = Op::kConv, .channels_last = Chance(75)};
    const int64_t inputs = Between(8, 48), outputs = Between(8, 64);
    const int64_t pad = Chance(80) ? 1 : 0, around = 2 - 2 * pad;
    s.left = {Chance(80) ? 1 : 2, inputs, Between(2, 24) + around, Between(3, 24) + around};
    s.right = {outputs, inputs, 3, 3};
    s.of_left = s.of_right = {1, inputs};
    s.channels = outputs;
    s.attributes = {{"strides", Ints{1, 1}}, {"pads", Ints(4, pad)}, {"dilations", Ints{1, 1}}};
    s.multiply_adds = static_cast<double>(inputs) * 9;
    s.most_multiply_adds = kMostOfImage;
    return s;
  }

  Shapes DrawConvolution(Op op) {
    Shapes s{.op = op};
    const bool transposed = op == Op::kConvTranspose;
    const int64_t axes = OneOf<int64_t>({1, 2, 2, 2, 3});
    const int64_t group = Chance(60) ? 1 : Between(2, 6);
    const bool depthwise = group > 1 && Chance(40);
    const int64_t inputs = depthwise ? 1 : Size(group > 1 ? 12 : 60);
    const int64_t outputs = depthwise && Chance(70) ? 1 : Size(group > 1 ? 12 : 70);
    s.left = {Between(1, 3), inputs * group};
    s.right = transposed ? Ints{inputs * group, outputs} : Ints{outputs * group, inputs};
    s.of_left = {1, inputs};
    s.of_right = {transposed ? 0 : 1, inputs};
    s.channels = outputs * group;
    s.multiply_adds = static_cast<double>(inputs);
    Ints strides, dilations, pads(2 * axes), extra;
    for (int64_t a = 0; a < axes; ++a) {
      const int64_t taps = OneOf<int64_t>({1, 1, 2, 3, 3, 3, 4, 5});
      dilations.push_back(Chance(80) ? 1 : 2);
      strides.push_back(Chance(60) ? 1 : Between(2, 3));
      const int64_t window = (taps - 1) * dilations[a] + 1;
      s.left.push_back(window + Between(0, axes == 1 ? 60 : axes == 2 ? 18 : 7));
      s.right.push_back(taps);
      extra.push_back(strides[a] > 1 && Chance(30) ? 1 : 0);
      for (const int64_t end : {a, a + axes})
        if (Chance(50)) pads[end] = Between(0, std::min<int64_t>(taps - 1, 2));
      s.multiply_adds *= static_cast<double>(taps);
    }
    s.attributes = {
        {"strides", strides}, {"pads", pads}, {"dilations", dilations}, {"group", group}};
    if (transposed) s.attributes["output_padding"] = extra;
    return s;
  }

  Shapes Draw() {
    const int64_t kind = Below(100);
    if (kind < 40) return DrawProduct();
    if (kind < 60) return DrawImage();
    return DrawConvolution(kind < 88 ? Op::kConv : Op::kConvTranspose);
  }

  bool Fits(const Shapes& s) const {
    if (std::max(ElementCount(s.left), ElementCount(s.right)) > kMostElements) return false;
    const ValueType left = TypeOf(s.left), right = TypeOf(s.right);
    Attributes completed = s.attributes;
    const auto types = Infer(s.op, std::vector{&left, &right}, completed);
    if (!types) return false;
    const int64_t elements = ElementCount(types->front().Shape());
    return elements > 0 && elements <= kMostElements &&
           static_cast<double>(elements) * s.multiply_adds <= s.most_multiply_adds;
  }

  static ValueType TypeOf(const Ints& shape, DataType type = DataType::kF32) {
    return {type, std::vector<Dim>(shape.begin(), shape.end())};
  }

  ValueId Input(Array array) {
    const auto input = builder_.AddInput("x" + std::to_string(case_.inputs.size()),
                                         TypeOf(array.shape(), array.type()));
    TUNEC_CHECK(input.has_value(), "an input: {}", input.error().message);
    case_.inputs.push_back(std::move(array));
    return *input;
  }
  ValueId Weight(Array array) {
    const std::string name = "w" + std::to_string(weights_++);
    return builder_.AddConstant(name, std::move(array), name);
  }
  ValueId Add(Op op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto value = builder_.Add(op, std::move(inputs), std::move(attributes));
    TUNEC_CHECK(value.has_value(), "{}: {}", Name(op), value.error().message);
    return *value;
  }

  ValueId Contraction() {
    Shapes shapes = Draw();
    while (!Fits(shapes)) shapes = Draw();
    Array left(DataType::kF32, shapes.left), right(DataType::kF32, shapes.right);
    // The weight of a convolution has no special values. An infinite weight would give NaN with the
    // zeros that the step `pad` adds around an image.
    const bool in_image = case_.operands == Operands::kSpecial && shapes.op != Op::kMatmul;
    if (Chance(70) || in_image) {
      FillOperands(left, shapes.of_left, right, shapes.of_right, case_.operands, random_);
    } else {
      FillOperands(right, shapes.of_right, left, shapes.of_left, case_.operands, random_);
    }
    std::vector<ValueId> operands = {InputImage(shapes, std::move(left))};
    operands.push_back(Chance(75) ? Weight(std::move(right)) : Input(std::move(right)));
    if (shapes.channels > 0 && Chance(40))
      operands.push_back(Weight(UniformElements({shapes.channels}, random_)));
    const ValueId result = Add(shapes.op, std::move(operands), shapes.attributes);
    return shapes.channels_last ? Transposed(result, {0, 2, 3, 1}) : result;
  }

  // Returns an array with the elements of FillElements for the case's kind of operands.
  Array Drawn(Ints shape, DataType type = DataType::kF32) {
    Array array(type, std::move(shape));
    FillElements(array, case_.operands, random_);
    return array;
  }
  ValueId Scalar(double value, DataType type = DataType::kF32) {
    Array array(type, {});
    array.SetDouble(0, value);
    return Weight(std::move(array));
  }
  // Returns a random float type, mostly float32: accuracy modes round only float32 operands.
  DataType DrawType() {
    return OneOf({DataType::kF32, DataType::kF32, DataType::kF32, DataType::kF32, DataType::kF64,
                  DataType::kF16, DataType::kBF16});
  }

  // Adds two products, often batched and mostly with a softmax of the rows between them.
  ValueId Attention() {
    const DataType type = DrawType();
    const int64_t queries = Between(1, 70), keys = Chance(40) ? queries : Between(1, 140);
    const int64_t depth = Between(1, 40), width = Between(1, 40);
    Ints batch(Chance(60) ? 1 : 0, Between(1, 4));
    const auto shape = [&](int64_t rows, int64_t columns) {
      Ints all = batch;
      all.insert(all.end(), {rows, columns});
      return all;
    };
    const bool transposed = Chance(70);
    const ValueId q = Input(Drawn(shape(queries, depth), type));
    const ValueId k = Input(Drawn(transposed ? shape(keys, depth) : shape(depth, keys), type));
    ValueId scores = Add(Op::kMatmul, {q, k}, {{"transpose_b", int64_t{transposed}}});
    if (Chance(80)) scores = Add(Op::kMul, {scores, Scalar(OneOf({0.125, 0.25, 0.4}), type)});
    if (Chance(85)) {
      if (Chance(40)) scores = Add(Op::kAdd, {scores, Weight(CausalMask(queries, keys, type))});
      scores = Add(Op::kSoftmax, {scores}, {{"axis", int64_t{-1}}});
    }
    return Add(Op::kMatmul, {scores, Input(Drawn(shape(keys, width), type))});
  }
  static Array CausalMask(int64_t queries, int64_t keys, DataType type) {
    Array mask(type, {queries, keys});
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t j = 0; j < keys; ++j) mask.SetDouble(i * keys + j, j <= i ? 0 : -INFINITY);
    return mask;
  }

  // Adds a depthwise convolution and a 1x1 convolution, sometimes with other nodes between them.
  ValueId Chain() {
    const int64_t channels = Between(2, 70), outputs = Between(1, 70);
    const int64_t taps = OneOf<int64_t>({1, 3, 3, 3, 5}), stride = Chance(70) ? 1 : 2;
    const int64_t pad = Chance(70) ? taps / 2 : 0;
    const int64_t height = taps + Between(0, 12), width = taps + Between(0, 18);
    const bool channels_last = Chance(75);
    const Shapes image{.left = {Between(1, 2), channels, height, width},
                       .channels_last = channels_last};
    ValueId value = InputImage(image, Drawn(image.left));
    value = Add(Op::kConv, {value, Weight(Drawn({channels, 1, taps, taps}))},
                {{"strides", Ints{stride, stride}},
                 {"pads", Ints(4, pad)},
                 {"dilations", Ints{1, 1}},
                 {"group", channels}});
    if (Chance(60)) value = Add(Op::kAdd, {value, Weight(Drawn({channels, 1, 1}))});
    if (Chance(70)) value = Add(OneOf({Op::kRelu, Op::kSilu, Op::kTanh}), {value});
    value = Add(Op::kConv, {value, Weight(Drawn({outputs, channels, 1, 1}))},
                {{"strides", Ints{1, 1}}, {"pads", Ints(4, 0)}, {"dilations", Ints{1, 1}}});
    return channels_last ? Transposed(value, {0, 2, 3, 1}) : value;
  }

  // Adds a product with long sums and few results, so that threads share sums. For positive
  // operands, the sequential evaluation may be exact by luck. Then `f32` allows no other result.
  ValueId FewResults() {
    if (case_.operands == Operands::kPositive) case_.operands = Operands::kUniform;
    const int64_t rows = Between(1, 12), columns = Between(1, 20);
    const int64_t length = Between(600, 110000 / std::max(rows, columns));
    const bool transpose_a = Chance(30), transpose_b = Chance(40);
    const DataType type = DrawType();
    const Ints left = transpose_a ? Ints{length, rows} : Ints{rows, length};
    const Ints right = transpose_b ? Ints{columns, length} : Ints{length, columns};
    const ValueId b = Chance(50) ? Weight(Drawn(right, type)) : Input(Drawn(right, type));
    return Add(Op::kMatmul, {Input(Drawn(left, type)), b},
               {{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}});
  }

  // Adds a softmax, a normalisation, an argmax or argmin, or another reduction, of any float type.
  // Other reductions have positive elements, because the tolerance is relative to the result. A sum
  // that cancels would have almost no tolerance.
  ValueId Rows() {
    const int64_t kind = Below(5);
    if (kind >= 3) case_.operands = Operands::kPositive;
    const DataType type = DrawType();
    const int64_t rank = Between(1, 4);
    Ints shape;
    for (int64_t d = rank; d > 0; --d) shape.push_back(Chance(15) ? 1 : Between(2, d > 2 ? 9 : 60));
    Shuffle(shape);
    if (rank <= 2 && Chance(30)) shape.back() *= 40;
    ValueId x = Input(Drawn(shape, type));
    if (Chance(25)) x = Moved(x);
    const int64_t axis = Below(rank);
    Ints axes = {axis};
    for (int64_t a = 0; a < rank; ++a)
      if (a != axis && Chance(25)) axes.push_back(a);
    if (kind == 0) return Add(OneOf({Op::kSoftmax, Op::kLogSoftmax}), {x}, {{"axis", axis}});
    if (kind == 1) return Normalised(x, axes);
    if (kind == 2) return Add(OneOf({Op::kArgMax, Op::kArgMin}), {x}, {{"axis", axis}});
    const Op op = OneOf(
        {Op::kReduceSum, Op::kReduceMean, Op::kReduceMax, Op::kReduceL2, Op::kReduceLogSumExp});
    return Add(op, {x}, {{"axes", axes}, {"keepdims", Below(2)}});
  }
  ValueId Normalised(ValueId x, const Ints& axes) {
    const DataType type = builder_.TypeOf(x).type;
    const Attributes over_axes = {{"axes", axes}, {"keepdims", int64_t{1}}};
    const ValueId centred = Add(Op::kSub, {x, Add(Op::kReduceMean, {x}, over_axes)});
    const ValueId squares = Add(Op::kReduceMean, {Add(Op::kMul, {centred, centred})}, over_axes);
    const ValueId deviation = Add(Op::kSqrt, {Add(Op::kAdd, {squares, Scalar(1e-3, type)})});
    return Add(Op::kDiv, {centred, deviation});
  }
  // Returns the value with its axes in a random order, or with one axis reversed.
  ValueId Moved(ValueId x) {
    const Ints shape = builder_.TypeOf(x).Shape();
    Ints order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (Chance(50)) {
      Shuffle(order);
      return Transposed(x, order);
    }
    Ints starts(shape.size(), 0), steps(shape.size(), 1), ends = shape;
    const size_t axis = random_.Below(shape.size());
    starts[axis] = shape[axis] - 1;
    ends[axis] = -1;
    steps[axis] = -1;
    return Add(Op::kSlice, {x}, {{"starts", starts}, {"ends", ends}, {"steps", steps}});
  }

  ValueId InputImage(const Shapes& shapes, Array image) {
    if (!shapes.channels_last) return Input(std::move(image));
    const Ints& shape = image.shape();
    const int64_t channels = shape[1], pixels = shape[2] * shape[3];
    Array last(DataType::kF32, {shape[0], shape[2], shape[3], channels});
    for (int64_t i = 0; i < image.size(); ++i) {
      const int64_t n = i / (channels * pixels), c = i / pixels % channels, p = i % pixels;
      last.MutableAs<float>()[(n * pixels + p) * channels + c] = image.As<float>()[i];
    }
    return Transposed(Input(std::move(last)), {0, 3, 1, 2});
  }
  ValueId Transposed(ValueId value, Ints order) {
    return Add(Op::kTranspose, {value}, {{"perm", std::move(order)}});
  }

  ValueId Epilogue(ValueId value) {
    const Ints shape = builder_.TypeOf(value).Shape();
    const int64_t kind = Below(8);
    if (kind == 0) {
      const Ints last = shape.empty() ? Ints() : Ints{shape.back()};
      return Add(Op::kAdd, {value, Weight(UniformElements(last, random_))});
    }
    if (kind == 1) return Add(Op::kAdd, {value, Input(UniformElements(shape, random_))});
    if (kind == 2) {
      Array factor(DataType::kF32, {});
      factor.SetDouble(0, OneOf({0.5, 2.0, -1.0, 0.1, 3.0}));
      return Add(Op::kMul, {value, Weight(std::move(factor))});
    }
    return Add(OneOf({Op::kRelu, Op::kRelu, Op::kGelu, Op::kSigmoid, Op::kTanh, Op::kSilu}),
               {value});
  }

  Random random_;
  Widest widest_;
  GraphBuilder builder_{"contraction"};
  ContractionCase case_;
  int weights_ = 0;
};

}  // namespace

ContractionCase MakeContraction(uint64_t seed, Widest widest) {
  return Generator(seed, widest).Make();
}

}  // namespace tunec::fuzz
