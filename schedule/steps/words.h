// A reader of the words of one line of a schedule. Errors have the columns of the words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

class WordReader {
 public:
  /// Splits the line into words. `where` is the location of the line's first column.
  WordReader(std::string_view line, SourceLocation where);

  bool IsAtEnd() const { return next_ == words_.size(); }
  /// Takes the next word only if it equals `word`. Returns whether a word was taken.
  bool TryTake(std::string_view word);
  /// Takes the next word. Fails with kParse at the end of the line; the message names `expected`,
  /// the kind of word that was expected.
  Result<std::string> Take(std::string_view expected);
  /// Returns an error kParse at the location of the word taken last.
  std::unexpected<Error> Unexpected(std::string_view expected, std::string_view found) const;
  /// Returns the location of the word taken last. Returns the end of the line after a failed Take,
  /// and the line's first column before the first word.
  const SourceLocation& where() const { return where_; }

 private:
  struct Word {
    std::string text;
    int column = 1;
  };
  std::vector<Word> words_;
  size_t next_ = 0;
  int end_column_ = 1;
  SourceLocation where_;
};

}  // namespace tunec
