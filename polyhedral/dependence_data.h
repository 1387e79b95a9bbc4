// The data of the class Dependences, with relations of isl. Only the functions of this folder use
// this file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhedral/access.h"
#include "polyhedral/dependences.h"
#include "polyhedral/isl_handles.h"

namespace tunec {

enum class DependenceKind : uint8_t {
  kFlow,   // writer -> reader
  kReuse,  // reader or writer -> later writer
};

/// Dependences of one kind through one storage, of instances of `to` on instances of `from`.
struct Dependence {
  TensorId tensor;
  DependenceKind kind = DependenceKind::kFlow;
  StatementId from;
  StatementId to;
  isl::Map instances;
};

struct Dependences::Data {
  isl::Context context;
  Tensors tensors;
  Statements statements;
  std::vector<WrittenStorage> storages;
  /// Dependences by storage; nullopt until they are computed, because most checks need none.
  std::vector<std::optional<std::vector<Dependence>>> computed;

  /// Resets isl's count of operations, so that the next query has the full quota, and isl's last
  /// error. Returns the context.
  isl_ctx* Begin();

  /// Returns the dependences through the storage at a position of `storages`, and computes them at
  /// the first call. Fails with kResourceLimit if isl's quota is used up.
  Result<const std::vector<Dependence>*> FindDependencesThrough(size_t storage);

 private:
  Status Compute(size_t storage);
  isl::UnionMap OriginalOrder() const;
  std::vector<isl::Map> Elements(const WrittenStorage& storage) const;
  void WithinReductions(const WrittenStorage& storage, const std::vector<isl::Map>& elements,
                        std::vector<Dependence>& into) const;
  Status Append(const WrittenStorage& storage, DependenceKind kind, isl_union_flow* flow,
                std::vector<Dependence>& into) const;
};

}  // namespace tunec
