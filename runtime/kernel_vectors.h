// What a kernel reads and what a machine made of it, bit by bit, as text: vectors by which one
// machine's instructions are held to another's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "support/error.h"

namespace tunec {

/// The elements of one argument, in the order in which they lie in memory.
struct KernelVector {
  std::string name;  // one word
  DataType type = DataType::kF32;
  std::string bytes;  // of whole elements, little-endian
  /// Of an output in f32 whose roundings are not known to the last bit: how far another machine's
  /// elements may be from these. 0: they are the same bits.
  double within = 0;

  size_t elements() const { return bytes.size() / SizeOf(type); }
  bool operator==(const KernelVector&) const = default;
};

struct KernelVectors {
  std::string from;  // whose outputs these are, in one line; empty: there are none
  std::vector<KernelVector> arguments;

  /// Null without one of that name.
  const KernelVector* Find(std::string_view name) const;
  /// Outputs of who, in the place of those that were there, whose bounds they keep.
  void SetOutputs(std::string who, const std::vector<KernelVector>& outputs);
  bool operator==(const KernelVectors&) const = default;
};

/// `tunec-vectors 1`, `from WHO`, then for each argument a line `NAME TYPE ELEMENTS`, with ` within
/// BOUND` where there is a bound, and lines of its elements: their bits in hexadecimal, the
/// greatest digit first.
std::string Print(const KernelVectors& vectors);
/// The inverse. kParse with the line.
Result<KernelVectors> ParseKernelVectors(std::string_view text, const std::string& file_name);

/// How an output differs from what the vectors have under its name: "3 of 128 elements differ, the
/// first at 17: 3f800001, not 3f800000"; empty: they are equal to the bit, or within the vector's
/// bound, which no NaN is. kInvalidArgument for vectors without such an output, or with one of
/// another type or size.
Result<std::string> CompareWith(const KernelVectors& vectors, const KernelVector& output);

}  // namespace tunec
