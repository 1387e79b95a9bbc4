"""Tests of code for GPUs, which is emulated, printed, predicted, or run on a scripted driver."""
import json
import re
import unittest

from cli_case import main
from cuda_case import NVDISASM, PTXAS, CudaTest
from sample_models import GRAPH


class Gpu(CudaTest):
    def test_a_gpu_is_emulated(self):
        path = self.file("g.graph", GRAPH)
        cuda = ("--target", "cuda", "--arch", "sm_90a")
        self.assertIn("ok", self.good("verify", path, *cuda, "--emulate", "--no-db"))
        self.assertIn(".target sm_90a", self.good("show", path, *cuda, "--no-db", "--asm", "0"))
        self.bad(2, "unknown arch 'sm_7', expected one of sm_80, ", "verify", path, "--target", "cuda",
                 "--arch", "sm_7")
        self.bad(2, "arch is for the target cuda", "verify", path, "--arch", "sm_90a")
        self.bad(2, "unknown gpu 'a100' of sm_90a, expected one of h100, ", "verify", path, *cuda, "--gpu", "a100")
        self.bad(2, "gpu is for the target cuda", "verify", path, "--gpu", "h100")

    def test_the_ptx_of_a_gpu_s_kernels(self):
        twice = GRAPH.replace("output y = r", "s = softmax(r) {axis=0}\n  output y = r\n  output z = s")
        path = self.file("g.graph", twice)
        cuda = ("--no-db", "--target", "cuda", "--arch", "sm_86")
        one = self.good("show", path, *cuda, "--ptx", "0")
        self.assertEqual(one, self.good("show", path, *cuda, "--asm", "0"))
        self.assertEqual(one.count(".target sm_86"), 1)
        every = self.good("show", path, *cuda, "--ptx")
        self.assertEqual(re.findall(r"(?m)^// group (\d+)$", every), ["0", "1"])
        self.assertEqual(every.count(".target sm_86"), 2)
        self.assertIn(one, every)
        self.assertEqual(one, self.good("show", path, *cuda, "--emulate", "--ptx", "0"))
        self.bad(2, "--ptx is for the target cuda; a processor's code is --asm", "show", path, "--no-db", "--ptx")
        self.bad(2, "--sass is for the target cuda", "show", path, "--no-db", "--sass", "0")
        self.bad(2, "no group '7'", "show", path, *cuda, "--ptx", "7")

    @unittest.skipUnless(PTXAS and NVDISASM, "no ptxas or no nvdisasm")
    def test_the_machine_code_of_a_gpu_s_kernels(self):
        path = self.file("g.graph", GRAPH)
        for arch, name in (("sm_80", "sm_80"), ("sm_90a", "sm_90a")):
            cuda = ("--no-db", "--target", "cuda", "--arch", arch)
            one = self.good("show", path, *cuda, "--sass", "0")
            self.assertRegex(one, rf"(?m)^\s*\.target\s+{name}$")
            self.assertIn("FFMA", one)
            self.assertEqual("// group 0\n" + one, self.good("show", path, *cuda, "--sass"))
            self.assertEqual(one, self.good("show", path, *cuda, "--emulate", "--sass", "0"))

    def test_the_machine_code_needs_nvidia_s_programs(self):
        path = self.file("g.graph", GRAPH)
        sass = ("show", path, "--no-db", "--target", "cuda", "--arch", "sm_90a", "--sass")
        self.without_toolkit()
        self.bad(2, "no nvdisasm, NVIDIA's disassembler, in PATH or a CUDA toolkit: `pip install "
                    "nvidia-cuda-nvdisasm==13.2.86` installs one; or name its file with TUNEC_NVDISASM", *sass)
        self.environment["TUNEC_NVDISASM"] = self.program("nvdisasm", "echo V13.2.86")
        self.bad(2, "no ptxas, NVIDIA's assembler, in PATH or a CUDA toolkit: `pip install nvidia-cuda-nvcc==13.0.88`",
                 *sass)

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_times_of_a_gpu_are_predicted(self):
        path = self.file("g.graph", GRAPH)
        cuda = ("--target", "cuda", "--arch", "sm_90a", "--no-db")
        seen = self.good(path, *cuda)
        self.assertRegex(seen, r"(?m)^group +kernel +blocks +threads +registers +spilled +shared +occupancy +waves +"
                               r"L2 +memory +predicted +bound$")
        self.assertIn("no time is measured: those above are predicted for h100 (132 processors, 1.98 GHz, 3350 GB/s); "
                      "it is assumed for sm_90a, --gpu names another", seen)
        self.assertNotIn("latency", seen.split("no time is measured")[1])
        self.assertRegex(self.good(path, *cuda, "--gpu", "h200"), r"predicted for h200 .*4800 GB/s\)\n")
        self.assertIn("no times are predicted: no GPU of sm_103 is known",
                      self.good(path, "--target", "cuda", "--arch", "sm_103", "--no-db"))
        report = json.loads(self.good(path, "--json", *cuda))
        self.assertIn("part=h100", report["target"])
        row, = report["predicted"]
        self.assertGreater(row["registers"], 0)
        self.assertEqual((row["group"], row["spilled_bytes"], row["waves"]), (0, 0, 1))
        self.assertGreaterEqual(row["blocks"] * row["threads"], 24 * 56)
        # Loops whose bounds depend on other loops are counted at the middle, so this is estimated.
        self.assertGreaterEqual(row["operations"], 0.9 * 24 * 40 * 56)
        self.assertGreaterEqual(row["l2_bytes"], row["memory_bytes"])
        self.assertGreater(row["predicted_ms"], 0.002)
        self.assertNotIn("each_ms", report["kernels"][0])
        self.assertIsNone(json.loads(self.good(path, "--json", "--no-db"))["predicted"])
        emulated, = json.loads(self.good(path, "--json", *cuda, "--emulate"))["predicted"]
        self.assertIsNone(emulated["predicted_ms"])
        self.assertEqual(emulated["operations"], row["operations"])

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_trials_of_predicted_times(self):
        path = self.file("g.graph", GRAPH)
        cuda = (path, "--target", "cuda", "--arch", "sm_90a")
        seen = self.good(*cuda, "--emulate", "--trials", "50")
        self.assertRegex(seen, r"(?m)^\d+ new trials of predicted times; stopped after \d+ of 50: the budget is spent; "
                               r"\d+ ms each \(compile \d+, check \d+\)$")
        self.assertRegex(seen, r"model \S+ us predicted  elapsed")
        self.assertIn("no time is measured: those above are predicted for h100", seen)
        self.assertNotIn("latency", seen)
        again = json.loads(self.good(*cuda, "--emulate", "--trials", "50", "--json"))
        self.assertEqual((again["trials"]["times"], again["trials"]["new"]), ("predicted", 0))
        self.assertEqual((again["objects_compiled"], again["objects_reused"]), (0, 1))
        kernel, = again["kernels"]
        phase, = again["predicted"]
        self.assertEqual((kernel["schedule"], kernel["recorded_ms"]), ("predicted", None))
        self.assertAlmostEqual(kernel["predicted_ms"], phase["predicted_ms"])
        self.assertNotIn("latency", again)

        task, = json.loads(self.good("db", "list", "--json"))["tasks"]
        self.assertEqual((task["best_ms"], task["gflops_per_second"]), (None, None))
        self.assertAlmostEqual(task["predicted_ms"], kernel["predicted_ms"])
        self.assertRegex(self.good("db", "list"), r"us predicted +- ")
        self.assertRegex(self.good("db", "best"), r"(?m)^# predicted \S+ us, trial ")
        self.assertRegex(self.good("db", "stats"), r"trials (\d+) \(\1 ok, \1 of predicted times\)")

        plain = self.good(*cuda)
        self.assertRegex(plain, r"(?m)^groups tuned: none of 1; by predicted times: 1 \(\d+ trials\)$")
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        self.bad(1, "with --emulate, candidates are ranked by predicted times", *cuda, "--trials", "3")
        self.bad(2, "no GPU of sm_103 is known", path, "--target", "cuda", "--arch", "sm_103", "--emulate",
                 "--trials", "3")
        self.assertIn("they say nothing of a sm_90a", self.tunec("bench", *cuda, "--emulate").stderr)

    def test_a_gpu_that_is_not_there(self):
        path = self.file("g.graph", GRAPH)
        self.environment["TUNEC_LIBCUDA"] = "/nowhere/libcuda.so.1"
        cuda = ("verify", path, "--no-db", "--target", "cuda")
        self.bad(1, "no NVIDIA driver: /nowhere/libcuda.so.1", *cuda, "--arch", "sm_90a")
        nameless = self.bad(1, "no NVIDIA driver: /nowhere/libcuda.so.1", *cuda)
        self.assertIn("name one with arch", nameless.stderr)

    def test_a_gpu_that_cannot_be_used(self):
        path = self.file("g.graph", GRAPH)
        for script, message in (("init 34", "is the CUDA toolkit's stub"),
                                ("init 100", "the NVIDIA driver finds no GPU (error 100)"),
                                ("version 11080", "too old: it supports CUDA 11.8, tunec needs 12.0"),
                                ("missing cuLaunchKernel", "has no cuLaunchKernel"),
                                ("gpu 8 0", "NVIDIA S1 (device 0) has compute capability 8.0")):
            self.script_cuda(script)
            self.bad(1, message, "verify", path, "--no-db", "--target", "cuda", "--arch", "sm_90a")

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_a_gpu_that_fails(self):
        path = self.file("g.graph", GRAPH.replace("input b", "weight b"))
        run = ("run", path, "--no-db", "--random-weights", "1", "--target", "cuda")
        for script, message in (("memory 100", "NVIDIA S1 (device 0) has 100 of 100 bytes free, "),
                                ("memory 100", "are needed: weights 8960, arena "),
                                ("load 200", "cannot load the kernel: CUDA_ERROR_INVALID_IMAGE (200)"),
                                ("load 209", "its driver supports CUDA 13.0: compile for that arch"),
                                ("load 222", "with a ptxas that is not newer"),
                                ("fault 700", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                                ("fault 716", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_MISALIGNED_ADDRESS (716)"),
                                ("fault 719", "NVIDIA S1 (device 0) is lost: CUDA_ERROR_LAUNCH_FAILED (719)")):
            self.script_cuda(script)
            self.bad(1, message, *run)
        self.script_cuda("hang")
        for command in (run, ("bench", *run[1:])):
            self.bad(1, "NVIDIA S1 (device 0) hangs, in a graph of ", *command, "--hang-after", "0.1s")
            self.bad(1, "not done after 0.1 s (driver of CUDA 13.0); end this process to free the GPU, "
                        "and see nvidia-smi; a larger hang_after allows longer runs", *command, "--hang-after", "0.1s")
        self.script_cuda("graph 801")
        noted = self.tunec(*run)
        self.assertEqual(noted.returncode, 0, noted.stderr)
        self.assertIn("note: kernels are launched one by one: NVIDIA S1 (device 0) cannot prepare a graph",
                      noted.stderr)

    @unittest.skipUnless(PTXAS, "no ptxas")
    def test_which_gpu(self):
        path = self.file("g.graph", GRAPH)
        self.script_cuda()
        run = ("run", path, "--no-db")
        cuda = (*run, "--target", "cuda")
        uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
        self.good(*cuda)
        self.good(*cuda, "--device", "0")
        self.good(*cuda, "--device", uuid)
        nowhere = f"this machine has no GPU '7'; it has NVIDIA S1 (device 0), {uuid}"
        self.bad(1, nowhere, *cuda, "--device", "7")
        self.bad(1, nowhere, *cuda, "--arch", "sm_90a", "--device", "7")
        self.bad(1, nowhere, path, "--target", "cuda", "--arch", "sm_90a", "--device", "7", "--trials", "1")
        self.bad(2, "device is for the target cuda", *run, "--device", "0")
        self.bad(2, "hang_after is for the target cuda", *run, "--hang-after", "3s")
        self.bad(2, "emulated kernels run on its processor", *cuda, "--arch", "sm_90a", "--emulate", "--device", "0")


if __name__ == "__main__":
    main()
