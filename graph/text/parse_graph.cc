// The parser of the text format .graph. It reads line by line and adds each node to a builder,
// which infers the node's types.
#include <map>
#include <set>
#include <unordered_map>
#include <variant>

#include "graph/open_dimensions.h"
#include "graph/ops/unknown_op.h"
#include "graph/text/graph_text.h"
#include "ir/size/size_text.h"
#include "ir/sizes.h"
#include "ir/text/layout_text.h"

namespace tunec {
namespace {

constexpr int kDeepestGraph = 16;

/// A weight whose elements are written after its graph has been parsed. So a wrong shape in a later
/// line is reported before gigabytes are written.
struct PendingWeight {
  WeightRequest request;
  Array array;
};

struct TypedLayout {
  ValueType type;
  Layout layout;
};

/// The sizes of named dimensions, and the names that occurred in the text so far.
class NamedSizes {
 public:
  explicit NamedSizes(const GraphSizes& sizes) : sizes_(sizes) {}

  bool Has(std::string_view name) const { return sizes_.contains(name); }
  std::optional<int64_t> Take(std::string_view name) {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) return std::nullopt;
    met_.insert(found->first);
    return found->second;
  }
  Status AllWereMet(std::string_view file_name) const {
    for (const auto& [name, size] : sizes_) {
      if (met_.contains(name)) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "{}: a size is given for the dimension '{}', which the text does not name",
                  file_name, name);
    }
    return {};
  }

 private:
  const GraphSizes& sizes_;
  std::set<std::string, std::less<>> met_;
};

/// A number of an attribute.
using Number = std::variant<int64_t, double, SizeExpr>;

/// Returns the list as integers, as floats if there is a float, or as sizes if there is a named
/// size.
Result<Attribute> ListOf(const std::vector<Number>& numbers, const SourceLocation& where) {
  std::vector<int64_t> integers;
  std::vector<double> floats;
  std::vector<SizeExpr> sizes;
  for (const Number& number : numbers) {
    if (const auto* integer = std::get_if<int64_t>(&number)) {
      integers.push_back(*integer);
      floats.push_back(static_cast<double>(*integer));
      sizes.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&number)) {
      floats.push_back(*real);
    } else {
      sizes.push_back(std::get<SizeExpr>(number));
    }
  }
  if (integers.size() == numbers.size()) return Attribute(std::move(integers));
  if (floats.size() == numbers.size()) return Attribute(std::move(floats));
  if (sizes.size() == numbers.size()) return Attribute(std::move(sizes));
  return FailAt(where, ErrorCode::kParse, "a list contains floats and named sizes");
}

class GraphParser {
 public:
  GraphParser(Lexer& lexer, const WeightSource& weights, NamedSizes& sizes, int depth)
      : lexer_(lexer), weights_(weights), sizes_(sizes), depth_(depth), builder_("") {}

  /// Parses a graph, from the word `graph` to the closing brace.
  Result<Graph> Parse();
  Result<TypedLayout> ParseType();
  Result<Attributes> ParseAttributeList();
  Result<Array> ParseElements(const ValueType& type);
  const std::vector<NamedAxis>& named_axes() const { return named_axes_; }

 private:
  Status ParseLine();
  Status ParseInput();
  Status ParseWeight();
  Status ParseConstant();
  Status ParseOutput();
  Status ParseOperation();
  Result<Op> ParseOperator();
  Result<std::vector<ValueId>> ParseOperands();
  Result<Attributes> ParseAttributes();
  Result<Attribute> ParseAttribute();
  Result<Number> ParseNumber();
  Result<std::vector<std::shared_ptr<const Graph>>> ParseBodies();
  Status ParseAnnotations(const std::vector<ValueId>& values);
  Result<Dim> ParseDim();
  bool AtSize(size_t ahead) const;
  Result<SizeExpr> WithSizes(const ParsedSize& parsed, const SourceLocation& where);
  void NoteNamedAxes(const ValueType& type);
  Result<std::vector<int64_t>> FixedShape(const ValueType& type, const SourceLocation& where) const;
  Result<ValueId> ParseValue();
  Result<std::string> ParseNewName();
  void Define(const std::string& name, ValueId value, Layout layout);

  Lexer& lexer_;
  const WeightSource& weights_;
  NamedSizes& sizes_;
  int depth_;
  std::vector<std::string> dim_names_;  // names of the latest type's dimensions; "" for other sizes
  std::vector<NamedAxis> named_axes_;
  GraphBuilder builder_;
  std::unordered_map<std::string, ValueId> values_;
  std::set<std::string> outputs_;
  std::vector<PendingWeight> pending_;
};

Result<Graph> GraphParser::Parse() {
  if (depth_ > kDeepestGraph)
    return FailAt(lexer_.Here(), ErrorCode::kParse, "graphs nest deeper than {}", kDeepestGraph);
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("graph"));
  TUNEC_ASSIGN(std::string name, lexer_.ExpectName("the graph's name"));
  builder_ = GraphBuilder(std::move(name));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("{"));
  SourceLocation end = lexer_.Here();
  while (!lexer_.TryTake("}")) {
    if (!lexer_.Peek().starts_line) return lexer_.Expected("a new line");
    TUNEC_RETURN_IF_ERROR(ParseLine());
    end = lexer_.Here();
  }
  if (builder_.graph().outputs().empty())
    return FailAt(end, ErrorCode::kParse, "graph {} has no output, expected at least one",
                  builder_.graph().name());
  for (PendingWeight& weight : pending_) weights_.Fill(weight.request, weight.array);
  return std::move(builder_).Build();
}

Status GraphParser::ParseLine() {
  if (lexer_.TryTake("input")) return ParseInput();
  if (lexer_.TryTake("weight")) return ParseWeight();
  if (lexer_.TryTake("constant")) return ParseConstant();
  if (lexer_.TryTake("output")) return ParseOutput();
  return ParseOperation();
}

Result<std::string> GraphParser::ParseNewName() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(std::string name, lexer_.ExpectName("a name"));
  if (name.empty()) return FailAt(where, ErrorCode::kParse, "a value's name is empty");
  if (values_.contains(name))
    return FailAt(where, ErrorCode::kParse, "value {} is already defined", name);
  return name;
}

Result<ValueId> GraphParser::ParseValue() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("a value's name"));
  const auto found = values_.find(name);
  if (found == values_.end())
    return FailAt(where, ErrorCode::kParse, "value {} is not defined above", name);
  return found->second;
}

void GraphParser::Define(const std::string& name, ValueId value, Layout layout) {
  builder_.RenameValue(value, name);
  if (!layout.IsRowMajor()) builder_.SetLayout(value, std::move(layout));
  values_[name] = value;
}

Status GraphParser::ParseInput() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, ParseNewName());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(":"));
  TUNEC_ASSIGN(TypedLayout typed, ParseType());
  auto value = builder_.AddInput(name, typed.type);
  if (!value) return FailAt(where, value.error().code, "{}", value.error().message);
  NoteNamedAxes(typed.type);
  Define(name, *value, std::move(typed.layout));
  return {};
}

Result<std::vector<int64_t>> GraphParser::FixedShape(const ValueType& type,
                                                     const SourceLocation& where) const {
  if (!type.IsFixed())
    return FailAt(where, ErrorCode::kParse, "a constant is {}, expected fixed sizes",
                  ShapeText(type.dims));
  std::vector<int64_t> shape = type.Shape();
  if (!IsShape(shape))
    return FailAt(where, ErrorCode::kParse, "a constant is {}, expected at most 2^48 elements",
                  ShapeText(type.dims));
  return shape;
}

Status GraphParser::ParseWeight() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, ParseNewName());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(":"));
  TUNEC_ASSIGN(TypedLayout typed, ParseType());
  WeightRequest request{.name = name, .type = typed.type.type, .shape = {}, .init = ""};
  TUNEC_ASSIGN(request.shape, FixedShape(typed.type, where));
  if (lexer_.TryTake("from")) {
    TUNEC_ASSIGN(request.name, lexer_.ExpectName("the weight's name"));
  }
  if (lexer_.TryTake("init")) {
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
    TUNEC_ASSIGN(const Distribution distribution, ParseDistribution(lexer_));
    request.init = Print(distribution);
  }
  auto array = weights_.Reserve(request);
  if (!array) return FailAt(where, array.error().code, "{}", array.error().message);
  pending_.push_back({request, *array});
  Define(name, builder_.AddWeight(name, std::move(*array), request.name, request.init),
         std::move(typed.layout));
  return {};
}

Status GraphParser::ParseConstant() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, ParseNewName());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect(":"));
  TUNEC_ASSIGN(TypedLayout typed, ParseType());
  TUNEC_RETURN_IF_ERROR(FixedShape(typed.type, where));
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
  TUNEC_ASSIGN(Array array, ParseElements(typed.type));
  Define(name, builder_.AddConstant(name, std::move(array)), std::move(typed.layout));
  return {};
}

/// Parses the elements of a constant. The elements are read before the array is allocated, so that
/// no array is allocated for a wrong shape.
Result<Array> GraphParser::ParseElements(const ValueType& type) {
  const SourceLocation where = lexer_.Here();
  std::vector<double> floats;
  std::vector<int64_t> integers;
  const auto parse_one = [&]() -> Status {
    if (IsFloat(type.type)) {
      TUNEC_ASSIGN(const double value, lexer_.ExpectNumber("a number"));
      floats.push_back(value);
    } else {
      TUNEC_ASSIGN(const int64_t value, lexer_.ExpectInteger("an integer"));
      integers.push_back(value);
    }
    return {};
  };
  if (lexer_.TryTake("[")) {
    for (bool first = true; !lexer_.TryTake("]"); first = false) {
      if (!first) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
      TUNEC_RETURN_IF_ERROR(parse_one());
    }
  } else {
    TUNEC_RETURN_IF_ERROR(parse_one());
  }
  const std::vector<int64_t> shape = type.Shape();
  const auto count = static_cast<int64_t>(floats.size() + integers.size());
  if (count != ElementCount(shape))
    return FailAt(where, ErrorCode::kParse, "constant has {} elements, expected {} for {}", count,
                  ElementCount(shape), ShapeText(type.dims));
  Array array(type.type, shape);
  for (int64_t i = 0; i < count; ++i)
    IsFloat(type.type) ? array.SetDouble(i, floats[i]) : array.SetInt(i, integers[i]);
  return array;
}

Status GraphParser::ParseOutput() {
  const Lexer before = lexer_;
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("the output's name"));
  if (!lexer_.TryTake("=")) lexer_ = before;
  TUNEC_ASSIGN(const ValueId value, ParseValue());
  if (name.empty()) return FailAt(where, ErrorCode::kParse, "an output's name is empty");
  if (!outputs_.insert(name).second)
    return FailAt(where, ErrorCode::kParse, "two outputs are called {}", name);
  builder_.AddOutput(value, name);
  return {};
}

Status GraphParser::ParseOperation() {
  const SourceLocation where = lexer_.Here();
  std::vector<std::string> names;
  if (!(lexer_.Peek(1).text == "(" && lexer_.Peek().kind == TokenKind::kIdentifier)) {
    do {
      TUNEC_ASSIGN(std::string name, ParseNewName());
      names.push_back(std::move(name));
    } while (lexer_.TryTake(","));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
  }
  TUNEC_ASSIGN(const Op op, ParseOperator());
  TUNEC_ASSIGN(std::vector<ValueId> operands, ParseOperands());
  TUNEC_ASSIGN(Attributes attributes, ParseAttributes());
  std::string node_name = names.empty() ? std::string(Name(op)) : names[0];
  if (lexer_.TryTake("as")) {
    TUNEC_ASSIGN(node_name, lexer_.ExpectName("the node's name"));
  }
  // The text states the types before the nested graphs, but checking the types needs the graphs.
  const Lexer annotations = lexer_;
  while (lexer_.Peek().text != "graph" && !lexer_.Peek().starts_line && !lexer_.IsAtEnd() &&
         !lexer_.At("}"))
    lexer_.Next();
  TUNEC_ASSIGN(auto bodies, ParseBodies());
  auto values = builder_.AddControl(op, std::move(operands), std::move(bodies),
                                    std::move(attributes), node_name, where);
  if (!values) return std::unexpected(std::move(values).error());
  if (values->size() != names.size())
    return FailAt(where, ErrorCode::kParse, "{} has {} results, {} are named", Name(op),
                  values->size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) Define(names[i], (*values)[i], {});
  const Lexer end = lexer_;
  lexer_ = annotations;
  TUNEC_RETURN_IF_ERROR(ParseAnnotations(*values));
  if (!lexer_.Peek().starts_line && !lexer_.At("graph") && !lexer_.At("}"))
    return lexer_.Expected("the end of the line");
  lexer_ = end;
  return {};
}

Status GraphParser::ParseAnnotations(const std::vector<ValueId>& values) {
  if (!lexer_.TryTake(":")) return {};
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    const SourceLocation where = lexer_.Here();
    TUNEC_ASSIGN(TypedLayout typed, ParseType());
    const ValueType& inferred = builder_.TypeOf(values[i]);
    if (typed.type != inferred)
      return FailAt(where, ErrorCode::kParse, "value {} is stated as {} {}, but is {} {}",
                    builder_.graph().value(values[i]).name, Name(typed.type.type),
                    ShapeText(typed.type.dims), Name(inferred.type), ShapeText(inferred.dims));
    if (!typed.layout.IsRowMajor()) builder_.SetLayout(values[i], std::move(typed.layout));
  }
  return {};
}

Result<Op> GraphParser::ParseOperator() {
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("an operator"));
  const std::optional<Op> op = ParseOp(name);
  if (!op || *op == Op::kInput || *op == Op::kConstant)
    return FailAt(where, ErrorCode::kParse, "{}", NoOperator(name));
  return *op;
}

Result<std::vector<ValueId>> GraphParser::ParseOperands() {
  std::vector<ValueId> operands;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
  for (bool first = true; !lexer_.TryTake(")"); first = false) {
    if (!first) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    if (lexer_.TryTake("_")) {
      operands.emplace_back();
      continue;
    }
    TUNEC_ASSIGN(const ValueId value, ParseValue());
    operands.push_back(value);
  }
  return operands;
}

Result<Attributes> GraphParser::ParseAttributes() {
  if (!lexer_.TryTake("{") || lexer_.TryTake("}")) return Attributes();
  TUNEC_ASSIGN(Attributes attributes, ParseAttributeList());
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("}"));
  return attributes;
}

/// Parses one or more attributes, separated by commas.
Result<Attributes> GraphParser::ParseAttributeList() {
  Attributes attributes;
  do {
    const SourceLocation where = lexer_.Here();
    TUNEC_ASSIGN(std::string name, lexer_.ExpectIdentifier("an attribute's name"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
    TUNEC_ASSIGN(Attribute value, ParseAttribute());
    if (!attributes.emplace(name, std::move(value)).second)
      return FailAt(where, ErrorCode::kParse, "attribute {} is given twice", name);
  } while (lexer_.TryTake(","));
  return attributes;
}

/// Parses a number: an integer, a float or a size such as 2 * batch.
Result<Number> GraphParser::ParseNumber() {
  const size_t sign = lexer_.At("-") ? 1 : 0;
  if (lexer_.Peek().kind == TokenKind::kString || AtSize(sign)) {
    const SourceLocation where = lexer_.Here();
    TUNEC_ASSIGN(const ParsedSize parsed, ParseSizeExpr(lexer_));
    TUNEC_ASSIGN(const SizeExpr size, WithSizes(parsed, where));
    return size.IsConstant() ? Number(size.Value()) : Number(size);
  }
  if (lexer_.Peek(sign).kind == TokenKind::kInteger) {
    TUNEC_ASSIGN(const int64_t integer, lexer_.ExpectInteger("an integer"));
    return Number(integer);
  }
  TUNEC_ASSIGN(const double number, lexer_.ExpectNumber("a number, a string or a list"));
  return Number(number);
}

/// Parses a string, a number or a list of numbers. The numbers are integers if none is written as a
/// float. Infer converts integers to floats as needed.
Result<Attribute> GraphParser::ParseAttribute() {
  if (lexer_.Peek().kind == TokenKind::kString) return Attribute(lexer_.Next().value);
  const SourceLocation where = lexer_.Here();
  if (!lexer_.TryTake("[")) {
    TUNEC_ASSIGN(const Number number, ParseNumber());
    return std::visit([](const auto& value) { return Attribute(value); }, number);
  }
  std::vector<Number> numbers;
  while (!lexer_.TryTake("]")) {
    if (!numbers.empty()) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    TUNEC_ASSIGN(Number number, ParseNumber());
    numbers.push_back(std::move(number));
  }
  return ListOf(numbers, where);
}

Result<std::vector<std::shared_ptr<const Graph>>> GraphParser::ParseBodies() {
  std::vector<std::shared_ptr<const Graph>> bodies;
  while (lexer_.At("graph")) {
    TUNEC_ASSIGN(Graph body, GraphParser(lexer_, weights_, sizes_, depth_ + 1).Parse());
    bodies.push_back(std::make_shared<const Graph>(std::move(body)));
  }
  return bodies;
}

Result<TypedLayout> GraphParser::ParseType() {
  TypedLayout typed;
  dim_names_.clear();
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const std::string name, lexer_.ExpectIdentifier("a type such as f32"));
  const std::optional<DataType> type = ParseDataType(name);
  if (!type)
    return FailAt(where, ErrorCode::kParse, "{} is not a type, expected a type such as f32", name);
  typed.type.type = *type;
  TUNEC_RETURN_IF_ERROR(lexer_.Expect("["));
  while (!lexer_.TryTake("]")) {
    if (!typed.type.dims.empty()) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
    TUNEC_ASSIGN(Dim dim, ParseDim());
    typed.type.dims.push_back(std::move(dim));
  }
  if (lexer_.TryTake("layout")) {
    TUNEC_ASSIGN(typed.layout, ParseLayout(lexer_));
  }
  return typed;
}

/// Parses a dimension, and notes its name if it is a single name.
Result<Dim> GraphParser::ParseDim() {
  dim_names_.emplace_back();
  const TokenKind kind = lexer_.Peek().kind;
  const std::string_view after = lexer_.Peek(1).text;
  if (kind == TokenKind::kInteger && (after == "," || after == "]")) {
    TUNEC_ASSIGN(const int64_t size, lexer_.ExpectInteger("a size"));
    return FixedDim(size);
  }
  if (kind == TokenKind::kPunctuation && !lexer_.At("-") && !lexer_.At("("))
    return lexer_.Expected("a size or a dimension's name");
  const SourceLocation where = lexer_.Here();
  TUNEC_ASSIGN(const ParsedSize size, ParseSizeExpr(lexer_));
  dim_names_.back() = size.size.AsName().value_or("");
  return WithSizes(size, where);
}

/// Returns whether a size expression begins `ahead` tokens further: parentheses, a name, or an
/// integer before an arithmetic sign. The words inf and nan are names only before an arithmetic
/// sign.
bool GraphParser::AtSize(size_t ahead) const {
  const Token& first = lexer_.Peek(ahead);
  const std::string_view second = lexer_.Peek(ahead + 1).text;
  const bool goes_on =
      second == "+" || second == "-" || second == "*" || second == "/" || second == "mod";
  if (first.kind == TokenKind::kInteger) return goes_on;
  const bool is_float = first.text == "inf" || first.text == "nan";
  return first.text == "(" || (first.kind == TokenKind::kIdentifier && (goes_on || !is_float));
}

/// Returns the expression with numbers for the names that have a size.
Result<SizeExpr> GraphParser::WithSizes(const ParsedSize& parsed, const SourceLocation& where) {
  std::map<std::string, SizeExpr> values;
  for (const std::string& name : parsed.names)
    if (const std::optional<int64_t> value = sizes_.Take(name)) values.emplace(name, *value);
  SizeExpr size = Substitute(parsed.size, values);
  if (size.IsKnown()) return size;
  return FailAt(where, ErrorCode::kParse, "size {} is divided by 0 or beyond 2^60",
                Print(parsed.size));
}

void GraphParser::NoteNamedAxes(const ValueType& type) {
  const auto input = static_cast<int>(builder_.graph().inputs().size()) - 1;
  for (size_t a = 0; a < type.dims.size(); ++a) {
    if (sizes_.Has(dim_names_[a]))
      named_axes_.push_back({input, static_cast<int>(a), dim_names_[a]});
  }
}

}  // namespace

Result<Graph> ParseGraph(std::string_view text, std::string_view file_name,
                         const WeightSource& weights, const GraphSizes& sizes) {
  TUNEC_RETURN_IF_ERROR(RequireSizes(sizes));
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, file_name));
  NamedSizes named(sizes);
  TUNEC_ASSIGN(Graph graph, GraphParser(lexer, weights, named, 0).Parse());
  if (!lexer.IsAtEnd()) return lexer.Expected("the end of the file");
  TUNEC_RETURN_IF_ERROR(named.AllWereMet(file_name));
  return graph;
}

namespace {

/// Parses a whole text with `parse`, which receives a parser at the beginning of the text.
template <class Parse>
auto ParsePart(std::string_view text, std::string_view what, Parse parse)
    -> decltype(parse(std::declval<GraphParser&>())) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, what));
  const GraphSizes no_sizes;
  NamedSizes named(no_sizes);
  GraphParser parser(lexer, NoWeights(), named, 0);
  auto parsed = parse(parser);
  if (parsed && !lexer.IsAtEnd()) return lexer.Expected("the end of the text");
  return parsed;
}

}  // namespace

Result<ValueType> ParseValueType(std::string_view text) {
  return ParsePart(text, "<type>", [](GraphParser& parser) -> Result<ValueType> {
    TUNEC_ASSIGN(TypedLayout typed, parser.ParseType());
    if (typed.layout.IsRowMajor()) return std::move(typed.type);
    return Fail(ErrorCode::kUnsupported, "a type has a layout, expected no layout");
  });
}

Result<Attributes> ParseAttributes(std::string_view text) {
  if (text.find_first_not_of(" \t\n") == std::string_view::npos) return Attributes();
  return ParsePart(text, "<attributes>",
                   [](GraphParser& parser) { return parser.ParseAttributeList(); });
}

Result<Array> ParseElements(std::string_view text, const ValueType& type) {
  return ParsePart(text, "<elements>",
                   [&](GraphParser& parser) { return parser.ParseElements(type); });
}

Result<std::vector<NamedAxis>> NamedAxes(std::string_view text, std::string_view file_name,
                                         const WeightSource& weights, const GraphSizes& sizes) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, file_name));
  NamedSizes named(sizes);
  GraphParser parser(lexer, weights, named, 0);
  TUNEC_RETURN_IF_ERROR(parser.Parse());
  return parser.named_axes();
}

}  // namespace tunec
