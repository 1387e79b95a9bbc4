#include "tests/compiler/size_numbers.h"

#include <algorithm>

namespace tunec::testing {
namespace {

using onnx_test::Ints;
using onnx_test::Model;
using onnx_test::Typed;

int64_t Modulo(int64_t n, int64_t m) { return ((n % m) + m) % m; }

/// Returns a number that the operator `op` computes from the length and `c`. `of` gives its value.
Number Binary(const std::string& op, int64_t c, std::function<int64_t(int64_t)> of) {
  return {op,
          [op, c](Model& model) {
            model.Constant("c", Ints({1}, {c})).Node(op, {"n", "c"}, {"r"});
          },
          std::move(of)};
}

Number Ceiling() {
  return {"ceil",
          [](Model& model) {
            model.Constant("three", Typed(DataType::kF32, {1}, {3}))
                .Node("Cast", {"n"}, {"as_float"}, {{"to", onnx_test::OnnxType(DataType::kF32)}})
                .Node("Div", {"as_float", "three"}, {"third"})
                .Node("Ceil", {"third"}, {"up"})
                .Node("Cast", {"up"}, {"r"}, {{"to", onnx_test::OnnxType(DataType::kI64)}});
          },
          [](int64_t n) { return (n + 2) / 3; }};
}

Number Chosen() {
  return {"where",
          [](Model& model) {
            model.Constant("limit", Ints({1}, {41}))
                .Constant("low", Ints({1}, {1}))
                .Constant("high", Ints({1}, {2}))
                .Node("Greater", {"n", "limit"}, {"is_long"})
                .Node("Where", {"is_long", "high", "low"}, {"r"});
          },
          [](int64_t n) { return n > 41 ? 2 : 1; }};
}

Number SquareRemainder() {
  return {"square_mod",
          [](Model& model) {
            model.Constant("m", Ints({1}, {7}))
                .Node("Mul", {"n", "n"}, {"nn"})
                .Node("Mod", {"nn", "m"}, {"r"});
          },
          [](int64_t n) { return n * n % 7; }};
}

Number ToMultipleOfTen() {
  return {"to_ten",
          [](Model& model) {
            model.Constant("m", Ints({1}, {10}))
                .Node("Neg", {"n"}, {"less"})
                .Node("Mod", {"less", "m"}, {"r"});
          },
          [](int64_t n) { return Modulo(-n, 10); }};
}

std::vector<double> Rows(int64_t begin, int64_t end, double added = 0) {
  std::vector<double> rows;
  for (int64_t i = begin; i < end; ++i) rows.push_back(static_cast<double>(i) + added);
  return rows;
}

Use Gathered() {
  return {"gather",
          [](Model& model) {
            model.Node("Gather", {"x", "r"}, {"y"}, {{"axis", 0}});
          },
          [](int64_t, int64_t r) { return Rows(r, r + 1); }};
}

Use SlicedTo() {
  return {"slice_to",
          [](Model& model) {
            model.Node("Add", {"r", "one"}, {"end"})
                .Node("Slice", {"x", "first", "end", "first"}, {"y"});
          },
          [](int64_t, int64_t r) { return Rows(0, r + 1); }};
}

Use Padded() {
  return {"pad",
          [](Model& model) {
            model.Node("Concat", {"first", "first", "r", "first"}, {"pads"}, {{"axis", 0}})
                .Node("Pad", {"x", "pads"}, {"y"});
          },
          [](int64_t n, int64_t r) {
            std::vector<double> rows = Rows(0, n);
            rows.resize(static_cast<size_t>(n + r));
            return rows;
          }};
}

Use Expanded() {
  return {"expand",
          [](Model& model) {
            model.Node("Add", {"r", "one"}, {"times"})
                .Node("Concat", {"times", "one"}, {"shape_of_y"}, {{"axis", 0}})
                .Node("ReduceMax", {"x"}, {"most"}, {{"axes", std::vector<int64_t>{0}}})
                .Node("Expand", {"most", "shape_of_y"}, {"y"});
          },
          [](int64_t n, int64_t r) {
            return std::vector<double>(static_cast<size_t>(r + 1), static_cast<double>(n - 1));
          }};
}

Use Ranged() {
  return {"range",
          [](Model& model) {
            model.Constant("zero_d", Ints({}, {0}))
                .Constant("one_d", Ints({}, {1}))
                .Node("Add", {"r", "one"}, {"end"})
                .Node("Squeeze", {"end"}, {"end_d"})
                .Node("Range", {"zero_d", "end_d", "one_d"}, {"counted"})
                .Node("ReduceSum", {"counted"}, {"total"})
                .Node("Cast", {"total"}, {"f"}, {{"to", onnx_test::OnnxType(DataType::kF32)}})
                .Node("Add", {"x", "f"}, {"y"});
          },
          [](int64_t n, int64_t r) { return Rows(0, n, static_cast<double>(r * (r + 1) / 2)); }};
}

}  // namespace

void PrintTo(const Number& number, std::ostream* out) { *out << number.name; }

Number Remainder(int64_t m) {
  return {"mod" + std::to_string(m),
          [m](Model& model) {
            model.Constant("m", Ints({1}, {m})).Node("Mod", {"n", "m"}, {"r"});
          },
          [m](int64_t n) { return n % m; }};
}

Number IsOne(int64_t length) {
  return {"equal",
          [length](Model& model) {
            model.Constant("one_length", Ints({1}, {length}))
                .Node("Equal", {"n", "one_length"}, {"is"})
                .Node("Cast", {"is"}, {"r"}, {{"to", onnx_test::OnnxType(DataType::kI64)}});
          },
          [length](int64_t n) { return n == length ? 1 : 0; }};
}

void PrintTo(const Use& use, std::ostream* out) { *out << use.name; }

Use Added() {
  return {"add",
          [](Model& model) {
            model.Node("Cast", {"r"}, {"f"}, {{"to", onnx_test::OnnxType(DataType::kF32)}})
                .Node("Add", {"x", "f"}, {"y"});
          },
          [](int64_t n, int64_t r) { return Rows(0, n, static_cast<double>(r)); }};
}

Use SlicedFrom() {
  return {"slice_from",
          [](Model& model) {
            model.Node("Slice", {"x", "r", "n", "first"}, {"y"});
          },
          [](int64_t n, int64_t r) { return Rows(r, n); }};
}

std::string BytesOf(const Number& number, const Use& use) {
  Model model(14);
  model.Input("x", {-1, kWidth})
      .Constant("first", Ints({1}, {0}))
      .Constant("one", Ints({1}, {1}))
      .Node("Shape", {"x"}, {"shape"})
      .Node("Gather", {"shape", "first"}, {"n"});
  number.add(model);
  use.add(model);
  model.Output("y");
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("length");
  // Adds the step 1 as the last operand of each Slice.
  for (onnx::NodeProto& node : *model.graph().mutable_node()) {
    if (node.op_type() == "Slice") node.add_input("one");
  }
  return model.Bytes();
}

Number HalfOf() {
  return Binary("Div", 2, [](int64_t n) { return n / 2; });
}

std::vector<std::pair<Number, Use>> AllNumbers() {
  const auto at_most = [](int64_t n) { return std::min<int64_t>(n, 45); };
  const auto at_least = [](int64_t n) { return std::max<int64_t>(n, 45); };
  std::vector<std::pair<Number, Use>> all;
  for (const Number& number : {Remainder(3), Remainder(5), Remainder(10),
                               Binary("Div", 7, [](int64_t n) { return n / 7; }),
                               Binary("Min", 45, at_most), Binary("Max", 45, at_least), Ceiling(),
                               Chosen(), IsOne(43), SquareRemainder(), ToMultipleOfTen()})
    all.emplace_back(number, Added());
  for (const Use& use : {Gathered(), SlicedFrom(), SlicedTo(), Padded(), Expanded(), Ranged()}) {
    all.emplace_back(Remainder(10), use);
    all.emplace_back(IsOne(43), use);
  }
  all.emplace_back(ToMultipleOfTen(), Padded());
  all.emplace_back(HalfOf(), SlicedFrom());
  all.emplace_back(HalfOf(), SlicedTo());
  all.emplace_back(HalfOf(), Gathered());
  all.emplace_back(Ceiling(), SlicedTo());
  all.emplace_back(Chosen(), Expanded());
  return all;
}

}  // namespace tunec::testing
