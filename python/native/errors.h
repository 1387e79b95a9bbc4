// The conversion of failures of the C interface to Python exceptions.
#pragma once

#include <tunec/tunec.h>

#include <string>

namespace tunec::python {

/// Throws the exception class of tunec/_errors.py for `status`; nanobind raises it in Python.
[[noreturn]] void Raise(int status, const std::string& message);

/// Raises the error of the thread's latest call of the C interface, unless `status` is TUNEC_OK.
void Check(int status);

}  // namespace tunec::python
