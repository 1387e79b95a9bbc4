// The dependences of a Compute's statements in their original order, by storage. In a flow
// dependence, a read depends on the instance that wrote the value. In a false dependence, a write
// depends on earlier accesses to the storage that it reuses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// The dependences between some statements. One object serves many trees over the same statements
/// and many queries. The queries are free functions: legality.h, affine_schedule.h,
/// instance_pairs.h, describe.h. Results of isl are cached for later queries. The object owns an
/// isl context, so only one thread may use it at a time.
class Dependences {
 public:
  /// Quota of isl's operations for one query. It suffices for the statements of attention, and
  /// limits the cost of a hostile input to seconds.
  static constexpr unsigned long kOperations = 40'000'000;

  /// Makes an object for `statements`, which are expanded (ExpandReductions) and index `tensors`.
  /// Each query may use `operations` operations of isl.
  static Dependences Of(const Tensors& tensors, const Statements& statements,
                        unsigned long operations = kOperations);
  Dependences(Dependences&&) noexcept;
  Dependences& operator=(Dependences&&) noexcept;
  ~Dependences();

  /// The data for the functions of this folder, defined in dependence_data.h.
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
