// The command tunec as a function, for the executable and for the Python package.
#pragma once

namespace tunec {

/// Runs the command. Returns the exit code.
int RunTunec(int argc, char** argv);

}  // namespace tunec
