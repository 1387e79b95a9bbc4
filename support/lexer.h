// Splits the text forms of tunec into tokens, and gives parsers the few questions they ask
// of them. Every error carries file:line:column and says what was expected.
//
//   identifier   [A-Za-z_$][A-Za-z0-9_$]*, with inner dots when a letter follows: conv1.weight
//   integer      123           float   1.5  2e-3  (no sign: '-' is punctuation)
//   string       "..." with \" \\ \n \t and \xHH
//   punctuation  -> => .. >= <= == != && || and every other single character
// Comments run from # or // to the end of the line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

enum class TokenKind : uint8_t { kIdentifier, kInteger, kFloat, kString, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // as written; into the lexer's copy of the input
  std::string value;      // kString: unescaped
  int line = 1;
  int column = 1;
  bool starts_line = false;    // the first token of its line, for line-oriented grammars
  bool follows_space = false;  // false: glued to the token before it, as the f64 in 1.5f64
};

/// A text and a position in its tokens. Copies share nothing and may be used to look ahead.
class Lexer {
 public:
  /// Tokenizes everything. Errors: an unterminated string, a bad escape.
  static Result<Lexer> Create(std::string_view text, std::string_view file_name);

  /// The token `ahead` of the current one; past the end, the kEnd token.
  const Token& Peek(size_t ahead = 0) const;
  Token Next();
  bool AtEnd() const { return Peek().kind == TokenKind::kEnd; }
  /// Whether the current token is this identifier or punctuation.
  bool At(std::string_view text) const;
  /// Takes the token if it is this identifier or punctuation.
  bool TryTake(std::string_view text);
  Status Expect(std::string_view text);

  /// An identifier or a string; `what` is for the message: "expected a tensor name, found ']'".
  Result<std::string> ExpectName(std::string_view what);
  Result<std::string> ExpectIdentifier(std::string_view what);
  /// An integer with an optional '-'.
  Result<int64_t> ExpectInteger(std::string_view what);
  /// A number with an optional '-': an integer, a float, inf or nan.
  Result<double> ExpectNumber(std::string_view what);

  SourceLocation Here() const { return LocationOf(Peek()); }
  SourceLocation LocationOf(const Token& token) const;
  /// `expected WHAT, found TOKEN` at the current token.
  std::unexpected<Error> Expected(std::string_view what) const;

 private:
  std::string file_name_;
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const std::vector<Token>> tokens_;
  size_t position_ = 0;
};

/// Whether `name` lexes as one identifier.
bool IsIdentifier(std::string_view name);
/// `name` as a string token: quoted, with escapes.
std::string Quote(std::string_view name);

}  // namespace tunec
