#!/usr/bin/env python3
"""Programs whose results races spoil: wrong without cuward, right under enforce in 1000 of 1000 runs."""

import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tool import Tool  # noqa: E402

BUILD = pathlib.Path(os.environ["CUWARD_BUILD"])
DEVICE = os.environ.get("CUWARD_DEVICE", "sim")
APPS = pathlib.Path(os.environ.get("CUWARD_APPS", BUILD / "apps")) / "shared"
PROCESSES, ROUNDS = 10, 100


class Results(unittest.TestCase):
    def setUp(self):
        self.tool = Tool(os.environ["CUWARD"], DEVICE, BUILD, timeout=300)

    def right_of(self, outcome):
        """Of each race, how many rounds had the right result."""
        self.assertEqual(outcome.status, 0, outcome.stderr)
        rights = dict(re.findall(r"^([a-z-]+): (\d+) of", outcome.stdout, re.MULTILINE))
        return {race: int(right) for race, right in rights.items()}

    def enforce(self, program, *options, **extra):
        return self.tool.check([APPS / program, str(ROUNDS)], options, extra, how="enforce")

    def check_pair(self, program, **extra):
        """Wrong without cuward, right under enforce, and no wait in the corrected twin."""
        bare = self.right_of(self.tool.bare([APPS / program, str(ROUNDS)], extra))
        self.assertTrue(bare)
        for race, right in bare.items():
            self.assertLess(right, ROUNDS, f"{race} does not spoil its result")
        for options in ((), ("--enforce-exact",), ("--enforce-all",), ("--backend", "async")):
            with self.subTest(options=options):
                outcome = self.enforce(program, *options, **extra)
                self.assertEqual(self.right_of(outcome), dict.fromkeys(bare, ROUNDS))
                self.assertRegex(outcome.stderr, "(all|1 race,) repaired")
        outcome = self.enforce(f"{program}.fixed", **extra)
        self.assertEqual(set(self.right_of(outcome).values()), {ROUNDS})
        self.assertEqual((outcome.report["findings"], outcome.report["summary"]["waits"]), ([], 0))

    def test_repaired_results(self):
        """10 processes of 100 rounds each, one way to enforce after the other; each race in each round."""
        bare = self.right_of(self.tool.bare([APPS / "spoilt_results", str(ROUNDS)]))
        self.assertEqual(len(bare), 12)
        for race, right in bare.items():
            self.assertLess(right, ROUNDS, f"{race} does not spoil its result")
        for options in ((), ("--enforce-exact",), ("--enforce-all",)):
            for _ in range(PROCESSES):
                outcome = self.enforce("spoilt_results", *options)
                self.assertEqual(self.right_of(outcome), dict.fromkeys(bare, ROUNDS), options)
                self.assertIn("all repaired", outcome.stderr)

    def test_correct_program_gets_no_wait(self):
        for options in ((), ("--enforce-exact",)):
            outcome = self.enforce("spoilt_results.fixed", *options)
            self.assertEqual(set(self.right_of(outcome).values()), {ROUNDS})
            self.assertEqual(outcome.report["findings"], [])
            self.assertEqual(outcome.report["summary"]["waits"], 0)

    @unittest.skipIf(DEVICE != "sim", "needs two devices")
    def test_two_devices(self):
        self.check_pair("spoilt_on_two_devices", SIMGPU_DEVICES="2")

    def test_forks_repaired(self):
        self.check_pair("spoilt_in_forks")

    def test_threads_repaired(self):
        self.check_pair("spoilt_by_threads")


if __name__ == "__main__":
    unittest.main(verbosity=2)
