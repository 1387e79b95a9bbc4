// Functions that print and parse a PadCase. Regression tests store their cases in this text form.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "graph/open_dimensions.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "tests/fuzz/pad/check_pad.h"

namespace tunec::fuzz {
namespace {

// Reads a number at the beginning of the text, and removes it and the character behind it.
int64_t TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(std::min<size_t>(static_cast<size_t>(end - text.data()) + 1, text.size()));
  return number;
}

// Reads one word `key=value` of the first two lines. The other keys are names of sizes.
void ReadSetting(const std::string& key, std::string_view value, PadCase& padded) {
  if (key == "values") {
    padded.model.values = value == "special" ? Values::kSpecial : Values::kOrdinary;
  } else if (key == "seed") {
    padded.seed = static_cast<uint64_t>(TakeNumber(value));
  } else if (key == "code") {
    padded.code = TakeNumber(value) != 0;
  } else {
    for (const SizeSet set : kSizeSets) padded.model.sizes[set][key] = TakeNumber(value);
  }
}

}  // namespace

std::string Print(const PadCase& padded) {
  const SizedModel& model = padded.model;
  std::string text = fmt::format("# pad values={} seed={} code={}\n# sizes",
                                 model.values == Values::kOrdinary ? "ordinary" : "special",
                                 padded.seed, padded.code ? 1 : 0);
  for (const auto& [name, exact] : model.sizes[kExact])
    text += fmt::format(" {}={},{},{}", name, exact, model.sizes[kBucket].at(name),
                        model.sizes[kOther].at(name));
  return text + "\n" + Print(model.named);
}

Result<PadCase> ParsePadCase(const std::string& text) {
  PadCase padded;
  std::istringstream lines(text);
  std::string line;
  for (int number = 0; number < 2 && std::getline(lines, line); ++number) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) continue;
      ReadSetting(word.substr(0, equals), std::string_view(word).substr(equals + 1), padded);
    }
  }
  TUNEC_ASSIGN(padded.model.named, ParseGraph(text, "case", NoWeights()));
  for (const SizeSet set : kSizeSets) {
    TUNEC_ASSIGN(const Graph fixed, Specialize(padded.model.named, padded.model.sizes[set]));
    TUNEC_RETURN_IF_ERROR(RequireFixedSizes(fixed));
  }
  return padded;
}

}  // namespace tunec::fuzz
