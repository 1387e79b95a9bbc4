// A function that starts a program in a child process.
#pragma once

#include <sys/types.h>

#include "support/child_process.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

struct StartedChild {
  pid_t process = -1;
  Descriptor watched;  // a descriptor of the process; empty on Linux < 5.2
};

/// Starts the program and returns as soon as the program runs. Errors: kNotFound if the program
/// cannot be run, kIo if no process or descriptor can be made.
Result<StartedChild> StartChild(const ChildStart& start);

}  // namespace tunec
