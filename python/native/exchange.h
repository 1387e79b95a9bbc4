// DLPack's table of C functions (`__dlpack_c_exchange_api__` of a tensor's type). Through the
// table, torch passes a tensor in nanoseconds; `__dlpack__` takes microseconds. The structs repeat
// those of DLPack 1.3, because Debian 12 has an older header of DLPack.
#pragma once

#include <Python.h>
#include <tunec/tunec.h>

namespace tunec::python {

struct DlpackVersion {
  uint32_t major;
  uint32_t minor;
};

/// An owned tensor. The owner calls `deleter` when the tensor is no longer needed.
struct DlpackManaged {
  DlpackVersion version;
  void* context;
  void (*deleter)(DlpackManaged* self);
  uint64_t flags;  // bit 0: read only
  DLTensor tensor;
};
inline constexpr uint64_t kDlpackReadOnly = 1;

/// A table of functions, and the table of an older version (null: none). Each function returns 0,
/// or -1 with a Python exception set. `allocate` calls `set_error` instead.
struct DlpackExchange {
  DlpackVersion version;
  const DlpackExchange* previous;
  int (*allocate)(DLTensor* prototype, DlpackManaged** out, void* error_context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*own)(void* object, DlpackManaged** out);
  int (*wrap)(DlpackManaged* tensor, void** out_object);
  /// Borrows a tensor: `object` owns the memory that `out` points to. The function may be null.
  int (*borrow)(void* object, DLTensor* out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

/// Returns the table of the object's type, or null if the type has no table of DLPack's major
/// version 1. Tables are cached per type. The caller holds the interpreter's lock.
const DlpackExchange* ExchangeOf(PyObject* object);

}  // namespace tunec::python
