// Functions that print and parse a PadCase. Regression tests store their cases in this text form.
#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "graph/text/graph_text.h"
#include "tests/fuzz/pad/check_pad.h"

namespace tunec::fuzz {
namespace {

constexpr std::string_view kNext = "# next sizes\n";

}  // namespace

std::string Print(const PadCase& padded) {
  std::string text = fmt::format("# pad values={} seed={} code={}\n",
                                 padded.model.values == Values::kOrdinary ? "ordinary" : "special",
                                 padded.seed, padded.code ? 1 : 0);
  for (const SizeSet set : kSizeSets) {
    if (set != kExact) text += kNext;
    text += Print(padded.model.graphs[set]);
  }
  return text;
}

Result<PadCase> ParsePadCase(const std::string& text) {
  PadCase padded;
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (key == "values" && value == "special") padded.model.values = Values::kSpecial;
    if (key == "seed") padded.seed = number;
    if (key == "code") padded.code = number != 0;
  }
  size_t begin = 0;
  for (const SizeSet set : kSizeSets) {
    const size_t end = set == kOther ? text.size() : text.find(kNext, begin);
    if (end == std::string::npos) return Fail(ErrorCode::kParse, "a case has three graphs");
    TUNEC_ASSIGN(padded.model.graphs[set],
                 ParseGraph(text.substr(begin, end - begin), "case", NoWeights()));
    begin = end + kNext.size();
  }
  return padded;
}

}  // namespace tunec::fuzz
