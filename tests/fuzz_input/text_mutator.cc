// A mutator of texts for libFuzzer. It mostly changes words, numbers, lines and brackets, because
// most changes of single bytes would only make a word unknown.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Generator = std::minstd_rand;

size_t Below(Generator& random, size_t bound) { return random() % bound; }

struct Piece {
  size_t begin = 0;
  size_t size = 0;
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Returns the positions of the words and numbers.
std::vector<Piece> WordsOf(const std::string& text) {
  std::vector<Piece> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && IsWord(text[end])) ++end;
    if (end > i) words.push_back({i, end - i});
    i = std::max(end, i + 1);
  }
  return words;
}

std::vector<Piece> LinesOf(const std::string& text) {
  std::vector<Piece> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back({begin, end + 1 - begin});
    begin = end + 1;
  }
  return lines;
}

std::string At(const std::string& text, Piece piece) {
  return text.substr(piece.begin, piece.size);
}

void ReplaceNumber(std::string& text, Generator& random) {
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "2",
                                             "3",
                                             "7",
                                             "8",
                                             "16",
                                             "64",
                                             "1000",
                                             "-1",
                                             "1.5",
                                             "inf",
                                             "nan",
                                             "2147483648",
                                             "99999999999",
                                             "9223372036854775807",
                                             "-9223372036854775808"};
  std::vector<Piece> numbers = WordsOf(text);
  std::erase_if(numbers, [&](Piece word) {
    return std::isdigit(static_cast<unsigned char>(text[word.begin])) == 0;
  });
  if (numbers.empty()) return;
  const Piece number = numbers[Below(random, numbers.size())];
  text.replace(number.begin, number.size, kNumbers[Below(random, std::size(kNumbers))]);
}

/// Replaces a random word or number by a random word or number of the text.
void ReplaceWord(std::string& text, Generator& random) {
  const std::vector<Piece> words = WordsOf(text);
  if (words.empty()) return;
  const std::string other = At(text, words[Below(random, words.size())]);
  const Piece word = words[Below(random, words.size())];
  text.replace(word.begin, word.size, other);
}

void RemoveLine(std::string& text, Generator& random) {
  const std::vector<Piece> lines = LinesOf(text);
  if (lines.empty()) return;
  const Piece line = lines[Below(random, lines.size())];
  text.erase(line.begin, line.size);
}

/// Inserts a copy of a line before a random line.
void RepeatLine(std::string& text, Generator& random) {
  const std::vector<Piece> lines = LinesOf(text);
  if (lines.empty()) return;
  const std::string line = At(text, lines[Below(random, lines.size())]);
  text.insert(lines[Below(random, lines.size())].begin, line);
}

/// Repeats or removes the text from an opening bracket to the next closing bracket.
void NestOrUnnest(std::string& text, Generator& random) {
  const size_t open = text.find_first_of("([{", text.empty() ? 0 : Below(random, text.size()));
  if (open == std::string::npos) return;
  const size_t close = text.find_first_of(")]}", open);
  if (close == std::string::npos) return;
  const std::string part = text.substr(open, close + 1 - open);
  if (Below(random, 2) == 0) {
    text.erase(open, part.size());
  } else {
    text.insert(open, part);
  }
}

using Mutation = void (*)(std::string&, Generator&);
constexpr Mutation kMutations[] = {ReplaceNumber, ReplaceNumber, ReplaceWord, ReplaceWord,
                                   RemoveLine,    RepeatLine,    NestOrUnnest};

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  Generator random(seed);
  if (Below(random, 3) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (size_t count = 1 + Below(random, 3); count > 0; --count) {
    kMutations[Below(random, std::size(kMutations))](text, random);
  }
  const size_t copied = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), copied);
  return copied;
}
