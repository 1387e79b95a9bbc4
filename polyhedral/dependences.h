// The dependences of a Compute's statements in their original order, per storage: value-based flow
// (who reads what whom wrote) and the false dependences of reused storage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// What is known of them. One object serves many trees over the same statements, and many
/// questions, which are free functions: legality.h, affine_schedule.h, instance_pairs.h,
/// describe.h. What isl computes for one is kept for the next. Owns an isl context: one thread at a
/// time.
class Dependences {
 public:
  /// Enough operations of isl for attention's statements; bounds what a hostile input costs, to
  /// seconds.
  static constexpr unsigned long kOperations = 40'000'000;

  /// `statements` as by ExpandReductions, which index `tensors`. Each question may take so many
  /// operations of isl.
  static Dependences Of(const Tensors& tensors, const Statements& statements,
                        unsigned long operations = kOperations);
  Dependences(Dependences&&) noexcept;
  Dependences& operator=(Dependences&&) noexcept;
  ~Dependences();

  /// For this folder's questions: dependence_data.h.
  struct Data;
  Data& data() const { return *data_; }

 private:
  explicit Dependences(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// The version of the isl that is linked; the build checks that it is libisl's own and not
/// the one inside libLLVM.
std::string IslVersion();

}  // namespace tunec
