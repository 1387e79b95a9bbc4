// What goes wrong in a call of the C interface, as Python's exceptions.
#pragma once

#include <tunec/tunec.h>

#include <string>

namespace tunec::python {

/// Throws the exception of tunec/_errors.py that belongs to `status`, for nanobind to raise.
[[noreturn]] void Raise(int status, const std::string& message);

/// Raises what the latest call failed with, unless `status` is TUNEC_OK.
void Check(int status);

}  // namespace tunec::python
