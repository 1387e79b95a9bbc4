#include "ir/array_storage.h"

#include <cstring>
#include <vector>

namespace tunec {
namespace {

std::vector<IndexExpr> LogicalVariables(const Tensor& tensor) {
  std::vector<IndexExpr> variables;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    variables.push_back(IndexExpr::Var(DimensionVar(d)));
  }
  return variables;
}

// Returns one table per dimension, indexed by the logical index along the dimension. The entries
// for an element add up to the storage offset without its constant. Returns an empty vector if a
// term of the offset depends on several dimensions.
std::vector<std::vector<int64_t>> OffsetTables(const Tensor& tensor, const IndexExpr& offset) {
  std::vector<std::vector<int64_t>> tables;
  for (const int64_t extent : tensor.shape) tables.emplace_back(extent, 0);
  for (const IndexTerm& term : offset.terms()) {
    const IndexExpr single =
        term.atom.kind == IndexAtom::Kind::kFloorDiv
            ? IndexExpr::FloorDiv(*term.atom.numerator, term.atom.divisor) * term.coefficient
            : IndexExpr::Var(term.atom.variable()) * term.coefficient;
    std::vector<VarId> used;
    single.CollectVars(used);
    for (const VarId v : used) {
      if (v != used.front()) return {};
    }
    if (used.empty()) return {};
    std::vector<int64_t> point(tensor.shape.size(), 0);
    const size_t dimension = used.front().index();
    for (int64_t i = 0; i < tensor.shape[dimension]; ++i) {
      point[dimension] = i;
      tables[dimension][i] += Evaluate(single, point);
    }
  }
  return tables;
}

// Calls visit(logical position, storage position) for every element.
template <class Visit>
void ForEachElement(const Tensor& tensor, const Visit& visit) {
  const IndexExpr offset = StorageOffset(tensor, LogicalVariables(tensor));
  const auto tables = OffsetTables(tensor, offset);
  const size_t rank = tensor.shape.size();
  std::vector<int64_t> point(rank, 0);
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = offset.constant();
    if (tables.size() == rank && rank > 0) {
      for (size_t d = 0; d < rank; ++d) position += tables[d][point[d]];
    } else {
      position = Evaluate(offset, point);
    }
    visit(i, position);
    for (size_t d = rank; d-- > 0;) {
      if (++point[d] < tensor.shape[d]) break;
      point[d] = 0;
    }
  }
}

}  // namespace

void ToStorage(const Tensor& tensor, const Array& logical, std::byte* storage) {
  const size_t size = SizeOf(tensor.type);
  if (tensor.layout.IsRowMajor()) {
    if (logical.bytes() > 0) std::memcpy(storage, logical.data(), logical.bytes());
    return;
  }
  ForEachElement(tensor, [&](int64_t i, int64_t at) {
    std::memcpy(storage + at * size, logical.data() + i * size, size);
  });
}

Array FromStorage(const Tensor& tensor, const std::byte* storage) {
  Array logical(tensor.type, tensor.shape);
  std::byte* data = logical.mutable_data();
  const size_t size = SizeOf(tensor.type);
  if (tensor.layout.IsRowMajor()) {
    if (logical.bytes() > 0) std::memcpy(data, storage, logical.bytes());
    return logical;
  }
  ForEachElement(tensor, [&](int64_t i, int64_t at) {
    std::memcpy(data + i * size, storage + at * size, size);
  });
  return logical;
}

}  // namespace tunec
