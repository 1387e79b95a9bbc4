#include "support/lexer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tunec {
namespace {

Lexer Lex(std::string_view text) {
  auto lexer = Lexer::Create(text, "t.txt");
  EXPECT_TRUE(lexer.has_value()) << lexer.error().Format();
  return *lexer;
}

TEST(Lexer, SplitsNamesNumbersAndPunctuation) {
  Lexer lexer = Lex("a.b $c 0..4 1.5e-3 -> >= 3i64 # comment\n// another\n\"x\\\"\\x41\"");
  std::vector<std::string> texts;
  while (!lexer.IsAtEnd()) texts.emplace_back(lexer.Next().text);
  EXPECT_EQ(texts, (std::vector<std::string>{"a.b", "$c", "0", "..", "4", "1.5e-3", "->", ">=", "3",
                                             "i64", "\"x\\\"\\x41\""}));
}

TEST(Lexer, KnowsLinesAndSpaces) {
  Lexer lexer = Lex("a b\n  1.5f64");
  EXPECT_TRUE(lexer.Next().starts_line);
  EXPECT_FALSE(lexer.Next().starts_line);
  const Token number = lexer.Next();
  EXPECT_TRUE(number.starts_line);
  EXPECT_EQ(number.line, 2);
  EXPECT_EQ(number.column, 3);
  EXPECT_FALSE(lexer.Peek().follows_space);
  EXPECT_EQ(lexer.Peek().text, "f64");
}

TEST(Lexer, UnescapesStrings) {
  Lexer lexer = Lex(R"("x\"\\\n\x41")");
  EXPECT_EQ(*lexer.ExpectName("a name"), "x\"\\\nA");
}

TEST(Lexer, QuoteIsTheInverseOfAString) {
  const std::string odd = "a/b:0 \"q\" \\ \x01\n\xc3\xa9";
  Lexer lexer = Lex(Quote(odd));
  EXPECT_EQ(*lexer.ExpectName("a name"), odd);
  EXPECT_FALSE(IsIdentifier("a/b"));
  EXPECT_FALSE(IsIdentifier(""));
  EXPECT_FALSE(IsIdentifier("a."));
  EXPECT_TRUE(IsIdentifier("_a.b1"));
}

TEST(Lexer, ReadsTheEndsOfTheIntegers) {
  EXPECT_EQ(*Lex("-9223372036854775808").ExpectInteger("n"), INT64_MIN);
  EXPECT_EQ(*Lex("9223372036854775807").ExpectInteger("n"), INT64_MAX);
  EXPECT_EQ(Lex("9223372036854775808").ExpectInteger("n").error().Format(),
            "t.txt:1:1: error: 9223372036854775808 does not fit 64 bits");
}

TEST(Lexer, ReadsSpecialNumbers) {
  EXPECT_EQ(*Lex("-inf").ExpectNumber("x"), -INFINITY);
  EXPECT_TRUE(std::isnan(*Lex("nan").ExpectNumber("x")));
  EXPECT_EQ(*Lex("0.1").ExpectNumber("x"), 0.1);
}

TEST(Lexer, SaysWhatWasExpected) {
  Lexer lexer = Lex("a\n ]");
  lexer.Next();
  EXPECT_EQ(lexer.Expect("[").error().Format(), "t.txt:2:2: error: expected '[', found ']'");
  EXPECT_EQ(lexer.ExpectName("a tensor").error().Format(),
            "t.txt:2:2: error: expected a tensor, found ']'");
  lexer.Next();
  EXPECT_EQ(lexer.ExpectInteger("an extent").error().message,
            "expected an extent, found the end of the text");
}

TEST(Lexer, RejectsBrokenStrings) {
  EXPECT_EQ(Lexer::Create("x \"ab\n", "t").error().Format(),
            "t:1:3: error: this string has no end on its line");
  EXPECT_EQ(Lexer::Create("\"a\\q\"", "t").error().where->column, 3);
  EXPECT_FALSE(Lexer::Create("\"a\\", "t").has_value());
}

}  // namespace
}  // namespace tunec
