// The command tunec as a function, shared by several executables.
#pragma once

namespace tunec {

/// Runs the command. Returns the exit code.
int RunTunec(int argc, char** argv);

}  // namespace tunec
