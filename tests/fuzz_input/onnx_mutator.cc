// A mutator of ONNX models for libFuzzer. It changes ranks, extents, element types, elements,
// attributes, operands and operators. The bytes are mostly parsed and serialized again, so that a
// change reaches the importer's handlers and is not rejected by protobuf.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Generator = std::minstd_rand;

size_t Below(Generator& random, size_t bound) { return random() % bound; }

int64_t AnyNumber(Generator& random) {
  static constexpr int64_t kNumbers[] = {0,  1,  2,  3,  4,   5,    7,         8,
                                         -1, -2, -3, 16, 100, 1000, 1LL << 31, INT64_MIN};
  return kNumbers[Below(random, std::size(kNumbers))];
}

float AnyFloat(Generator& random) {
  static const float kNumbers[] = {0.0F, 1.0F, -1.0F, 0.5F, 1e-30F, 1e30F, INFINITY, NAN};
  return kNumbers[Below(random, std::size(kNumbers))];
}

/// The parts of a model that may be mutated, including those of subgraphs and functions.
struct Parts {
  std::vector<onnx::NodeProto*> nodes;
  std::vector<onnx::TensorProto*> tensors;
  std::vector<onnx::ValueInfoProto*> values;

  explicit Parts(onnx::ModelProto& model) {
    Collect(*model.mutable_graph());
    for (auto& function : *model.mutable_functions()) {
      for (auto& node : *function.mutable_node()) Collect(node);
    }
  }

  void Collect(onnx::GraphProto& graph) {
    for (auto& tensor : *graph.mutable_initializer()) tensors.push_back(&tensor);
    for (auto& value : *graph.mutable_input()) values.push_back(&value);
    for (auto& value : *graph.mutable_output()) values.push_back(&value);
    for (auto& node : *graph.mutable_node()) Collect(node);
  }

  void Collect(onnx::NodeProto& node) {
    nodes.push_back(&node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) tensors.push_back(attribute.mutable_t());
      if (attribute.has_g()) Collect(*attribute.mutable_g());
    }
  }
};

template <class T>
T* Any(const std::vector<T*>& parts, Generator& random) {
  return parts.empty() ? nullptr : parts[Below(random, parts.size())];
}

void MutateShape(onnx::ValueInfoProto& value, Generator& random) {
  auto& type = *value.mutable_type()->mutable_tensor_type();
  if (Below(random, 8) == 0) return type.set_elem_type(static_cast<int>(Below(random, 17)));
  auto& dims = *type.mutable_shape()->mutable_dim();
  const size_t choice = Below(random, 4);
  if (choice == 0) {
    dims.Add()->set_dim_value(AnyNumber(random));
  } else if (dims.empty()) {
    return;
  } else if (choice == 1) {
    dims.RemoveLast();
  } else {
    dims.Mutable(static_cast<int>(Below(random, dims.size())))->set_dim_value(AnyNumber(random));
  }
}

int BytesOf(int type) {
  switch (type) {
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
    case onnx::TensorProto::DOUBLE:
      return 8;
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return 4;
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return 2;
    default:
      return 1;
  }
}

/// Changes a tensor's rank or an extent. Resizes the data to fit, but not to over 4096 elements.
void MutateTensorShape(onnx::TensorProto& tensor, Generator& random) {
  auto& dims = *tensor.mutable_dims();
  const size_t choice = Below(random, 3);
  if (choice == 0) {
    dims.Add(1);
  } else if (choice == 1 && !dims.empty()) {
    dims.RemoveLast();
  } else if (!dims.empty()) {
    dims.Set(static_cast<int>(Below(random, dims.size())), static_cast<int64_t>(Below(random, 6)));
  }
  int64_t count = 1;
  for (const int64_t extent : dims) count *= std::clamp<int64_t>(extent, 0, 64);
  if (count > 4096) return;
  if (tensor.has_raw_data()) {
    tensor.mutable_raw_data()->resize(static_cast<size_t>(count * BytesOf(tensor.data_type())));
  }
  const auto resize = [count](auto& values) {
    if (!values.empty()) values.Resize(static_cast<int>(count), values.Get(0));
  };
  resize(*tensor.mutable_int64_data());
  resize(*tensor.mutable_int32_data());
  resize(*tensor.mutable_float_data());
}

/// Changes one element of the raw_data or int64_data of a tensor, if there is one.
void MutateTensorValue(onnx::TensorProto& tensor, Generator& random) {
  const auto bytes = static_cast<size_t>(BytesOf(tensor.data_type()));
  std::string& raw = *tensor.mutable_raw_data();
  if (raw.size() >= bytes) {
    const int64_t number = AnyNumber(random);
    std::memcpy(&raw[Below(random, raw.size() / bytes) * bytes], &number, bytes);
    return;
  }
  tensor.clear_raw_data();
  auto& integers = *tensor.mutable_int64_data();
  if (!integers.empty()) {
    integers.Set(static_cast<int>(Below(random, integers.size())), AnyNumber(random));
  }
}

void MutateAttribute(onnx::NodeProto& node, Generator& random) {
  auto& attributes = *node.mutable_attribute();
  if (attributes.empty()) return;
  const auto at = static_cast<int>(Below(random, attributes.size()));
  onnx::AttributeProto& attribute = *attributes.Mutable(at);
  if (Below(random, 6) == 0) {
    attributes.DeleteSubrange(at, 1);
  } else if (attribute.has_i()) {
    attribute.set_i(AnyNumber(random));
  } else if (attribute.has_f()) {
    attribute.set_f(AnyFloat(random));
  } else if (attribute.ints_size() > 0) {
    const size_t choice = Below(random, 4);
    if (choice == 0) attribute.add_ints(AnyNumber(random));
    if (choice == 1) attribute.mutable_ints()->RemoveLast();
    if (choice > 1) {
      attribute.set_ints(static_cast<int>(Below(random, attribute.ints_size())), AnyNumber(random));
    }
  }
}

/// Swaps two operands of a node, or removes, empties, repeats or replaces one.
void MutateOperands(onnx::NodeProto& node, const Parts& parts, Generator& random) {
  auto& inputs = *node.mutable_input();
  if (inputs.empty()) return;
  const auto at = static_cast<int>(Below(random, inputs.size()));
  switch (Below(random, 5)) {
    case 0:
      inputs.SwapElements(at, static_cast<int>(Below(random, inputs.size())));
      break;
    case 1:
      inputs.DeleteSubrange(at, 1);
      break;
    case 2:
      inputs.Mutable(at)->clear();
      break;
    case 3:
      *inputs.Add() = inputs.Get(at);
      break;
    default:
      if (const auto* value = Any(parts.values, random)) *inputs.Mutable(at) = value->name();
      break;
  }
}

void Mutate(onnx::ModelProto& model, Generator& random) {
  const Parts parts(model);
  onnx::NodeProto* node = Any(parts.nodes, random);
  onnx::TensorProto* tensor = Any(parts.tensors, random);
  onnx::ValueInfoProto* value = Any(parts.values, random);
  switch (Below(random, 8)) {
    case 0:
    case 1:
      if (value != nullptr) MutateShape(*value, random);
      break;
    case 2:
      if (tensor != nullptr) MutateTensorShape(*tensor, random);
      break;
    case 3:
      if (tensor != nullptr) MutateTensorValue(*tensor, random);
      break;
    case 4:
      if (node != nullptr) MutateOperands(*node, parts, random);
      break;
    case 5:
      if (node != nullptr) node->set_op_type(Any(parts.nodes, random)->op_type());
      break;
    default:
      if (node != nullptr) MutateAttribute(*node, random);
      break;
  }
}

bool Parse(onnx::ModelProto& model, const uint8_t* data, size_t size) {
  return model.ParseFromArray(data, static_cast<int>(size)) && model.has_graph();
}

size_t Write(const onnx::ModelProto& model, uint8_t* data, size_t max_size) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  Generator random(seed);
  onnx::ModelProto model;
  if (Below(random, 8) == 0 || !Parse(model, data, size)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  for (size_t count = 1 + Below(random, 3); count > 0; --count) Mutate(model, random);
  const size_t written = Write(model, data, max_size);
  return written > 0 ? written : size;
}

// Writes the first model to `out`, with one node's operator and attributes from the second model.
// Returns the size, or 0 if this is impossible.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2, uint8_t* out,
                                            size_t max_out, unsigned int seed) {
  Generator random(seed);
  onnx::ModelProto first;
  onnx::ModelProto second;
  if (!Parse(first, data1, size1) || !Parse(second, data2, size2)) return 0;
  const Parts theirs(second);
  const Parts ours(first);
  onnx::NodeProto* node = Any(ours.nodes, random);
  const onnx::NodeProto* other = Any(theirs.nodes, random);
  if (node == nullptr || other == nullptr) return 0;
  node->set_op_type(other->op_type());
  *node->mutable_attribute() = other->attribute();
  return Write(first, out, max_out);
}
