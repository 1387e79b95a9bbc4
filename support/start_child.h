// The system's part of starting a program: between fork and exec.
#pragma once

#include <sys/types.h>

#include "support/child_process.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

struct StartedChild {
  pid_t process = -1;
  Descriptor watched;  // a descriptor of the process; none where the system has none (Linux < 5.2)
};

/// Returns as soon as the program runs. Errors: kNotFound for what cannot be run, kIo.
Result<StartedChild> StartChild(const ChildStart& start);

}  // namespace tunec
