// A lexer for the text forms of tunec. Every error has file:line:column. The tokens are:
//
//   identifier   [A-Za-z_$][A-Za-z0-9_$]*, and dots before these characters: conv1.weight
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
  std::string_view text;  // source spelling; points into the lexer's copy of the input
  std::string value;      // kString: unescaped
  int line = 1;
  int column = 1;
  bool starts_line = false;    // true for the first token of a line, for line-oriented grammars
  bool follows_space = false;  // false if the token directly follows the one before, as f64 in
                               // 1.5f64
};

/// A text and a position in its tokens. A copy is independent and may be used to look ahead.
class Lexer {
 public:
  /// Splits the whole text into tokens. Errors: an unterminated string, a bad escape.
  static Result<Lexer> Create(std::string_view text, std::string_view file_name);

  /// Returns the token that is `ahead` tokens after the current one; past the end, the kEnd token.
  const Token& Peek(size_t ahead = 0) const;
  Token Next();
  bool IsAtEnd() const { return Peek().kind == TokenKind::kEnd; }
  /// Returns whether the current token is this identifier or punctuation.
  bool At(std::string_view text) const;
  /// Takes the current token if it is this identifier or punctuation. Returns whether a token was
  /// taken.
  bool TryTake(std::string_view text);
  Status Expect(std::string_view text);

  /// Takes an identifier or a string. `what` appears in the message: "expected a tensor name, found
  /// ']'".
  Result<std::string> ExpectName(std::string_view what);
  Result<std::string> ExpectIdentifier(std::string_view what);
  /// Takes an integer with an optional '-'.
  Result<int64_t> ExpectInteger(std::string_view what);
  /// Takes a number with an optional '-': an integer, a float, inf or nan.
  Result<double> ExpectNumber(std::string_view what);

  SourceLocation Here() const { return LocationOf(Peek()); }
  SourceLocation LocationOf(const Token& token) const;
  /// Makes the error `expected WHAT, found TOKEN` at the current token.
  std::unexpected<Error> Expected(std::string_view what) const;

 private:
  std::string file_name_;
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const std::vector<Token>> tokens_;
  size_t position_ = 0;
};

/// Returns whether `name` lexes as one identifier.
bool IsIdentifier(std::string_view name);
/// Returns `name` as a string token: quoted, with escapes.
std::string Quote(std::string_view name);

}  // namespace tunec
