// The conversion of failures of the C interface to Python exceptions.
#pragma once

#include <tunec/tunec.h>

#include <string>

namespace tunec::python {

/// Throws the exception that tunec/_errors.py makes for `status`; nanobind raises it in Python.
[[noreturn]] void Raise(int status, const std::string& message);

/// Raises the exception of `status`, with the message of the thread's latest failed call of the C
/// interface. Does nothing if `status` is TUNEC_OK.
void Check(int status);

}  // namespace tunec::python
