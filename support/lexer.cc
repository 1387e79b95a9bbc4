#include "support/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace tunec {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool ContinuesName(char c) { return StartsName(c) || IsDigit(c); }

size_t NameLength(std::string_view text) {
  if (text.empty() || !StartsName(text[0])) return 0;
  size_t n = 1;
  while (n < text.size()) {
    const bool inner_dot = text[n] == '.' && n + 1 < text.size() && ContinuesName(text[n + 1]);
    if (!ContinuesName(text[n]) && !inner_dot) break;
    ++n;
  }
  return n;
}

// Returns the length of a number: digits, then a fraction and an exponent, each only if it has
// digits. Therefore "0 .. 4" and "0..4" contain integers. Sets `is_float` if there is a fraction or
// an exponent.
size_t NumberLength(std::string_view text, bool& is_float) {
  const auto digit_at = [&](size_t i) { return i < text.size() && IsDigit(text[i]); };
  size_t n = 0;
  while (digit_at(n)) ++n;
  if (n < text.size() && text[n] == '.' && digit_at(n + 1)) {
    is_float = true;
    ++n;
    while (digit_at(n)) ++n;
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    size_t m = n + 1;
    if (m < text.size() && (text[m] == '+' || text[m] == '-')) ++m;
    if (digit_at(m)) {
      is_float = true;
      while (digit_at(m)) ++m;
      n = m;
    }
  }
  return n;
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Tokenizer {
 public:
  Tokenizer(std::string_view text, std::string_view file_name)
      : text_(text), file_name_(file_name) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      SkipBlanks();
      Token token = Begin();
      if (at_ == text_.size()) {
        tokens.push_back(token);
        return tokens;
      }
      TUNEC_RETURN_IF_ERROR(Finish(token));
      starts_line_ = false;
      follows_space_ = false;
      tokens.push_back(std::move(token));
    }
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\n') {
        ++at_;
        ++line_;
        line_begin_ = at_;
        starts_line_ = true;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
      follows_space_ = true;
    }
  }

  Token Begin() const {
    Token token;
    token.line = line_;
    token.column = static_cast<int>(at_ - line_begin_) + 1;
    token.starts_line = starts_line_;
    token.follows_space = follows_space_;
    return token;
  }

  Status Finish(Token& token) {
    const std::string_view rest = text_.substr(at_);
    size_t length = 0;
    if (rest[0] == '"') {
      token.kind = TokenKind::kString;
      TUNEC_ASSIGN(length, StringLength(token));
    } else if (IsDigit(rest[0])) {
      bool is_float = false;
      length = NumberLength(rest, is_float);
      token.kind = is_float ? TokenKind::kFloat : TokenKind::kInteger;
    } else if (StartsName(rest[0])) {
      token.kind = TokenKind::kIdentifier;
      length = NameLength(rest);
    } else {
      token.kind = TokenKind::kPunctuation;
      length = PunctuationLength(rest);
    }
    token.text = rest.substr(0, length);
    at_ += length;
    return {};
  }

  static size_t PunctuationLength(std::string_view rest) {
    constexpr std::array<std::string_view, 9> kPairs = {
        "->", "=>", "..", ">=", "<=", "==", "!=", "&&", "||"};
    for (const std::string_view pair : kPairs) {
      if (rest.starts_with(pair)) return 2;
    }
    return 1;
  }

  // Returns the length of the string including both quotes, and fills token.value.
  Result<size_t> StringLength(Token& token) const {
    const std::string_view rest = text_.substr(at_);
    for (size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
      if (rest[i] == '"') return i + 1;
      if (rest[i] != '\\') {
        token.value += rest[i];
        continue;
      }
      const std::string_view escape = rest.substr(i + 1);
      if (escape.starts_with('n')) {
        token.value += '\n';
      } else if (escape.starts_with('t')) {
        token.value += '\t';
      } else if (escape.starts_with('"') || escape.starts_with('\\')) {
        token.value += escape[0];
      } else if (escape.size() > 2 && escape[0] == 'x' && HexDigit(escape[1]) >= 0 &&
                 HexDigit(escape[2]) >= 0) {
        token.value += static_cast<char>(HexDigit(escape[1]) * 16 + HexDigit(escape[2]));
        i += 2;
      } else {
        return FailAt(LocationAt(token.column + static_cast<int>(i)), ErrorCode::kParse,
                      "unknown escape in a string, expected one of \\n \\t \\\" \\\\ \\xHH");
      }
      ++i;
    }
    return FailAt(LocationAt(token.column), ErrorCode::kParse,
                  "this string has no end on its line");
  }

  SourceLocation LocationAt(int column) const { return {std::string(file_name_), line_, column}; }

  std::string_view text_;
  std::string_view file_name_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
  bool starts_line_ = true;
  bool follows_space_ = true;
};

bool IsWord(const Token& token) {
  return token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kPunctuation;
}

}  // namespace

Result<Lexer> Lexer::Create(std::string_view text, std::string_view file_name) {
  Lexer lexer;
  lexer.file_name_ = file_name;
  lexer.text_ = std::make_shared<const std::string>(text);
  TUNEC_ASSIGN(auto tokens, Tokenizer(*lexer.text_, lexer.file_name_).Run());
  lexer.tokens_ = std::make_shared<const std::vector<Token>>(std::move(tokens));
  return lexer;
}

const Token& Lexer::Peek(size_t ahead) const {
  return (*tokens_)[std::min(position_ + ahead, tokens_->size() - 1)];
}

Token Lexer::Next() {
  Token token = Peek();
  if (position_ + 1 < tokens_->size()) ++position_;
  return token;
}

bool Lexer::At(std::string_view text) const { return IsWord(Peek()) && Peek().text == text; }

bool Lexer::TryTake(std::string_view text) {
  if (!At(text)) return false;
  Next();
  return true;
}

Status Lexer::Expect(std::string_view text) {
  if (TryTake(text)) return {};
  return Expected(fmt::format("'{}'", text));
}

Result<std::string> Lexer::ExpectName(std::string_view what) {
  if (Peek().kind == TokenKind::kString) return Next().value;
  return ExpectIdentifier(what);
}

Result<std::string> Lexer::ExpectIdentifier(std::string_view what) {
  if (Peek().kind != TokenKind::kIdentifier) return Expected(what);
  return std::string(Next().text);
}

Result<int64_t> Lexer::ExpectInteger(std::string_view what) {
  const bool negative = At("-") && Peek(1).kind == TokenKind::kInteger;
  const Token& token = Peek(negative ? 1 : 0);
  if (token.kind != TokenKind::kInteger) return Expected(what);
  uint64_t magnitude = 0;
  const auto parsed =
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), magnitude);
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (parsed.ec != std::errc() || magnitude > most) {
    return FailAt(LocationOf(token), ErrorCode::kParse, "{} does not fit 64 bits", token.text);
  }
  if (negative) Next();
  Next();
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

Result<double> Lexer::ExpectNumber(std::string_view what) {
  const double sign = At("-") ? -1.0 : 1.0;
  const Token& token = Peek(sign < 0 ? 1 : 0);
  double value = 0;
  if (token.kind == TokenKind::kIdentifier && token.text == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (token.kind == TokenKind::kIdentifier && token.text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat) {
    const char* end = token.text.data() + token.text.size();
    if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
      return FailAt(LocationOf(token), ErrorCode::kParse, "{} is out of range", token.text);
    }
  } else {
    return Expected(what);
  }
  if (sign < 0) Next();
  Next();
  return sign * value;
}

SourceLocation Lexer::LocationOf(const Token& token) const {
  return {file_name_, token.line, token.column};
}

std::unexpected<Error> Lexer::Expected(std::string_view what) const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kEnd) {
    return FailAt(Here(), ErrorCode::kParse, "expected {}, found the end of the text", what);
  }
  return FailAt(Here(), ErrorCode::kParse, "expected {}, found '{}'", what, token.text);
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && NameLength(name) == name.size();
}

std::string Quote(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace tunec
