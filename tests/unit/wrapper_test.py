"""scripts/cuward: what it refuses, what it passes through, and where it works from.

usage: wrapper_test.py WRAPPER REPORT_PROGRAM FAKE_LIBRARY DATA_FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WRAPPER, REPORT, LIBRARY, DATA = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])


class WrapperTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuward wrapper "))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.build = self.folder / "build tree"
        for part in ("bin", "lib", "simgpu/lib"):
            (self.build / part).mkdir(parents=True)
        (self.build / "bin/cuward-report").symlink_to(REPORT)
        shutil.copy(LIBRARY, self.build / "lib/libcuward.so")
        (self.build / "simgpu/lib/libcuda.so.1").touch()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "CUWARD_BUILD": str(self.build),
            "TMPDIR": str(self.temporary),
        }

    def start(self, *arguments, wrapper=WRAPPER, **keywords):
        # A session of its own has no terminal, which would send signals to the program itself, and can be
        # ended as a whole.
        process = subprocess.Popen(
            [str(wrapper), *map(str, arguments)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **keywords,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait(timeout=20)

    def run_wrapper(self, *arguments, stdin="", **keywords):
        process = self.start(*arguments, stdin=subprocess.PIPE, **keywords)
        out, err = process.communicate(stdin, timeout=20)
        return process.returncode, out, err

    def check(self, *arguments, **keywords):
        return self.run_wrapper("check", "--device", "gpu", *arguments, **keywords)

    def watch(self, log="every_kind.jsonl"):
        """Lets the fake library write a log, as if the program had used CUDA."""
        self.environment["CUWARD_TEST_LOG"] = str(DATA / log)

    def assert_refused(self, result):
        status, out, err = result
        self.assertEqual(status, 2, err)
        self.assertEqual(out, "")
        self.assertEqual(err.count("\n"), 1, err)

    # ---- refusals, before anything runs

    def test_unknown_options_and_commands_are_refused(self):
        marker = self.folder / "ran"
        run = ["--", "touch", marker]
        for arguments in (
            [],
            ["frobnicate"],
            ["--frobnicate"],
            ["profile", *run],
            ["check"],
            ["enforce"],
            ["enforce", "--frobnicate", *run],
            ["check", "--"],
            ["check", "--frobnicate", *run],
            ["check", "--frobnicate=1", *run],
            ["check", "--enforce-all", *run],
            ["check", "--enforce-exact", *run],
            ["enforce", "--enforce-all=yes", *run],
            ["check", "--backend", "pool", *run],
            ["check", "--backend", "direct,async", *run],
            ["enforce", "--backend=async,direct", *run],
            ["check", "--backend", "--", "touch", marker],
            ["check", "--budget", "0", *run],
            ["check", "--budget", "5X", *run],
            ["check", "--budget", "5G:host", *run],
            ["check", "--budget=", *run],
            ["check", "--budget", "99999999999T", *run],
            ["check", "--quarantine", "1M", *run],
            ["check", "--quarantine", "1M", "--backend", "async", *run],
            ["check", "--quarantine", "much", "--backend", "guard", *run],
            ["check", "--log-memory=1", *run],
            ["check", "--suppressions", "f", *run],
            ["check", "--device", "tpu", *run],
            ["check", "--device"],
            ["check", "--leak-check", "maybe", *run],
            ["check", "--leak-check=", *run],
            ["check", "--error-exitcode", "many", *run],
            ["check", "--error-exitcode", "256", *run],
            ["check", "--pedantic=yes", *run],
            ["check", "--report-json", self.folder / "no/such/file", *run],
            ["report"],
            ["report", "--frobnicate"],
            ["report", self.folder / "missing"],
            ["report", self.folder],
            ["report", DATA / "every_kind.jsonl", "-o", "/no/such/file"],
            ["doctor", "--frobnicate"],
        ):
            with self.subTest(arguments):
                self.assert_refused(self.run_wrapper(*arguments))
                self.assertFalse(marker.exists())

    def test_a_refusal_names_the_option_and_what_it_takes(self):
        for arguments, expected in (
            (["--budget", "5X"], "cuward: --budget is '5X'; it takes a number of bytes like 512M or 8GiB, "
                                 "with :device or :process\n"),
            (["--backend", "direct,async"], "cuward: --backend is 'direct,async'; it takes one of direct and async, "
                                            "not both\n"),
            (["--enforce-all"], "cuward: --enforce-all is an option of cuward enforce\n"),
        ):
            self.assertEqual(self.check(*arguments, "--", "true")[2], expected)

    def test_a_variable_that_is_not_understood_is_refused(self):
        self.environment["CUWARD_BUDGET"] = "plenty"
        result = self.check("--", "true")
        self.assert_refused(result)
        self.assertTrue(result[2].startswith("cuward: CUWARD_BUDGET is 'plenty'"), result[2])
        status, out, _ = self.run_wrapper("doctor")
        self.assertEqual(status, 1)
        self.assertIn("problem  settings", out)

    def test_a_missing_program_is_refused(self):
        not_executable = self.folder / "plain file"
        not_executable.touch()
        for program in ("no-such-program", "/no/such/program", not_executable, self.folder, ""):
            with self.subTest(program):
                self.assert_refused(self.check("--", program))

    def test_a_library_not_built_is_refused(self):
        (self.build / "lib/libcuward.so").unlink()
        self.assert_refused(self.check("--", "true"))

    def test_a_missing_simulated_device_is_refused(self):
        (self.build / "simgpu/lib/libcuda.so.1").unlink()
        self.assert_refused(self.run_wrapper("check", "--device", "sim", "--", "true"))

    # ---- what passes through

    def test_the_program_keeps_input_output_arguments_and_status(self):
        status, out, err = self.check("--", "sh", "-c", 'cat; printf "<%s>" "$@"; echo e >&2; exit 7', "sh",
                                      "a b", "", "*", stdin="input")
        self.assertEqual((status, out), (7, "input<a b><><*>"))
        self.assertTrue(err.startswith("e\n"), err)

    def test_a_program_without_cuda_gets_one_line(self):
        status, _, err = self.check("--", "true")
        self.assertEqual(status, 0)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("never used CUDA", err)

    def test_death_by_signal_gives_128_and_the_signal(self):
        for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM):
            status, _, err = self.check("--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(status, 128 + number)
            self.assertEqual(err.count("\n"), 1, err)

    def test_signals_reach_the_program(self):
        script = "trap 'echo got; exit 5' {}; echo ready; while :; do sleep 0.05; done"
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            with self.subTest(number):
                process = self.start("check", "--device", "gpu", "--", "sh", "-c",
                                     script.format(number.name[3:]))
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                out, _ = process.communicate(timeout=20)
                self.assertEqual((process.returncode, out), (5, "got\n"))

    def test_the_program_may_still_be_interrupted(self):
        process = self.start("check", "--device", "gpu", "--", "sh", "-c", "echo ready; exec sleep 60")
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 128 + signal.SIGINT)

    def test_an_interrupted_group_gives_the_programs_status(self):
        process = self.start("check", "--device", "gpu", "--", "sh", "-c", "echo ready; exec sleep 60")
        process.stdout.readline()
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 128 + signal.SIGINT)

    def test_an_ignored_signal_stays_ignored(self):
        ignored = subprocess.run(
            ["sh", "-c", 'trap "" INT; exec "$@"', "sh", WRAPPER, "check", "--device", "gpu", "--", "sh", "-c",
             "kill -INT $$; echo survived"],
            env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ignored.stdout, "survived\n")

    def test_other_preloads_and_library_paths_are_kept(self):
        self.environment["LD_PRELOAD"] = "libm.so.6"
        # A sanitized report program would not start behind another library.
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        self.environment["LD_LIBRARY_PATH"] = "/mine"
        _, out, _ = self.run_wrapper("check", "--device", "sim", "--", "sh", "-c",
                                     'echo "$LD_PRELOAD"; echo "$LD_LIBRARY_PATH"')
        preload, libraries = out.splitlines()
        self.assertTrue(preload.endswith("/libcuward.so:libm.so.6"), preload)
        self.assertEqual(libraries, f"{self.build}/simgpu/lib:/mine")

    def test_the_library_gets_its_environment(self):
        _, out, _ = self.check("--log-dir", "logs", "--", "sh", "-c",
                               'cd /; echo "$CUWARD_SUMMARY $CUWARD_LOG_DIR"', cwd=self.folder)
        self.assertEqual(out, f"0 {self.folder}/logs\n")

    def settings(self, *arguments):
        """The variables that say what the user asked for, as the program gets them."""
        _, out, err = self.run_wrapper(*arguments, "--", "env")
        names = ("MODE", "ENFORCE", "ENFORCE_EXACT", "BACKEND", "BUDGET", "GUARD_QUARANTINE", "LOG_MEMORY")
        found = dict(line.split("=", 1) for line in out.splitlines() if line.startswith("CUWARD_"))
        return {name: found[f"CUWARD_{name}"] for name in names if f"CUWARD_{name}" in found}, err

    def test_options_become_variables(self):
        device = ("--device", "gpu")
        for arguments, expected in (
            (["check"], {"MODE": "check"}),
            (["enforce"], {"MODE": "enforce"}),
            (["enforce", "--enforce-all"], {"MODE": "enforce", "ENFORCE": "all"}),
            (["enforce", "--enforce-exact"], {"MODE": "enforce", "ENFORCE_EXACT": "1"}),
            (["check", "--backend", "direct"], {"MODE": "check", "BACKEND": "direct"}),
            (["enforce", "--backend=guard,async"], {"MODE": "enforce", "BACKEND": "guard,async"}),
            (["check", "--budget", "512MiB:process", "--log-memory"],
             {"MODE": "check", "BUDGET": "512MiB:process", "LOG_MEMORY": "1"}),
            (["check", "--backend", "guard", "--quarantine", "1G"],
             {"MODE": "check", "BACKEND": "guard", "GUARD_QUARANTINE": "1G"}),
        ):
            with self.subTest(arguments):
                found, err = self.settings(arguments[0], *device, *arguments[1:])
                self.assertEqual(found, expected, err)

    def test_variables_of_the_caller_count_where_no_option_is_given(self):
        self.environment.update(CUWARD_BACKEND="guard", CUWARD_BUDGET="1G", CUWARD_MODE="enforce", CUWARD_ENFORCE="all")
        found, err = self.settings("check", "--device", "gpu", "--budget", "2G", "--quarantine", "1M")
        self.assertEqual(found, {"MODE": "check", "ENFORCE": "all", "BACKEND": "guard", "BUDGET": "2G",
                                 "GUARD_QUARANTINE": "1M"}, err)

    def test_a_program_with_an_equals_sign_in_its_name(self):
        program = self.folder / "a=b"
        program.write_text("#!/bin/sh\necho ran $1\n")
        program.chmod(0o755)
        self.assertEqual(self.check("--", program, "x")[1], "ran x\n")

    # ---- logs and reports

    def test_a_folder_that_cannot_be_written_costs_one_line_and_the_program_runs(self):
        for folder in ("/dev/null/logs", "/proc/logs"):
            status, out, err = self.check("--log-dir", folder, "--", "sh", "-c", 'echo ran$LD_PRELOAD; exit 4')
            self.assertEqual((status, out), (4, "ran\n"))
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn("unwatched", err)

    def test_the_report_goes_to_standard_error_and_json_to_its_file(self):
        self.watch()
        result = self.folder / "report.json"
        status, out, err = self.check("--report-json", result, "--", "echo", "out")
        self.assertEqual((status, out), (0, "out\n"))
        self.assertIn("use-after-free", err)
        expected = json.loads((DATA / "every_kind.json").read_text())
        self.assertEqual(json.loads(result.read_text())["summary"], expected["summary"])

    def test_json_of_an_earlier_run_does_not_stay(self):
        result = self.folder / "report.json"
        result.write_text("old")
        self.check("--report-json", result, "--", "true")
        self.assertFalse(result.exists())

    def test_options_reach_the_report(self):
        self.watch()
        _, _, err = self.check("--show-possible", "--pedantic", "--leak-check=no", "--", "true")
        self.assertIn("(WAW, possible)", err)
        self.assertIn("relies-on-implicit-sync", err)
        self.assertIn("leaks were not looked for", err)

    def test_findings_change_the_status_only_on_request(self):
        self.watch()
        self.assertEqual(self.check("--", "sh", "-c", "exit 3")[0], 3)
        self.assertEqual(self.check("--error-exitcode", "42", "--", "sh", "-c", "exit 3")[0], 42)
        self.assertEqual(self.check("--error-exitcode=0", "--", "sh", "-c", "exit 3")[0], 0)
        self.assertEqual(self.check("--error-exitcode", "42", "--", "sh", "-c", "kill -SEGV $$")[0], 139)
        del self.environment["CUWARD_TEST_LOG"]
        self.assertEqual(self.check("--error-exitcode", "42", "--", "sh", "-c", "exit 3")[0], 3)

    def test_a_job_that_is_to_fail_on_findings_does_not_pass_unwatched(self):
        unwatched = ("--log-dir", "/proc/logs", "--error-exitcode", "42", "--")
        self.assertEqual(self.check(*unwatched, "true")[0], 42)
        self.assertEqual(self.check(*unwatched, "sh", "-c", "exit 3")[0], 3)

    def test_temporary_logs_are_removed(self):
        self.watch()
        self.check("--", "true")
        self.check("--", "sh", "-c", "kill -9 $$")
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_kept_logs_of_earlier_runs_are_not_reported_again(self):
        self.watch()
        logs = self.folder / "kept logs"
        self.check("--log-dir", logs, "--", "true")
        kept = list(logs.glob("cuward.*.jsonl"))
        self.assertEqual(len(kept), 1)
        del self.environment["CUWARD_TEST_LOG"]
        self.assertIn("never used CUDA", self.check("--log-dir", logs, "--", "true")[2])
        self.assertIn("use-after-free", self.run_wrapper("report", logs)[1])

    # ---- where it works from

    def test_auto_says_when_it_takes_the_simulated_device(self):
        gpu = any(os.path.exists(node) for node in ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"))
        if gpu:
            self.skipTest("there is a GPU here")
        _, out, err = self.run_wrapper("check", "--", "sh", "-c", 'echo "$LD_LIBRARY_PATH"')
        self.assertEqual(out, f"{self.build}/simgpu/lib\n")
        self.assertIn("simulated device", err)

    def test_works_from_an_installed_prefix_and_through_a_link(self):
        prefix = self.folder / "an installed prefix"
        for part in ("bin", "lib/cuward/simgpu", "libexec/cuward"):
            (prefix / part).mkdir(parents=True)
        shutil.copy(WRAPPER, prefix / "bin/cuward")
        shutil.copy(REPORT, prefix / "libexec/cuward/cuward-report")
        shutil.copy(LIBRARY, prefix / "lib/libcuward.so")
        (prefix / "lib/cuward/simgpu/libcuda.so.1").touch()
        link = self.folder / "a link"
        link.symlink_to(prefix / "bin/cuward")
        del self.environment["CUWARD_BUILD"]
        self.watch()
        status, out, err = self.run_wrapper("check", "--device=sim", "--", "sh", "-c", 'echo "$LD_LIBRARY_PATH"',
                                            wrapper=link)
        self.assertEqual((status, out), (0, f"{prefix}/lib/cuward/simgpu\n"))
        self.assertIn("use-after-free", err)

    def test_help_and_version(self):
        for arguments in (["--help"], ["check", "--help"], ["enforce", "--help"], ["report", "--help"], ["doctor", "--help"]):
            status, out, err = self.run_wrapper(*arguments)
            self.assertEqual((status, err), (0, ""))
            self.assertIn("cuward", out)
        self.assertRegex(self.run_wrapper("--version")[1], r"^cuward \d+\.\d+\.\d+\n$")

    def test_doctor_gives_one_line_a_check(self):
        status, out, _ = self.run_wrapper("doctor")
        self.assertIn(status, (0, 1))
        for line in out.splitlines():
            self.assertRegex(line, r"^(ok|problem) ")
        self.assertEqual(status == 0, "problem" not in out)
        for check in ("preload library", "driver", "CUPTI", "toolkit", "log folder", "settings", "other preloads"):
            self.assertIn(check, out)

    def test_doctor_names_a_log_folder_that_cannot_be_written(self):
        status, out, _ = self.run_wrapper("doctor", "--log-dir", "/dev/null/x")
        self.assertEqual(status, 1)
        self.assertIn("problem  log folder", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
