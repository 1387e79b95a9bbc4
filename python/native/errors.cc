#include "python/native/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tunec::python {

void Raise(int status, const std::string& message) {
  const nb::object error = nb::module_::import_("tunec._errors").attr("error_of")(status, message);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

void Check(int status) {
  if (status != TUNEC_OK) Raise(status, tunec_error_message());
}

}  // namespace tunec::python
