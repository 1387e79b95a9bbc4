#include "graph/lower/context.h"
#include "support/check.h"

namespace tunec::lower {

DataType ComputeType(DataType type) {
  return type == DataType::kF16 || type == DataType::kBF16 ? DataType::kF32 : type;
}

DataType AccumulatorType(DataType type) {
  switch (type) {
    case DataType::kF16:
    case DataType::kBF16:
      return DataType::kF32;
    case DataType::kI8:
    case DataType::kU8:
    case DataType::kI16:
    case DataType::kU16:
    case DataType::kBool:
      return DataType::kI32;
    default:
      return type;
  }
}

Expr Lazy::At(StatementBuilder& builder, const Index& index) const {
  TUNEC_CHECK(index.size() == shape.size(), "a value of rank {} indexed by {} expressions",
              shape.size(), index.size());
  const StatementBuilder::MemoKey key{number, index};
  if (const auto known = builder.memo().find(key); known != builder.memo().end())
    return known->second;
  Expr value = element(builder, index);
  builder.memo().emplace(key, value);
  return value;
}

Expr Lazy::Broadcast(StatementBuilder& builder, const Index& index) const {
  const size_t skipped = index.size() - shape.size();
  Index own;
  for (size_t d = 0; d < shape.size(); ++d)
    own.push_back(shape[d] == 1 ? IndexExpr(0) : index[skipped + d]);
  return At(builder, own);
}

}  // namespace tunec::lower
