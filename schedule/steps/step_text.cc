#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>

#include "ir/loop_nest_names.h"
#include "schedule/steps/step.h"
#include "support/suggest.h"

namespace tunec {
namespace {

// Dimensions and unroll factors are int; nothing sensible comes near this.
constexpr int64_t kLargestSmall = 1 << 20;
// Of texts that name no lowering. Every group has it.
constexpr std::string_view kUsualLowering = "direct";

struct StepPrinter {
  std::string operator()(const PackStep& step) const {
    std::string axes;
    for (const PackStep::Axis& axis : step.axes) {
      if (!axes.empty()) axes += " ";
      axes += fmt::format("{}", axis.dimension);
      if (axis.part == PackStep::Part::kQuotient) axes += fmt::format("/{}", axis.factor);
      if (axis.part == PackStep::Part::kRemainder) axes += fmt::format("%{}", axis.factor);
    }
    return fmt::format("pack {} {}", step.tensor, axes);
  }
  std::string operator()(const ReduceSplitStep& step) const {
    return fmt::format("reduce_split {} {} {} {}", step.statement, step.iterator, step.factor,
                       step.keep == ReduceSplitStep::Keep::kInner ? "inner" : "outer");
  }
  std::string operator()(const CopyStep& step) const {
    std::string text = fmt::format("copy {} {}", step.tensor, step.statement);
    for (const CopyStep::Group& group : step.groups) {
      text += fmt::format(" {} {}", group.iterator, group.factor);
    }
    return text;
  }
  std::string operator()(const CacheWriteStep& step) const {
    return "cache_write " + step.statement;
  }
  std::string operator()(const IndexSplitStep& step) const {
    return fmt::format("index_split {} {} {}", step.statement, step.iterator,
                       fmt::join(step.points, " "));
  }
  std::string operator()(const PipelineStep& step) const {
    return fmt::format("pipeline {} {}", step.loop, step.stages);
  }
  std::string operator()(const InlineStep& step) const { return "inline " + step.statement; }
  std::string operator()(const PrecisionStep& step) const {
    return fmt::format("precision {} bf16 {}", step.statement, step.terms);
  }
  std::string operator()(const WidenStep& step) const {
    return fmt::format("widen {} {}", step.tensor, step.statement);
  }
  std::string operator()(const SplitStep& step) const {
    return fmt::format("split {} {}", step.loop, fmt::join(step.factors, " "));
  }
  std::string operator()(const ReorderStep& step) const {
    return fmt::format("reorder {}", fmt::join(step.loops, " "));
  }
  std::string operator()(const FuseStep& step) const {
    return fmt::format("fuse {} {} as {}", step.outer, step.inner, step.name);
  }
  std::string operator()(const IsolateStep& step) const { return "isolate " + step.loop; }
  std::string operator()(const UnrollStep& step) const {
    return step.factor == 0 ? "unroll " + step.loop
                            : fmt::format("unroll {} {}", step.loop, step.factor);
  }
  std::string operator()(const VectorizeStep& step) const { return "vectorize " + step.loop; }
  std::string operator()(const ParallelizeStep& step) const { return "parallelize " + step.loop; }
  std::string operator()(const ComputeAtStep& step) const {
    return fmt::format("compute_at {} {}", step.statement, step.loop);
  }
  std::string operator()(const StageStep& step) const {
    return fmt::format("stage {} {} {}{}{}", step.tensor, Name(step.scope), step.loop,
                       step.order.empty() ? "" : " ", fmt::join(step.order, " "));
  }
  std::string operator()(const NonTemporalStep& step) const {
    return "non_temporal " + step.statement;
  }
  std::string operator()(const SkewStep& step) const {
    return fmt::format("skew {} {} {} as {}", step.loop, step.by, step.factor, step.name);
  }
  std::string operator()(const PeelStep& step) const {
    return fmt::format("peel {} {}", step.loop, fmt::join(step.points, " "));
  }
  std::string operator()(const DistributeStep& step) const { return "distribute " + step.loop; }
  std::string operator()(const UnrollJamStep& step) const {
    return fmt::format("unroll_jam {} {}", step.loop, step.factor);
  }
  std::string operator()(const SwizzleStep& step) const {
    return fmt::format("swizzle {} {} {}", step.outer, step.inner, step.factor);
  }
  std::string operator()(const WavefrontStep& step) const { return "wavefront " + step.loop; }
  std::string operator()(const PrefetchStep& step) const {
    return fmt::format("prefetch {} {} {}", step.tensor, step.loop, step.distance);
  }
  std::string operator()(const TensorizeStep& step) const {
    return fmt::format("tensorize {} {}", step.loop, step.intrinsic);
  }
  std::string operator()(const ReverseComputeAtStep& step) const {
    return fmt::format("reverse_compute_at {} {}", step.statement, step.loop);
  }
  std::string operator()(const BindStep& step) const {
    return fmt::format("bind {} {}", step.loop, Name(step.kind));
  }
};

// The words of one line, with what the parsers below expect of them.
class Words {
 public:
  Words(std::string_view line, SourceLocation where) : where_(std::move(where)) {
    constexpr std::string_view kBlank = " \t\r\f\v";
    for (size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;) {
      const size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
      words_.push_back({std::string(line.substr(begin, end - begin)), static_cast<int>(begin) + 1});
      end_column_ = static_cast<int>(end) + 1;
      begin = line.find_first_not_of(kBlank, end);
    }
  }
  bool AtEnd() const { return next_ == words_.size(); }
  bool TryTake(std::string_view word) {
    if (AtEnd() || words_[next_].text != word) return false;
    where_.column = words_[next_++].column;
    return true;
  }
  Result<std::string> Word(std::string_view what) {
    where_.column = AtEnd() ? end_column_ : words_[next_].column;
    if (AtEnd())
      return FailAt(where_, ErrorCode::kParse, "expected {} at the end of the line", what);
    return words_[next_++].text;
  }
  Result<int64_t> Number(std::string_view what) {
    TUNEC_ASSIGN(const std::string word, Word(what));
    return ParseNumber(word, what);
  }
  Result<int64_t> ParseNumber(std::string_view word, std::string_view what) const {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 ||
        value > (int64_t{1} << 40)) {
      return FailAt(where_, ErrorCode::kParse, "expected {}, found '{}'", what, word);
    }
    return value;
  }
  std::unexpected<Error> Unexpected(std::string_view wanted, std::string_view found) const {
    return FailAt(where_, ErrorCode::kParse, "expected {}, found '{}'", wanted, found);
  }
  /// The word taken last.
  const SourceLocation& where() const { return where_; }

 private:
  struct Placed {
    std::string text;
    int column = 1;
  };
  std::vector<Placed> words_;
  size_t next_ = 0;
  int end_column_ = 1;
  SourceLocation where_;
};

Result<ScheduleStep> ParsePack(Words& words) {
  PackStep step;
  TUNEC_ASSIGN(step.tensor, words.Word("a tensor"));
  while (!words.AtEnd()) {
    TUNEC_ASSIGN(const std::string word, words.Word("an axis"));
    const size_t mark = word.find_first_of("/%");
    PackStep::Axis axis;
    TUNEC_ASSIGN(const int64_t dimension,
                 words.ParseNumber(std::string_view(word).substr(0, mark), "a dimension"));
    if (dimension > kLargestSmall) return words.Unexpected("a dimension", word);
    axis.dimension = static_cast<int>(dimension);
    if (mark != std::string::npos) {
      axis.part = word[mark] == '/' ? PackStep::Part::kQuotient : PackStep::Part::kRemainder;
      TUNEC_ASSIGN(axis.factor,
                   words.ParseNumber(std::string_view(word).substr(mark + 1), "a factor"));
      if (axis.factor < 1) return words.Unexpected("a positive factor", word);
    }
    step.axes.push_back(axis);
  }
  return step;
}

Result<ScheduleStep> ParseReduceSplit(Words& words) {
  ReduceSplitStep step;
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  TUNEC_ASSIGN(step.iterator, words.Word("an iterator"));
  TUNEC_ASSIGN(step.factor, words.Number("a factor"));
  TUNEC_ASSIGN(const std::string keep, words.Word("inner or outer"));
  if (keep != "inner" && keep != "outer") return words.Unexpected("inner or outer", keep);
  step.keep = keep == "inner" ? ReduceSplitStep::Keep::kInner : ReduceSplitStep::Keep::kOuter;
  return step;
}

Result<ScheduleStep> ParsePrecision(Words& words) {
  PrecisionStep step;
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  TUNEC_ASSIGN(const std::string type, words.Word("bf16"));
  if (type != "bf16") return words.Unexpected("bf16", type);
  TUNEC_ASSIGN(const int64_t terms, words.Number("a number of terms"));
  if (terms < 1 || terms > 3) return words.Unexpected("1 to 3 terms", std::to_string(terms));
  step.terms = static_cast<int>(terms);
  return step;
}

Result<ScheduleStep> ParseWiden(Words& words) {
  WidenStep step;
  TUNEC_ASSIGN(step.tensor, words.Word("a tensor"));
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  return step;
}

Result<std::vector<int64_t>> ParseNumbers(Words& words, std::string_view what) {
  std::vector<int64_t> numbers;
  do {
    TUNEC_ASSIGN(const int64_t number, words.Number(what));
    numbers.push_back(number);
  } while (!words.AtEnd());
  return numbers;
}

Result<ScheduleStep> ParseSplit(Words& words) {
  SplitStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.factors, ParseNumbers(words, "a factor"));
  return step;
}

Result<ScheduleStep> ParsePeel(Words& words) {
  PeelStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.points, ParseNumbers(words, "an iteration"));
  return step;
}

Result<ScheduleStep> ParseReorder(Words& words) {
  ReorderStep step;
  do {
    TUNEC_ASSIGN(std::string loop, words.Word("a loop"));
    step.loops.push_back(std::move(loop));
  } while (!words.AtEnd());
  return step;
}

Result<std::string> ParseNewName(Words& words) {
  TUNEC_ASSIGN(const std::string as, words.Word("'as' and a name"));
  if (as != "as") return words.Unexpected("'as' and a name", as);
  return words.Word("a name");
}

Result<ScheduleStep> ParseFuse(Words& words) {
  FuseStep step;
  TUNEC_ASSIGN(step.outer, words.Word("a loop"));
  TUNEC_ASSIGN(step.inner, words.Word("a loop"));
  TUNEC_ASSIGN(step.name, ParseNewName(words));
  return step;
}

Result<ScheduleStep> ParseSkew(Words& words) {
  SkewStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.by, words.Word("a loop"));
  TUNEC_ASSIGN(step.factor, words.Number("a factor"));
  TUNEC_ASSIGN(step.name, ParseNewName(words));
  return step;
}

Result<ScheduleStep> ParseUnrollJam(Words& words) {
  UnrollJamStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.factor, words.Number("a factor"));
  return step;
}

Result<ScheduleStep> ParseSwizzle(Words& words) {
  SwizzleStep step;
  TUNEC_ASSIGN(step.outer, words.Word("a loop"));
  TUNEC_ASSIGN(step.inner, words.Word("a loop"));
  TUNEC_ASSIGN(step.factor, words.Number("a factor"));
  return step;
}

Result<ScheduleStep> ParsePrefetch(Words& words) {
  PrefetchStep step;
  TUNEC_ASSIGN(step.tensor, words.Word("a tensor"));
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.distance, words.Number("a number of iterations"));
  return step;
}

Result<ScheduleStep> ParseUnroll(Words& words) {
  UnrollStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  if (!words.AtEnd()) {
    TUNEC_ASSIGN(const int64_t factor, words.Number("a factor"));
    if (factor > kLargestSmall) return words.Unexpected("a factor", std::to_string(factor));
    step.factor = static_cast<int>(factor);
  }
  return step;
}

Result<ScheduleStep> ParseStage(Words& words) {
  StageStep step;
  TUNEC_ASSIGN(step.tensor, words.Word("a tensor"));
  TUNEC_ASSIGN(const std::string scope, words.Word("a scope"));
  const auto found = FindWord<Scope>(kScopeNames, scope);
  if (!found) return words.Unexpected("a scope", scope);
  step.scope = *found;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  if (!words.AtEnd()) {
    TUNEC_ASSIGN(step.order, ParseNumbers(words, "a dimension"));
  }
  return step;
}

Result<ScheduleStep> ParseCopy(Words& words) {
  CopyStep step;
  TUNEC_ASSIGN(step.tensor, words.Word("a tensor"));
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  while (!words.AtEnd()) {
    CopyStep::Group group;
    TUNEC_ASSIGN(group.iterator, words.Word("an iterator"));
    TUNEC_ASSIGN(group.factor, words.Number("a factor"));
    step.groups.push_back(std::move(group));
  }
  return step;
}

Result<ScheduleStep> ParseIndexSplit(Words& words) {
  IndexSplitStep step;
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  TUNEC_ASSIGN(step.iterator, words.Word("an iterator"));
  TUNEC_ASSIGN(step.points, ParseNumbers(words, "a value"));
  return step;
}

Result<ScheduleStep> ParsePipeline(Words& words) {
  PipelineStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(const int64_t stages, words.Number("a number of stages"));
  if (stages > kLargestSmall) {
    return words.Unexpected("a number of stages", std::to_string(stages));
  }
  step.stages = static_cast<int>(stages);
  return step;
}

Result<ScheduleStep> ParseBind(Words& words) {
  BindStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(const std::string kind, words.Word("grid.x to block.z"));
  const auto found = FindWord<LoopKind>(kLoopKindNames, kind);
  if (!found || !(IsGrid(*found) || IsBlock(*found))) {
    return words.Unexpected("grid.x to block.z", kind);
  }
  step.kind = *found;
  return step;
}

// compute_at and its reverse.
template <class T>
Result<ScheduleStep> ParseMove(Words& words) {
  T step;
  TUNEC_ASSIGN(step.statement, words.Word("a statement"));
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  return step;
}

Result<ScheduleStep> ParseTensorize(Words& words) {
  TensorizeStep step;
  TUNEC_ASSIGN(step.loop, words.Word("a loop"));
  TUNEC_ASSIGN(step.intrinsic, words.Word("an intrinsic"));
  return step;
}

// A step with one name.
template <class T, std::string T::*kMember>
Result<ScheduleStep> ParseOneName(Words& words) {
  T step;
  TUNEC_ASSIGN(step.*kMember, words.Word("a name"));
  return step;
}

using StepParser = Result<ScheduleStep> (*)(Words&);
const std::map<std::string_view, StepParser>& StepParsers() {
  static const std::map<std::string_view, StepParser> parsers = {
      {"pack", ParsePack},
      {"reduce_split", ParseReduceSplit},
      {"inline", ParseOneName<InlineStep, &InlineStep::statement>},
      {"precision", ParsePrecision},
      {"widen", ParseWiden},
      {"split", ParseSplit},
      {"reorder", ParseReorder},
      {"fuse", ParseFuse},
      {"isolate", ParseOneName<IsolateStep, &IsolateStep::loop>},
      {"unroll", ParseUnroll},
      {"vectorize", ParseOneName<VectorizeStep, &VectorizeStep::loop>},
      {"parallelize", ParseOneName<ParallelizeStep, &ParallelizeStep::loop>},
      {"compute_at", ParseMove<ComputeAtStep>},
      {"reverse_compute_at", ParseMove<ReverseComputeAtStep>},
      {"stage", ParseStage},
      {"skew", ParseSkew},
      {"peel", ParsePeel},
      {"distribute", ParseOneName<DistributeStep, &DistributeStep::loop>},
      {"unroll_jam", ParseUnrollJam},
      {"swizzle", ParseSwizzle},
      {"wavefront", ParseOneName<WavefrontStep, &WavefrontStep::loop>},
      {"prefetch", ParsePrefetch},
      {"tensorize", ParseTensorize},
      {"bind", ParseBind},
      {"copy", ParseCopy},
      {"cache_write", ParseOneName<CacheWriteStep, &CacheWriteStep::statement>},
      {"index_split", ParseIndexSplit},
      {"pipeline", ParsePipeline},
      {"non_temporal", ParseOneName<NonTemporalStep, &NonTemporalStep::statement>},
  };
  return parsers;
}

Result<ScheduleStep> ParseStep(Words& words) {
  TUNEC_ASSIGN(const std::string name, words.Word("a step"));
  const auto found = StepParsers().find(name);
  if (found == StepParsers().end()) {
    std::vector<std::string_view> known;
    for (const auto& [step, parser] : StepParsers()) known.push_back(step);
    return FailAt(words.where(), ErrorCode::kParse, "{} is no step{}", name,
                  DidYouMean(name, known));
  }
  TUNEC_ASSIGN(ScheduleStep step, found->second(words));
  if (!words.AtEnd()) {
    TUNEC_ASSIGN(const std::string extra, words.Word(""));
    return words.Unexpected("the end of the line", extra);
  }
  return step;
}

}  // namespace

bool IsComputeStep(const ScheduleStep& step) {
  return std::holds_alternative<PackStep>(step) || std::holds_alternative<ReduceSplitStep>(step) ||
         std::holds_alternative<InlineStep>(step) || std::holds_alternative<PrecisionStep>(step) ||
         std::holds_alternative<CopyStep>(step) || std::holds_alternative<IndexSplitStep>(step) ||
         std::holds_alternative<CacheWriteStep>(step) || std::holds_alternative<WidenStep>(step);
}

std::string Print(const ScheduleStep& step) { return std::visit(StepPrinter{}, step); }

std::string Print(const Schedule& schedule) {
  std::string text = fmt::format("lower {}\n", schedule.lowering);
  for (const ScheduleStep& step : schedule.steps) text += Print(step) + "\n";
  return text;
}

Result<Schedule> ParseSchedule(std::string_view text, std::string_view file_name) {
  Schedule schedule;
  std::istringstream stream{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (const size_t comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    Words words(line, {std::string(file_name), number, 1});
    if (words.AtEnd()) continue;
    if (schedule.lowering.empty()) {
      if (words.TryTake("lower")) {
        TUNEC_ASSIGN(schedule.lowering, words.Word("the name of a lowering"));
        continue;
      }
      schedule.lowering = kUsualLowering;
    } else if (words.TryTake("lower")) {
      return FailAt(words.where(), ErrorCode::kParse, "expected 'lower' once, before the steps");
    }
    TUNEC_ASSIGN(ScheduleStep step, ParseStep(words));
    if (IsComputeStep(step) && !schedule.steps.empty() && !IsComputeStep(schedule.steps.back())) {
      return FailAt({std::string(file_name), number, 1}, ErrorCode::kParse,
                    "'{}' rewrites statements and must come before the loop steps", Print(step));
    }
    schedule.steps.push_back(std::move(step));
  }
  if (schedule.lowering.empty()) schedule.lowering = kUsualLowering;
  return schedule;
}

}  // namespace tunec
