"""Runs programs bare and under cuward, for the tests that compare the two."""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile


@dataclasses.dataclass
class Outcome:
    status: int
    stdout: str
    stderr: str
    report: dict | None = None


def with_sanitizer(environment):
    """The environment of a program that is started without the wrapper on sanitized libraries."""
    if not environment.get("CUWARD_SANITIZER"):
        return environment
    preloads = [environment.get("LD_PRELOAD"), environment["CUWARD_SANITIZER"]]
    return {**environment, "LD_PRELOAD": ":".join(filter(None, preloads))}


class Tool:
    """Where cuward and its simulated device are, and the environment they need."""

    def __init__(self, cuward, device, build=None, simgpu=None, timeout=120):
        self.cuward = str(cuward)
        self.device = device
        self.timeout = timeout
        self.environment = dict(os.environ)
        # A sanitized library comes before its run time, which would refuse that. The tool is never freed.
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
        if build is not None:
            self.environment["CUWARD_BUILD"] = str(build)
        self.simgpu = str(simgpu) if simgpu is not None else str(pathlib.Path(build or "") / "simgpu/lib")

    def environment_for_bare(self, extra=None):
        environment = {**self.environment, **(extra or {})}
        if self.device == "sim":
            search = [self.simgpu, environment.get("LD_LIBRARY_PATH", "")]
            environment["LD_LIBRARY_PATH"] = ":".join(part for part in search if part)
        return with_sanitizer(environment)

    def run(self, command, environment, **options):
        done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=self.timeout, **{"stdin": subprocess.DEVNULL, **options})
        return Outcome(done.returncode, done.stdout, done.stderr)

    def bare(self, command, extra=None, **options):
        return self.run(command, self.environment_for_bare(extra), **options)

    def check(self, command, options=(), extra=None, how="check", **run_options):
        with tempfile.TemporaryDirectory(prefix="cuward-test.") as folder:
            report = pathlib.Path(folder) / "report.json"
            outcome = self.run([self.cuward, how, "--device", self.device, "--report-json", report, *options,
                                "--", *command], {**self.environment, **(extra or {})}, **run_options)
            if report.exists():
                outcome.report = json.loads(report.read_text())
        return outcome

    def report(self, *arguments):
        return self.run([self.cuward, "report", *arguments], self.environment)


def innermost_line(stack):
    """The place a stack points at: file name and line of the innermost frame that has them."""
    for frame in stack:
        if frame["line"] is not None:
            return pathlib.Path(frame["file"]).name, frame["line"]
    return None


def describe(finding):
    """One line about a finding, for messages."""
    def place(stack):
        at = innermost_line(stack)
        return f"{at[0]}:{at[1]}" if at else "?"

    words = [finding["kind"], finding["verdict"], finding.get("hazard", ""), f"x{finding['count']}"]
    words += [f"[{access['op']} {access['kernel'] or access['api']} at {place(access['stack'])}]"
              for access in finding["accesses"]]
    if finding["block"]:
        words.append(f"block of {place(finding['block']['allocated']['stack'])}")
    return " ".join(word for word in words if word)
