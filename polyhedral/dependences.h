// The dependences of a Compute's statements in their original order, per storage: value-based flow
// (a read depends on the instance that wrote the value) and false dependences due to reused
// storage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// A store of dependences. One object serves many trees over the same statements and many
/// questions. The questions are free functions: legality.h, affine_schedule.h, instance_pairs.h,
/// describe.h. Results of isl are cached for later questions. Owns an isl context: use from one
/// thread at a time.
class Dependences {
 public:
  /// Operations of isl that suffice for attention's statements. They limit the cost of a hostile
  /// input to seconds.
  static constexpr unsigned long kOperations = 40'000'000;

  /// Makes an object for `statements`, as ExpandReductions returns them. They index `tensors`. Each
  /// question may use `operations` operations of isl.
  static Dependences Of(const Tensors& tensors, const Statements& statements,
                        unsigned long operations = kOperations);
  Dependences(Dependences&&) noexcept;
  Dependences& operator=(Dependences&&) noexcept;
  ~Dependences();

  /// Data for the functions of this folder: dependence_data.h.
  struct Data;
  Data& data() const { return *data_; }

 private:
  explicit Dependences(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// Returns the version of the linked isl. The build checks that libisl is linked, not the copy
/// inside libLLVM.
std::string IslVersion();

}  // namespace tunec
