// Functions that read NumPy's files and write .npz. A .npy file holds one array, and a .npz file is
// a zip archive of .npy members. All types of DataType are supported. NumPy has no bf16: bf16
// arrays are written as uint16 with the same bits. In a .npz, the zip comment "tunec:bf16" marks
// the member of such an array, which is read back as bf16.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// An array that was read: row-major, little-endian, 64-byte aligned; bool bytes are 0 or 1.
struct NamedArray {
  TensorSpec spec;  // the member's name without .npy; empty for a .npy file
  Buffer bytes;
};

/// An array to write; `data` points to ByteSize(spec) bytes.
struct NamedArrayView {
  TensorSpec spec;
  const void* data = nullptr;
};

/// Read arrays that are stored in row-major or column-major order. ReadNpz reads stored and
/// deflated members, and skips members whose name does not end in .npy. Both functions are safe on
/// hostile files: sizes and offsets are checked before their use. Both fail with kNotFound, kIo,
/// kParse (damage, two members of one name), kUnsupported (for example big-endian, structured or
/// complex types, encryption) or kResourceLimit without memory. Messages name the file.
Result<std::vector<NamedArray>> ReadNpz(const std::string& path);
Result<NamedArray> ReadNpy(const std::string& path);

/// Writes a file beside the path and renames it, so that the path never holds an incomplete file.
/// Members are stored without compression; the same arrays give the same bytes. Fails like
/// WriteFileAtomically. Fails with kUnsupported if the arrays or their names are too large or too
/// many for a zip file without zip64. Fails with kInvalidArgument if two arrays have one name, or
/// if an array has no data or an invalid shape.
Status WriteNpz(const std::string& path, std::span<const NamedArrayView> arrays);

}  // namespace tunec
