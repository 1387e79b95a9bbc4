"""The base class of tests in which NVIDIA's programs and driver are missing, real or scripted."""
import os
import shutil
from pathlib import Path

from cli_case import CliTest

# With TUNEC_REQUIRE_PTXAS a missing ptxas is a failure.
PTXAS = any(os.environ.get(name) for name in ("TUNEC_PTXAS", "TUNEC_REQUIRE_PTXAS")) or shutil.which("ptxas")
NVDISASM = os.environ.get("TUNEC_NVDISASM") or shutil.which("nvdisasm")


class CudaTest(CliTest):
    def without_toolkit(self):
        """Makes NVIDIA's programs unavailable."""
        for name in ("TUNEC_PTXAS", "TUNEC_NVDISASM"):
            self.environment.pop(name, None)
        self.environment["PATH"] = self.environment["CUDA_HOME"] = "/nowhere"

    def script_cuda(self, script=""):
        self.environment["TUNEC_LIBCUDA"] = str(Path(self.program_file).parent.parent / "lib/libscripted_cuda.so")
        self.environment["TUNEC_CUDA_SCRIPT"] = script

    def program(self, name, script):
        path = self.dir / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)
