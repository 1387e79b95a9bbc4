// Tensors in NumPy's files: .npy holds one array, .npz is a zip of .npy members.
// All data types; bf16, which NumPy lacks, is written as uint16 with the same bits, and in a .npz
// the member's zip comment says "tunec:bf16", by which it comes back as bf16.
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
  TensorSpec spec;  // the name is the member's, without .npy; of a .npy file, empty
  Buffer bytes;
};

/// An array to write; `data` holds ByteSize(spec) bytes.
struct NamedArrayView {
  TensorSpec spec;
  const void* data = nullptr;
};

/// Reads stored and deflated members, of both element orders; members that do not end in .npy
/// are left out. Safe on hostile files: sizes and offsets are checked before they are used.
/// kNotFound, kIo, kParse (damaged, two members of one name), kUnsupported (big-endian,
/// structured or complex types, encryption). Messages name the file and the member.
Result<std::vector<NamedArray>> ReadNpz(const std::string& path);
Result<NamedArray> ReadNpy(const std::string& path);

/// Writes beside the path and renames, so that the path never holds half a file. Stored, not
/// compressed; the same arrays give the same bytes. kIo; kUnsupported from 4 GiB on;
/// kInvalidArgument where two arrays have one name.
Status WriteNpz(const std::string& path, std::span<const NamedArrayView> arrays);

}  // namespace tunec
