// Functions that return texts of programs on the rows or columns of matrices, such as softmax,
// gathered rows and column sums.
#pragma once

#include <cstdint>
#include <string>

namespace tunec::test {

/// Returns the softmax of the rows of X, by the statements `m`, `e`, `s` and `Y`.
std::string SoftmaxText(int64_t rows, int64_t length);
/// Returns the greatest element of each row of X and its position, by the statement `S`.
std::string ArgMaxText(int64_t rows, int64_t length);
/// Returns twice the rows of a table T that the indices I select, by the statement `Y`. The type of
/// I is `index`.
std::string GatherText(int64_t count, int64_t rows, int64_t length,
                       const std::string& index = "i64");
/// Returns the sums of the columns of A, by the statement `s`.
std::string ColumnSumsText(int64_t rows, int64_t columns);
/// Returns the transposed matrix A, by the statement `C`.
std::string TransposedText(int64_t rows, int64_t columns);
/// Returns the sum of the bfloat16 matrix A and a row b, by the statement `C`.
std::string HalfBroadcastText(int64_t rows, int64_t columns);

}  // namespace tunec::test
