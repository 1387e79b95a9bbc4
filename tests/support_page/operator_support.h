// Functions that find the element types that each operator supports on each target. Type
// inference and code generation are tried on the cases of tests/graph/core/reference_cases.graph.
#pragma once

#include <map>
#include <vector>

#include "graph/ops/op.h"
#include "ir/data_type.h"
#include "ir/target.h"

namespace tunec {

/// The support for one operator with one element type.
enum class Support : uint8_t {
  kRejected,   // type inference rejects the type
  kReference,  // only the reference execution supports the type
  kCpu,        // code is generated for CPUs only
  kCuda,       // code is generated for GPUs only
  kBoth,
};

struct OperatorSupport {
  Op op = Op::kIdentity;
  int cases = 0;  // number of reference cases
  std::map<DataType, Support> types;
};

inline constexpr DataType kAllDataTypes[] = {
    DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16, DataType::kI8,
    DataType::kI16, DataType::kI32, DataType::kI64, DataType::kU8,   DataType::kU16,
    DataType::kU32, DataType::kU64, DataType::kBool};

/// Returns a CPU with AVX-512, AVX512_BF16 and AMX.
Target SupportedCpu();
/// Returns a GPU with the instructions of sm_90a.
Target SupportedCuda();

/// Returns an entry for each operator of op_list.h except leaves, in the order of that file. Cases
/// are tried with every element type, until both targets support every type. An operator without
/// cases has no types.
std::vector<OperatorSupport> FindOperatorSupport();

}  // namespace tunec
