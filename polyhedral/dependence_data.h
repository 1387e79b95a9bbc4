// The dependences themselves, as isl computes them: internal to this folder, whose questions about
// them are free functions.
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

/// All dependences of one kind through one storage between one pair of statements.
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
  /// Per storage, computed when first asked for: most checks are decided without.
  std::vector<std::optional<std::vector<Dependence>>> computed;

  /// Begins a question, which has the whole quota.
  isl_ctx* Begin();

  /// The dependences through one storage, or kResourceLimit.
  Result<const std::vector<Dependence>*> Through(size_t storage);

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
