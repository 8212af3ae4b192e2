#!/usr/bin/env python3
"""What cuward does for people beyond the findings: ends, errors, odd surroundings, memory. One test a case."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from run_apps import source_of  # noqa: E402
from expectation import read_markers  # noqa: E402
from tool import Tool, innermost_line, with_sanitizer  # noqa: E402

CUWARD = pathlib.Path(os.environ["CUWARD"])
BUILD = pathlib.Path(os.environ["CUWARD_BUILD"])
LIBRARY = BUILD / "lib/libcuward.so"
APPS = BUILD / "apps/shared"


def kinds(report):
    return sorted(finding["kind"] for finding in report["findings"])


class Case(unittest.TestCase):
    def setUp(self):
        self.tool = Tool(CUWARD, "sim", BUILD, timeout=600)
        folder = tempfile.TemporaryDirectory(prefix="cuward-test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "logs"
        self.logs.mkdir()

    def preloaded(self, **extra):
        """The environment of a program that runs under the library without the wrapper."""
        return {"LD_PRELOAD": str(LIBRARY), "CUWARD_LOG_DIR": str(self.logs), **extra}

    def log_files(self):
        return sorted(self.logs.glob("cuward.*.jsonl"))

    def report_of(self, *paths):
        outcome = self.tool.report(*paths, "--format", "json")
        self.assertEqual(outcome.status, 0, outcome.stderr)
        return json.loads(outcome.stdout)

    def one_line(self, text):
        lines = text.strip().splitlines()
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def kill_soon(self, seconds):
        """Starts the endless program under the library and kills it some time after it has begun."""
        program = subprocess.Popen([APPS / "runs_until_killed"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=self.tool.environment_for_bare(self.preloaded()))
        self.assertEqual(program.stdout.readline(), b"looping\n")
        time.sleep(seconds)
        program.kill()
        program.stdout.close()
        self.assertEqual(program.wait(), -signal.SIGKILL)


class Ends(Case):
    def test_killed(self):
        markers = read_markers(source_of("runs_until_killed"))
        for _ in range(5):
            self.kill_soon(random.uniform(0, 0.4))
            report = self.report_of(self.log_files()[-1])
            self.assertIn("race", kinds(report))
            places = {innermost_line(finding["block"]["allocated"]["stack"])
                      for finding in report["findings"] if finding["kind"] == "leak"}
            self.assertIn(("runs_until_killed.cu", markers["LEAK"]), places)
            self.assertFalse(report["processes"][0]["complete"])
            self.assertTrue(report["processes"][0]["remarks"])
            for log in self.log_files():
                log.unlink()

    def test_killed_under_wrapper(self):
        command = [CUWARD, "check", "--device", "sim", "--", APPS / "runs_until_killed"]
        wrapper = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.tool.environment)
        self.assertEqual(wrapper.stdout.readline(), b"looping\n")
        children = pathlib.Path(f"/proc/{wrapper.pid}/task/{wrapper.pid}/children").read_text().split()
        for child in children:
            if os.readlink(f"/proc/{child}/exe").endswith("runs_until_killed"):
                os.kill(int(child), signal.SIGKILL)
        _, said = wrapper.communicate(timeout=60)
        self.assertEqual(wrapper.returncode, 128 + signal.SIGKILL)
        self.assertIn("race", said.decode())
        self.assertIn("leak", said.decode())

    def test_log_cut_anywhere(self):
        self.check_cuts()

    def test_log_of_repairs_cut_anywhere(self):
        self.check_cuts(CUWARD_MODE="enforce", CUWARD_ENFORCE="all")

    def check_cuts(self, **environment):
        self.tool.bare([APPS / "demo"], self.preloaded(**environment))
        whole = self.log_files()[0].read_bytes()
        complete = self.report_of(self.log_files()[0])
        self.assertTrue(complete["processes"][0]["complete"])
        cut = self.folder / "cuward.cut.1.jsonl"
        line_ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
        for at in sorted({0, 1, len(whole) - 1, *random.sample(range(len(whole)), 25), *random.sample(line_ends, 10)}):
            with self.subTest(bytes=at):
                cut.write_bytes(whole[:at])
                outcome = self.tool.report(cut, "--format", "json")
                self.assertEqual(outcome.status, 0, outcome.stderr)
                report = json.loads(outcome.stdout)
                processes = report["processes"]
                says_so = report["remarks"] or any(process["remarks"] for process in processes)
                # A log that lacks its last newline lacks nothing.
                self.assertTrue(says_so or (at == len(whole) - 1 and processes[0]["complete"]))

    def test_exit_status(self):
        for how, status, expected in (("return", 3, 3), ("exit-in-thread", 4, 4), ("quick", 5, 5),
                                      ("signal", signal.SIGTERM, 128 + signal.SIGTERM)):
            with self.subTest(how=how):
                outcome = self.tool.check([APPS / "exit_status", how, str(int(status))],
                                          stdin=None, input="hello\n")
                self.assertEqual(outcome.status, expected, outcome.stderr)
                self.assertEqual(outcome.stdout, "read hello\n")
                self.assertEqual(kinds(outcome.report), ["leak"])

    def test_error_exitcode(self):
        status = self.tool.check([APPS / "leak_in_loop"], ["--error-exitcode", "42"]).status
        self.assertEqual(status, 42)
        status = self.tool.check([APPS / "leak_in_loop.fixed"], ["--error-exitcode", "42"]).status
        self.assertEqual(status, 0)
        status = self.tool.check([APPS / "leak_in_loop"], ["--error-exitcode", "42", "--leak-check", "no"]).status
        self.assertEqual(status, 0)
        # Possible races are no errors.
        status = self.tool.check([APPS / "halves_by_kernel"], ["--error-exitcode", "42"]).status
        self.assertEqual(status, 0)

    def test_summary_without_wrapper(self):
        bare = self.tool.bare([APPS / "demo"])
        watched = self.tool.bare([APPS / "demo"], self.preloaded())
        self.assertEqual((watched.status, watched.stdout), (bare.status, bare.stdout))
        for words in ("race RAW", "use-after-free", "3 blocks"):
            self.assertIn(words, watched.stderr)
        self.assertLess(len(watched.stderr.splitlines()), 25)
        self.assertEqual(len(self.log_files()), 1)


class Errors(Case):
    def test_bad_command_lines(self):
        app = APPS / "demo"
        for arguments in (["check", "--no-such-option", "--", app], ["check", "--device", "tpu", "--", app],
                          ["check", "--error-exitcode", "x", "--", app], ["check"], ["check", "--", "/no/such/program"],
                          ["check", "--", "no-such-program"], ["no-such-command"], ["--no-such-option"],
                          ["check", "--report-json", "/no/such/folder/report.json", "--", app]):
            with self.subTest(arguments=arguments):
                outcome = self.tool.run([CUWARD, *arguments], self.tool.environment)
                self.assertEqual(outcome.status, 2)
                self.assertEqual(outcome.stdout, "")
                self.assertTrue(self.one_line(outcome.stderr).startswith("cuward: "))

    def test_unwritable_log_folder(self):
        bare = self.tool.bare([APPS / "leak_in_loop"])
        checked = self.tool.check([APPS / "leak_in_loop"], ["--log-dir", "/dev/null/logs"])
        self.assertEqual((checked.status, checked.stdout), (bare.status, bare.stdout))
        self.assertIn("/dev/null/logs", self.one_line(checked.stderr))
        watched = self.tool.bare([APPS / "leak_in_loop"], self.preloaded(CUWARD_LOG_DIR="/dev/null/logs"))
        self.assertEqual((watched.status, watched.stdout), (bare.status, bare.stdout))
        self.assertIn("/dev/null/logs", watched.stderr)
        self.assertLessEqual(len(watched.stderr.splitlines()), 3)

    def test_no_cupti(self):
        libraries = self.folder / "without-cupti"
        libraries.mkdir()
        for name in ("libcuda.so.1", "libcudart.so.13"):
            (libraries / name).symlink_to((BUILD / "simgpu/lib" / name).resolve())
        extra = self.preloaded(CUWARD_CUPTI="/no/such/libcupti.so", CUWARD_SUMMARY="0")
        environment = {**self.tool.environment, **extra, "LD_LIBRARY_PATH": str(libraries)}
        bare = self.tool.bare([APPS / "demo"])
        watched = self.tool.run([APPS / "demo"], with_sanitizer(environment))
        self.assertEqual((watched.status, watched.stdout), (bare.status, bare.stdout))
        self.assertIn("CUPTI", self.one_line(watched.stderr))
        report = self.report_of(self.log_files()[0])
        self.assertIn("leak", kinds(report))
        self.assertTrue(any("CUPTI" in remark for remark in report["processes"][0]["remarks"]))


class Surroundings(Case):
    def test_newer_driver(self):
        """Functions that cuward does not know are named once each, however often they are used."""
        bare = self.tool.bare([APPS / "newer_function"])
        watched = self.tool.bare([APPS / "newer_function"], self.preloaded(CUWARD_SUMMARY="0"))
        self.assertEqual(watched, bare)
        self.assertEqual(bare.stdout, "done\n")
        records = [json.loads(line) for line in self.log_files()[0].read_text().splitlines()]
        unknown = [(record["name"], record["called"]) for record in records if record["r"] == "unknown-function"]
        self.assertEqual(unknown, [("cuSimgpuNewer", False), ("cuSimgpuNewer", True)])
        report = self.report_of(self.log_files()[0])
        self.assertEqual(report["findings"], [])
        self.assertIn("cuSimgpuNewer", self.one_line("\n".join(report["processes"][0]["remarks"])))

    def test_program_without_cuda(self):
        for command in (["/bin/true"], ["/bin/sh", "-c", "echo hello; exit 7"], [sys.executable, "-c", "print(1)"]):
            with self.subTest(command=command):
                bare = self.tool.run(command, self.tool.environment)
                watched = self.tool.bare(command, self.preloaded())
                self.assertEqual(watched, bare)
                self.assertEqual(self.log_files(), [])

    def test_forks(self):
        outcome = self.tool.check([APPS / "forks"])
        self.assertEqual((outcome.status, outcome.stdout), (0, "done\n"), outcome.stderr)
        self.assertEqual(len(outcome.report["processes"]), 2)
        self.assertEqual(sorted(finding["leaked_bytes"] for finding in outcome.report["findings"]), [1000, 2000])

    def test_other_preloaded_library(self):
        other = BUILD / "apps/libother_preload.so"
        bare = self.tool.bare([APPS / "raw_kernels"], {"LD_PRELOAD": str(other)})
        self.assertEqual(bare.stdout, "seen by the other library:\ndone\n")
        for order in (f"{other}:{LIBRARY}", f"{LIBRARY}:{other}"):
            with self.subTest(order=order):
                watched = self.tool.bare([APPS / "raw_kernels"], self.preloaded(LD_PRELOAD=order))
                self.assertEqual((watched.status, watched.stdout), (bare.status, bare.stdout))
                self.assertEqual(kinds(self.report_of(self.log_files()[0])), ["race"])
                self.log_files()[0].unlink()
        checked = self.tool.check([APPS / "raw_kernels"], extra={"LD_PRELOAD": str(other)})
        self.assertEqual((checked.status, checked.stdout), (bare.status, bare.stdout))
        self.assertEqual(kinds(checked.report), ["race"])

    def test_logs_are_kept(self):
        self.tool.check([APPS / "leak_in_loop"], ["--log-dir", self.logs])
        self.tool.check([APPS / "raw_kernels"], ["--log-dir", self.logs])
        self.assertEqual(len(self.log_files()), 2)
        self.assertEqual(kinds(self.report_of(self.logs)), ["leak", "race"])


class Memory(Case):
    def assert_little_memory(self, used, limit, unit):
        """Except with a sanitizer, whose shadow and quarantine would be counted."""
        if not os.environ.get("CUWARD_SANITIZER"):
            self.assertLess(used, limit, unit)

    def test_launch_loop(self):
        """No growth, however long a program runs. CUWARD_TEST_LAUNCHES sets how long that is."""
        launches = int(os.environ.get("CUWARD_TEST_LAUNCHES", 300_000))
        self.tool.timeout = max(600, launches / 10_000)
        outcome = self.tool.check([APPS / "launch_loop", launches], extra={"SIMGPU_KERNEL_US": "0"})
        self.assertEqual((outcome.status, outcome.report["findings"]), (0, []), outcome.stderr)
        early, late = map(int, outcome.stdout.split())
        self.assert_little_memory(late - early, 2048, "KiB more at the end than after a tenth")

    def test_log_does_not_grow(self):
        """A race that happens over and over is one finding: its log is as long as that of a few."""
        self.kill_soon(0)
        short = self.log_files()[0].stat().st_size
        self.log_files()[0].unlink()
        self.kill_soon(2)
        leaks_logged = self.log_files()[0].read_text().count('"r":"alloc"')
        self.assertLess(self.log_files()[0].stat().st_size, short + 4096 + 400 * leaks_logged)

    def test_million_blocks(self):
        blocks = 1_000_000
        bare = self.tool.bare([APPS / "million_blocks", str(blocks)])
        watched = self.tool.bare([APPS / "million_blocks", str(blocks)], self.preloaded())
        self.assertEqual((bare.status, watched.status), (0, 0), bare.stderr + watched.stderr)
        used = (int(watched.stdout) - int(bare.stdout)) / 1024
        print(f"{blocks} live blocks: {used:.0f} MiB in the tool", file=sys.stderr)
        self.assert_little_memory(used, 400, "MiB")


if __name__ == "__main__":
    unittest.main(verbosity=2)
