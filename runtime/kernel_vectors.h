// Test vectors as text: the inputs of a kernel, and the outputs that one machine computed, bit by
// bit. Runs on other machines show whether the outputs there agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "support/error.h"

namespace tunec {

/// The elements of one argument, in memory order.
struct KernelVector {
  std::string name;  // one word
  DataType type = DataType::kF32;
  std::string bytes;  // whole elements, little-endian
  /// Tolerance for an f32 output whose rounding is not known to the last bit: the largest allowed
  /// difference between an element and the element of another machine. 0: the bits must be equal.
  double within = 0;

  size_t elements() const { return bytes.size() / SizeOf(type); }
  bool operator==(const KernelVector&) const = default;
};

/// The vectors of a kernel's inputs and, if a machine has computed them, of its outputs.
struct KernelVectors {
  std::string from;  // origin of the outputs, in one line; empty: there are no outputs
  std::vector<KernelVector> arguments;

  /// Returns the vector with this name, or null.
  const KernelVector* Find(std::string_view name) const;
  /// Adds the outputs, or replaces the vectors with their names. The tolerances of replaced vectors
  /// are retained. `who` is the new origin (`from`).
  void SetOutputs(std::string who, const std::vector<KernelVector>& outputs);
  bool operator==(const KernelVectors&) const = default;
};

/// Returns the text: `tunec-vectors 1`, `from WHO`, then for each argument a line `NAME TYPE
/// ELEMENTS`, with ` within BOUND` if there is a tolerance, and lines of its elements. The elements
/// are their bits in hexadecimal, with the most significant digit first.
std::string Print(const KernelVectors& vectors);
/// Parses a text. Fails with kParse and the line's number in `file_name`.
Result<KernelVectors> ParseKernelVectors(std::string_view text, const std::string& file_name);

/// Returns how an output differs from the vector with its name: "3 of 128 elements differ, the
/// first at 17: 3f800001, not 3f800000". Empty: the bits are equal, or the elements are within the
/// vector's tolerance. A NaN equals only the same bits. Fails with kInvalidArgument if the vectors
/// have no such output, or one of another type or size.
Result<std::string> CompareWith(const KernelVectors& vectors, const KernelVector& output);

}  // namespace tunec
