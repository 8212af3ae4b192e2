#!/usr/bin/env python3
"""scripts/driver-api against the toolkit in use, and against toolkits that are older or newer than the table.
usage: driver_api_test.py DRIVER_API INCLUDE_DIR..."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT, *INCLUDE = sys.argv[1:]
LAST = "    CUPTI_DRIVER_TRACE_CBID_SIZE "


def header(name):
    return next(path for path in (pathlib.Path(folder, name) for folder in INCLUDE) if path.exists()).read_text()


class DriverApi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, *arguments):
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)

    def coverage_of_toolkit(self, version, ids):
        """Of a toolkit with these callback ids and no functions beyond them."""
        (self.folder / "cuda.h").write_text(f"#define CUDA_VERSION {version}\n")
        (self.folder / "cupti_driver_cbid.h").write_text(ids)
        return self.run_script("coverage", "--include", str(self.folder))

    def test_every_function_of_the_toolkit_is_in_the_table(self):
        outcome = self.run_script("coverage", "--include", *INCLUDE)
        print(outcome.stdout)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertIn("= 100 %", outcome.stdout)

    def test_what_a_newer_toolkit_adds_is_named(self):
        newer = header("cupti_driver_cbid.h").replace(LAST, f"    CUPTI_DRIVER_TRACE_CBID_cuNew_ptsz = 9999,\n{LAST}")
        outcome = self.coverage_of_toolkit(14000, newer)
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("not in the table: cuNew_ptsz\n", outcome.stdout)

    def test_what_a_toolkit_should_have_and_has_not_is_named(self):
        lacking = re.sub(r".*_cuMemAlloc_v2 .*\n", "", header("cupti_driver_cbid.h"))
        outcome = self.coverage_of_toolkit(14000, lacking)
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("not in the toolkit: cuMemAlloc_v2\n", outcome.stdout)

    def test_what_an_older_toolkit_lacks_is_left_out(self):
        older = re.sub(r".*_cuStreamGetDevice.*\n", "", header("cupti_driver_cbid.h"))  # new in 12.8
        outcome = self.coverage_of_toolkit(12060, older)
        self.assertNotIn("cuStreamGetDevice", outcome.stdout)
        lists = self.folder / "lists"
        self.assertEqual(self.run_script("generate", str(lists), "--include", str(self.folder)).returncode, 0)
        functions = (lists / "functions.inc").read_text()
        self.assertIn('FUNCTION(cuStreamGetFlags_ptsz, "cuStreamGetFlags")', functions)
        self.assertNotIn("cuStreamGetDevice", functions)

    def test_decoders_and_hooks_are_in_the_lists(self):
        lists = self.folder / "lists"
        self.assertEqual(self.run_script("generate", str(lists), "--include", *INCLUDE).returncode, 0)
        decoders = (lists / "decoders.inc").read_text()
        self.assertIn('DECODED(cuLaunchKernel, "cuLaunchKernel", Legacy, LaunchKernel)', decoders)
        self.assertIn('DECODED(cuLaunchKernel_ptsz, "cuLaunchKernel", PerThread, LaunchKernel)', decoders)
        self.assertIn("HOOK(cuMemAlloc_v2, cuMemAlloc, 3020, None)", (lists / "hooks.inc").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
