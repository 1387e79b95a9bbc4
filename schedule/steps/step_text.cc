// Three visitors of Fields: one prints a step, one parses it, and one describes it for the manual.
// A step with an argument of a new type does not compile until Printer and Parser support the type.
#include "schedule/steps/step_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <type_traits>
#include <utility>

#include "ir/nest/loop_nest_names.h"
#include "support/suggest.h"

namespace tunec {
namespace {

// Limit of int arguments such as dimensions and unroll factors, far above every useful value.
constexpr int64_t kLargestSmall = 1 << 20;

constexpr std::string_view kInner = "inner";
constexpr std::string_view kOuter = "outer";

// ---- Printing

class Printer {
 public:
  explicit Printer(std::string_view name) : text_(name) {}

  template <class Value>
  void operator()(const StepArgument& argument, const Value& value) {
    if (argument.may_lack && value == Value{}) return;
    if (!argument.after.empty()) Put(argument.after);
    Put(value);
  }
  std::string Take() { return std::move(text_); }

 private:
  void Put(std::string_view word) { text_.append(" ").append(word); }
  void Put(int64_t number) { Put(std::to_string(number)); }
  void Put(Scope scope) { Put(Name(scope)); }
  void Put(LoopKind kind) { Put(Name(kind)); }
  void Put(ReduceSplitStep::Parallel parallel) {
    Put(parallel == ReduceSplitStep::Parallel::kInner ? kInner : kOuter);
  }
  void Put(const PackStep::Axis& axis) {
    std::string word = std::to_string(axis.dimension);
    if (axis.part == PackStep::Part::kQuotient) word += fmt::format("/{}", axis.factor);
    if (axis.part == PackStep::Part::kRemainder) word += fmt::format("%{}", axis.factor);
    if (axis.part == PackStep::Part::kMiddle) word += fmt::format("%{}/{}", axis.of, axis.factor);
    Put(word);
  }
  void Put(const IteratorFactor& pair) { IteratorFactor::Fields(pair, *this); }
  template <class Value>
  void Put(const std::vector<Value>& values) {
    for (const Value& value : values) Put(value);
  }

  std::string text_;
};

// ---- Parsing

// A visitor of Fields that parses the arguments from the words. It stores the first error and skips
// the rest.
class Parser {
 public:
  explicit Parser(WordReader& words) : words_(words) {}

  template <class Value>
  void operator()(const StepArgument& argument, Value& value) {
    if (!status_ || (argument.may_lack && words_.IsAtEnd())) return;
    status_ = TakeAfter(argument);
    if (status_) status_ = Get(argument, value);
  }
  Status Finish() const { return status_; }

 private:
  Status TakeAfter(const StepArgument& argument) {
    if (argument.after.empty()) return {};
    const std::string expected = fmt::format("'{}' and {}", argument.after, argument.expected);
    TUNEC_ASSIGN(const std::string word, words_.Take(expected));
    if (word == argument.after) return {};
    return words_.Unexpected(expected, word);
  }

  Result<int64_t> Number(std::string_view word, std::string_view expected) const {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc() && end == word.data() + word.size();
    if (whole && value >= 0 && value <= StepArgument{}.most) return value;
    return words_.Unexpected(expected, word);
  }

  Status Get(const StepArgument& argument, std::string& value) {
    TUNEC_ASSIGN(value, words_.Take(argument.expected));
    return {};
  }
  Status Get(const StepArgument& argument, int64_t& value) {
    TUNEC_ASSIGN(const std::string word, words_.Take(argument.expected));
    TUNEC_ASSIGN(value, Number(word, argument.expected));
    if (value >= argument.least && value <= argument.most) return {};
    return words_.Unexpected(
        fmt::format("{} from {} to {}", argument.expected, argument.least, argument.most), word);
  }
  Status Get(const StepArgument& argument, int& value) {
    int64_t number = 0;
    TUNEC_RETURN_IF_ERROR(Get(argument, number));
    if (number > kLargestSmall) {
      return words_.Unexpected(argument.expected, std::to_string(number));
    }
    value = static_cast<int>(number);
    return {};
  }
  Status Get(const StepArgument& argument, Scope& value) {
    TUNEC_ASSIGN(const std::string word, words_.Take(argument.expected));
    const auto found = FindWord<Scope>(kScopeNames, word);
    if (!found) return words_.Unexpected(argument.expected, word);
    value = *found;
    return {};
  }
  Status Get(const StepArgument& argument, LoopKind& value) {
    TUNEC_ASSIGN(const std::string word, words_.Take(argument.expected));
    const auto found = FindWord<LoopKind>(kLoopKindNames, word);
    if (!found || !(IsGrid(*found) || IsBlock(*found))) {
      return words_.Unexpected(argument.expected, word);
    }
    value = *found;
    return {};
  }
  Status Get(const StepArgument& argument, ReduceSplitStep::Parallel& value) {
    TUNEC_ASSIGN(const std::string word, words_.Take(argument.expected));
    if (word != kInner && word != kOuter) return words_.Unexpected(argument.expected, word);
    value = word == kInner ? ReduceSplitStep::Parallel::kInner : ReduceSplitStep::Parallel::kOuter;
    return {};
  }
  Status Get(const StepArgument& argument, PackStep::Axis& axis) {
    TUNEC_ASSIGN(const std::string word, words_.Take(argument.expected));
    const std::string_view text = word;
    const size_t mark = text.find_first_of("/%");
    const size_t second = text.find('/', mark == std::string::npos ? mark : mark + 1);
    TUNEC_ASSIGN(const int64_t dimension, Number(text.substr(0, mark), "a dimension"));
    if (dimension > kLargestSmall) return words_.Unexpected("a dimension", word);
    axis.dimension = static_cast<int>(dimension);
    if (mark == std::string::npos) return {};
    axis.part = text[mark] == '/' ? PackStep::Part::kQuotient : PackStep::Part::kRemainder;
    const size_t end = std::min(second, text.size());
    TUNEC_ASSIGN(axis.factor, Number(text.substr(mark + 1, end - mark - 1), "a factor"));
    if (axis.part == PackStep::Part::kRemainder && end < text.size()) {
      axis.part = PackStep::Part::kMiddle;
      axis.of = axis.factor;
      TUNEC_ASSIGN(axis.factor, Number(text.substr(end + 1), "a factor"));
      if (axis.of < 1) return words_.Unexpected("a positive factor", word);
    } else if (end < text.size()) {
      return words_.Unexpected("an axis", word);
    }
    if (axis.factor >= 1) return {};
    return words_.Unexpected("a positive factor", word);
  }
  Status Get(const StepArgument&, IteratorFactor& pair) {
    IteratorFactor::Fields(pair, *this);
    return status_;
  }
  // Reads values to the end of the line.
  template <class Value>
  Status Get(const StepArgument& argument, std::vector<Value>& values) {
    do {
      Value value{};
      TUNEC_RETURN_IF_ERROR(Get(argument, value));
      values.push_back(std::move(value));
    } while (!words_.IsAtEnd());
    return {};
  }

  WordReader& words_;
  Status status_;
};

template <class Variant>
using ParserOf = Result<Variant> (*)(WordReader&);

template <class Variant, ScheduleStep S>
Result<Variant> ParseArguments(WordReader& words) {
  S step;
  Parser parser(words);
  S::Fields(step, parser);
  TUNEC_RETURN_IF_ERROR(parser.Finish());
  return step;
}

template <class Variant, class... Steps>
const auto& Parsers(std::type_identity<std::variant<Steps...>>) {
  // Never destroyed: tuning in the background may use it during the end of the process.
  static const auto& parsers = *new std::map<std::string_view, ParserOf<Variant>>{
      {Steps::kName, ParseArguments<Variant, Steps>}...};
  return parsers;
}

const auto& ComputeParsers() {
  return Parsers<ComputeStep>(std::type_identity<ComputeStepVariant>());
}
const auto& LoopParsers() { return Parsers<LoopStep>(std::type_identity<LoopStepVariant>()); }

Error UnknownStep(const WordReader& words, const std::string& name) {
  std::vector<std::string_view> known;
  for (const auto& [step, parser] : ComputeParsers()) known.push_back(step);
  for (const auto& [step, parser] : LoopParsers()) known.push_back(step);
  std::ranges::sort(known);
  return FailAt(words.where(), ErrorCode::kParse, "{} is not a step{}", name,
                DidYouMean(name, known))
      .error();
}

// ---- The manual

class Describer {
 public:
  explicit Describer(std::string_view name) : text_(name) {}

  template <class Value>
  void operator()(const StepArgument& argument, const Value&) {
    std::string form(argument.name);
    if (!argument.after.empty()) form = fmt::format("{} {}", argument.after, form);
    if (argument.may_lack) form = fmt::format("[{}]", form);
    if constexpr (requires { typename Value::value_type; } && !std::is_same_v<Value, std::string>) {
      form += "...";
    }
    text_.append(" ").append(form);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

template <ScheduleStep S>
std::string FormOf() {
  S step;
  Describer describer(S::kName);
  S::Fields(step, describer);
  return describer.Take();
}

template <class... Steps>
std::vector<std::string> FormsOf(std::type_identity<std::variant<Steps...>>) {
  return {FormOf<Steps>()...};
}

template <class Variant>
std::string PrintStep(const Variant& step) {
  return std::visit(
      []<ScheduleStep S>(const S& of_kind) {
        Printer printer(S::kName);
        S::Fields(of_kind, printer);
        return printer.Take();
      },
      step);
}

}  // namespace

std::string Print(const ComputeStep& step) { return PrintStep(step); }
std::string Print(const LoopStep& step) { return PrintStep(step); }

Result<AnyStep> ParseStep(WordReader& words) {
  TUNEC_ASSIGN(const std::string name, words.Take("a step"));
  AnyStep step;
  if (const auto compute = ComputeParsers().find(name); compute != ComputeParsers().end()) {
    TUNEC_ASSIGN(step, compute->second(words));
  } else if (const auto loop = LoopParsers().find(name); loop != LoopParsers().end()) {
    TUNEC_ASSIGN(step, loop->second(words));
  } else {
    return std::unexpected(UnknownStep(words, name));
  }
  if (words.IsAtEnd()) return step;
  TUNEC_ASSIGN(const std::string extra, words.Take(""));
  return words.Unexpected("the end of the line", extra);
}

std::vector<std::string> ComputeStepForms() {
  return FormsOf(std::type_identity<ComputeStepVariant>());
}
std::vector<std::string> LoopStepForms() { return FormsOf(std::type_identity<LoopStepVariant>()); }

}  // namespace tunec
