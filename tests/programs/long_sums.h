// Programs with sums that are long enough to be added in pieces: products, convolutions, chains,
// and products between Winograd's transforms.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tunec::test {

struct LongSum {
  std::string name;
  std::string text;
  std::string sketch;         // prefix of the tested sketch's name
  std::string winograd = {};  // text of the lowering `winograd`, or empty
};

/// Returns sums of sizes that pieces and tiles divide, and of other sizes.
std::vector<LongSum> LongSums();
/// Returns a product of these sizes.
LongSum LongProduct(int rows, int columns, int length);
LongSum LongConvolution(int channels);
LongSum LongWinograd(int channels);
inline void PrintTo(const LongSum& sum, std::ostream* out) { *out << sum.name; }

}  // namespace tunec::test
