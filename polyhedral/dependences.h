// The dependences of a Compute's statements in their original order, by storage. In a flow
// dependence, a read depends on an instance that wrote or added to the value. In a false
// dependence, a write depends on an earlier access to the element that it overwrites.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/compute.h"

namespace tunec {

/// The dependences between some statements. One object serves many trees over the same statements
/// and many queries. The queries are free functions: legality.h, affine_schedule.h,
/// instance_pairs.h, describe.h. Computed dependences are cached for later queries. Only one thread
/// may use the object at a time, because the object owns an isl context.
class Dependences {
 public:
  /// Default quota of isl's operations for one query. It suffices for the statements of attention,
  /// and limits the cost of a hostile input to seconds.
  static constexpr unsigned long kOperations = 40'000'000;

  /// Makes an object for `statements`, whose reductions are expanded (ExpandReductions) and whose
  /// tensor ids refer to `tensors`. `operations` is the quota of isl's operations for one query.
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

/// Returns the version of the linked isl. Tests check that libisl is linked, not the copy inside
/// libLLVM.
std::string IslVersion();

}  // namespace tunec
