"""Tests of models for GPUs. They are compiled by a package's ptxas, run in the emulation, and raise
DeviceError without a GPU."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import numpy as np
import tunec
from tunec._options import _find_ptxas

from models import PRODUCT


class Packages(unittest.TestCase):

    def test_the_ptxas_of_an_installed_package_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            ptxas = Path(folder) / "nvidia/cu13/bin/ptxas"
            ptxas.parent.mkdir(parents=True)
            ptxas.write_text("")
            ptxas.chmod(0o755)
            environment = {name: value for name, value in os.environ.items() if name != "TUNEC_PTXAS"}
            environment["PYTHONPATH"] = os.pathsep.join([folder, *sys.path])
            program = textwrap.dedent("""
                import os
                from tunec._options import options_json
                options_json({"target": "cpu"})
                print("TUNEC_PTXAS" in os.environ)
                options_json({"target": "cuda"})
                print(os.environ["TUNEC_PTXAS"])
            """)
            found = subprocess.run([sys.executable, "-c", program], env=environment, check=True,
                                   stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(found.split(), ["False", str(ptxas)])


class Models(unittest.TestCase):

    def setUp(self):
        _find_ptxas()
        if "TUNEC_PTXAS" not in os.environ:
            if os.environ.get("TUNEC_REQUIRE_PTXAS"):
                self.fail("there is no ptxas")
            self.skipTest("no ptxas: pip install tunec[cuda]")
        random = np.random.default_rng(7)
        self.a = random.standard_normal((48, 96)).astype(np.float32)
        self.b = random.standard_normal((96, 64)).astype(np.float32)

    def test_emulated(self):
        model = tunec.compile(PRODUCT, target="cuda", arch="sm_90a", emulate=True, db=None)
        d, c = model(self.a, self.b)
        np.testing.assert_allclose(c, self.a @ self.b, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(d, np.maximum(c, 0))

    def test_for_gpus_that_are_not_here(self):
        for arch in ("sm_80", "sm_100a"):
            model = tunec.compile(PRODUCT, target="cuda", arch=arch, db=None)
            self.assertIn(arch, model.report["target"])
            with self.assertRaises(tunec.DeviceError):
                model(self.a, self.b)


if __name__ == "__main__":
    unittest.main()
