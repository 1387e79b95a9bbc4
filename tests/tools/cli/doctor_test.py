"""Tests of doctor on this machine, with a GPU, without one, and with a broken driver."""
import json
import re
import shutil
import tempfile

from cli_case import main
from cuda_case import CudaTest


class Doctor(CudaTest):
    ceilings = None  # a database with this machine's ceilings

    def doctor(self, code, program=None):
        """Runs doctor and expects the exit code. Returns the JSON report, and its checks by their
        names. The first call measures ceilings for all tests, because this takes seconds."""
        if Doctor.ceilings is None:
            folder = tempfile.TemporaryDirectory(prefix="tunec-cli-")
            self.addClassCleanup(folder.cleanup)
            Doctor.ceilings = folder.name + "/ceilings.db"
            self.tunec("doctor", "--measure", "--db", Doctor.ceilings, "--threads", "1")
        done = self.tunec("doctor", "--db", Doctor.ceilings, "--threads", "1", "--json", program=program)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        report = json.loads(done.stdout)
        return report, {row["what"]: row for row in report["checks"]}

    def test_doctor_without_gpu_and_toolkit(self):
        self.without_toolkit()
        self.environment["TUNEC_LIBCUDA"] = ""
        report, checks = self.doctor(0)
        if report["gpus"]:
            self.skipTest("this machine has a GPU")
        self.assertIn("no NVIDIA driver: libcuda.so.1", checks["driver"]["found"])
        self.assertIn("pip install nvidia-cuda-nvcc==13.0.88", checks["ptxas"]["found"])
        self.assertIn("pip install nvidia-cuda-nvdisasm==13.2.86", checks["nvdisasm"]["found"])
        self.assertTrue(all(row["ok"] for row in checks.values()))
        self.assertEqual(set(report["cuda"].values()), {None})

    def test_an_assembler_beside_tunec_comes_first(self):
        self.without_toolkit()
        self.script_cuda()
        self.environment["PATH"] = str(self.dir)
        self.program("ptxas", "echo V13.0.87")
        (self.dir / "packed/bin").mkdir(parents=True)
        tunec = shutil.copy(self.program_file, self.dir / "packed/bin/tunec")
        self.program("packed/bin/tunec-worker", "exit 0")
        beside = self.program("packed/bin/ptxas", "echo V13.0.88")
        _, checks = self.doctor(0, tunec)
        self.assertEqual(checks["ptxas"]["found"], f"13.0.88, {beside}")

    def test_doctor_of_a_gpu(self):
        self.without_toolkit()
        self.script_cuda()
        report, checks = self.doctor(1)
        self.assertEqual(checks["driver"]["found"], f"CUDA 13.0, {self.environment['TUNEC_LIBCUDA']}")
        self.assertEqual(checks["gpu"]["found"],
                         "NVIDIA S1 (device 0): sm_90a, 132 multiprocessors, 1.00 MiB, 50.0 MiB L2, 227 KiB shared by "
                         "a block, GPU-00010203-0405-0607-0809-0a0b0c0d0e0f")
        gpu, = report["gpus"]
        self.assertEqual([gpu[key] for key in ("number", "name", "capability", "arch", "multiprocessors")],
                         [0, "NVIDIA S1", "9.0", "sm_90a", 132])
        self.assertEqual([gpu[key] for key in ("memory_bytes", "l2_bytes", "shared_bytes")],
                         [1 << 20, 50 << 20, 227 << 10])
        # A GPU cannot be used without an assembler.
        self.assertEqual([what for what, row in checks.items() if not row["ok"]], ["ptxas"])
        self.environment["TUNEC_PTXAS"] = ptxas = self.program("ptxas", "echo Cuda compilation tools, V13.0.88")
        self.environment["TUNEC_NVDISASM"] = nvdisasm = self.program("nvdisasm", "echo V13.2.86")
        report, checks = self.doctor(0)
        self.assertEqual(checks["ptxas"]["found"], f"13.0.88, {ptxas}")
        self.assertEqual(report["cuda"], {"driver": self.environment["TUNEC_LIBCUDA"], "cuda_version": "13.0",
                                          "ptxas": ptxas, "ptxas_version": "13.0.88",
                                          "nvdisasm": nvdisasm, "nvdisasm_version": "13.2.86"})

    def test_doctor_says_what_is_wrong_with_a_driver(self):
        self.environment["TUNEC_PTXAS"] = self.program("ptxas", "echo V13.0.88")
        self.environment["TUNEC_NVDISASM"] = self.program("nvdisasm", "echo V13.2.86")
        for script, what, message in (
                ("init 34", "driver", "is the CUDA toolkit's stub"),
                ("init 100", "driver", "the NVIDIA driver finds no GPU (error 100)"),
                ("version 11080", "driver", "too old: it supports CUDA 11.8, tunec needs 12.0"),
                ("gpu 7 5", "gpu", "no code is generated for NVIDIA S1 (device 0), whose compute capability is 7.5"),
                ("version 12040", "ptxas", "is ahead of the driver, of CUDA 12.4, which may reject its code")):
            with self.subTest(script):
                self.script_cuda(script)
                report, checks = self.doctor(1)
                self.assertIn(message, checks[what]["found"])
                self.assertEqual([name for name, row in checks.items() if not row["ok"]], [what])
                self.assertEqual(report["problems"], 1)
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        _, checks = self.doctor(1)
        self.assertFalse(checks["driver"]["ok"])

    def test_doctor_rejects_a_ptxas_of_wrong_code(self):
        self.script_cuda()
        self.environment["TUNEC_NVDISASM"] = "/nowhere/nvdisasm"
        self.environment["TUNEC_PTXAS"] = ptxas = self.program("ptxas", "echo Cuda compilation tools, V12.3.107")
        report, checks = self.doctor(1)
        self.assertEqual(checks["ptxas"]["found"],
                         "ptxas 12.3.107 is known to write wrong code, expected 12.6.85 or later "
                         f"({ptxas}); name another one with TUNEC_PTXAS")
        self.assertEqual(checks["nvdisasm"]["found"],
                         "TUNEC_NVDISASM names '/nowhere/nvdisasm', which is not an executable program")
        self.assertEqual((report["problems"], report["cuda"]["ptxas"]), (2, None))

    def test_doctor_only_looks(self):
        self.good("doctor")
        self.assertFalse((self.dir / "cache" / "tunec").exists())
        self.good("doctor", "--measure")
        before = (self.dir / "cache" / "tunec/tunec.db").read_bytes()
        seen = self.good("doctor")
        self.assertIn("0 workloads", seen)
        self.assertRegex(seen, r"(?m)^arithmetic +\d.*FLOP/s f64 multiply-adds")
        # Every tile that the line of tiles does not list as lacking has a ceiling.
        tiles = re.search(r"(?m)^tiles +(.*)", seen)[1].split(", ")
        for tile in (tile for tile in tiles if "lacks" not in tile and not tile.startswith("fma.")):
            self.assertRegex(seen, rf"(?m)^arithmetic +\d.*OP/s .* multiply-adds \({re.escape(tile)}\)")
        self.assertEqual((self.dir / "cache" / "tunec/tunec.db").read_bytes(), before)
        self.bad(1, "1 problem found", "doctor", "--db", "nowhere.db")
        self.assertFalse((self.dir / "nowhere.db").exists())


if __name__ == "__main__":
    main()
