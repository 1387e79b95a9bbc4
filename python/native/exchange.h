// DLPack's table of C functions (`__dlpack_c_exchange_api__` of a tensor's type), by which torch
// hands over a tensor in nanoseconds instead of the microseconds of `__dlpack__`. The layout is
// that of DLPack 1.3, whose header Debian 12 does not have.
#pragma once

#include <Python.h>
#include <tunec/tunec.h>

namespace tunec::python {

struct DlpackVersion {
  uint32_t major;
  uint32_t minor;
};

/// An owned tensor. Who has it calls `deleter` when done.
struct DlpackManaged {
  DlpackVersion version;
  void* context;
  void (*deleter)(DlpackManaged* self);
  uint64_t flags;  // bit 0: read only
  DLTensor tensor;
};
inline constexpr uint64_t kDlpackReadOnly = 1;

/// Each returns 0, or -1 with a Python exception set.
struct DlpackExchange {
  DlpackVersion version;
  const DlpackExchange* previous;
  int (*allocate)(DLTensor* prototype, DlpackManaged** out, void* error_context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*own)(void* object, DlpackManaged** out);
  int (*wrap)(DlpackManaged* tensor, void** out_object);
  /// The object keeps what `out` points to. May be null.
  int (*borrow)(void* object, DLTensor* out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

/// The table of the type of `object`, kept per type; null without one of DLPack's version 1. The
/// interpreter's lock is held.
const DlpackExchange* ExchangeOf(PyObject* object);

}  // namespace tunec::python
