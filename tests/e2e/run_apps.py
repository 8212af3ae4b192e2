#!/usr/bin/env python3
"""Runs sample applications bare and under cuward, and compares output, status and findings with expected.json."""

import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from expectation import Expectation  # noqa: E402
from tool import Tool, describe  # noqa: E402

# What cuward can do with a program, and the options for that.
WAYS = {"check": [], "enforce": [], "enforce-all": ["--enforce-all"], "enforce-exact": ["--enforce-exact"]}

APPS = pathlib.Path(__file__).resolve().parent.parent / "apps"


def source_of(name):
    return next(path for path in APPS.rglob(f"{name}.c*") if path.suffix in (".cu", ".cpp"))


class Application:
    """One program of the table, linked with one runtime."""

    def __init__(self, name, entry, runtime, folder, backend="direct"):
        self.name = name
        self.entry = entry
        self.backend = backend
        self.source = source_of(name)
        self.is_driver = self.source.parent.name == "driver"
        self.runtime = "driver" if self.is_driver else runtime
        self.folder = folder / self.runtime
        self.has_fix = "FIXED" in self.source.read_text()

    def runs(self, how):
        """Program, options of cuward and expected findings of each run."""
        if self.backend in self.entry:  # other findings, whether or not notes are asked for
            yield self.name, ["--show-possible", "--pedantic"], self.entry[self.backend]
            yield f"{self.name}.fixed", ["--show-possible", "--pedantic"], []
            return
        findings = self.entry["findings"]
        options = ["--show-possible", *self.entry.get("options", []), *WAYS[how]]
        # A late write to memory freed in flight may meet the guard's poison, or not: one finding more.
        is_guarded = "guard" in self.backend
        if not (is_guarded and any(finding["kind"] == "freed-in-flight" for finding in findings)):
            yield self.name, options, findings
        if self.has_fix:
            yield f"{self.name}.fixed", options, []
        if "pedantic" in self.entry:
            yield self.name, [*options, "--pedantic"], findings + self.entry["pedantic"]
            yield f"{self.name}.fixed", [*options, "--pedantic"], []

    def problems(self, tool, how):
        problems = []
        for program, options, findings in self.runs(how):
            said = self.problems_of_run(tool, how, program, options, Expectation(findings, self.source))
            problems += [f"{program} {' '.join(options[1:])}({self.runtime}): {line}" for line in said]
        return problems

    def problems_of_run(self, tool, how, program, options, expectation):
        try:
            bare = tool.bare([self.folder / program])
            checked = tool.check([self.folder / program], ["--backend", self.backend, *options],
                                 how="check" if how == "check" else "enforce")
        except subprocess.TimeoutExpired as late:
            return [f"no end within {late.timeout:.0f} s: {' '.join(late.cmd)}"]
        problems = []
        if bare.status != 0:
            problems.append(f"status {bare.status} without cuward: {bare.stderr.strip()}")
        if checked.status != bare.status:
            problems.append(f"status {checked.status} under cuward, {bare.status} without: {checked.stderr.strip()}")
        if checked.stdout != bare.stdout:
            problems.append(f"output {checked.stdout!r} under cuward, {bare.stdout!r} without")
        if checked.report is None:
            return problems + [f"no report: {checked.stderr.strip()}"]
        problems += expectation.problems(checked.report)
        problems += self.unrepaired(how, checked.report)
        if not problems:
            problems += [f"the text report does not name {line}: {checked.stderr}"
                         for line in expectation.lines() if line not in checked.stderr]
        return problems

    def unrepaired(self, how, report):
        """What enforce mode should have done and has not, or has done without need."""
        waits = report["summary"]["waits"]
        if how == "check" or (how != "enforce-all" and not self.needs_waits(report)):
            return [f"{waits} waits queued without need"] if waits != 0 else []
        return [f"{describe(finding)}: repaired {finding['repaired']} times" for finding in report["findings"]
                if is_repairable(finding, how) and finding["repaired"] != finding["count"]]

    @staticmethod
    def needs_waits(report):
        return any(is_repairable(finding, "enforce") for finding in report["findings"])


def is_repairable(finding, how):
    """Whether a wait of a stream is what was missing, and one that `how` queues."""
    kinds = ("race", "use-before-alloc", "freed-in-flight")
    is_between_nodes = all(access["stream"] is None for access in finding["accesses"])
    is_in_batch = finding["kind"] == "race" and len({str(access["stream"]) for access in finding["accesses"]}) == 1
    return (finding["kind"] in kinds and not is_between_nodes and not is_in_batch
            and (how == "enforce-all" or finding["verdict"] != "possible"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuward", required=True, help="the script to run")
    parser.add_argument("--build", type=pathlib.Path, help="build tree, where cuward is not an installed one")
    parser.add_argument("--apps", type=pathlib.Path, help="folder of the programs (default: apps in the build tree)")
    parser.add_argument("--device", default="sim", choices=["sim", "gpu"])
    parser.add_argument("--runtime", default="shared", choices=["shared", "static"])
    parser.add_argument("--simgpu", type=pathlib.Path, help="folder of the simulated device's libraries")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of a program")
    parser.add_argument("--backend", default="direct", choices=["direct", "async", "guard", "async,guard"],
                        help="where memory comes from")
    parser.add_argument("--how", default="check", choices=WAYS, help="what cuward is to do with them")
    parser.add_argument("names", nargs="*", help="applications (default: all of the table)")
    options = parser.parse_args()

    tool = Tool(options.cuward, options.device, options.build, options.simgpu, options.timeout)
    table = json.loads((APPS / "expected.json").read_text())
    folder = options.apps or options.build / "apps"
    failed = 0
    names = options.names or list(table)
    for name in names:
        problems = Application(name, table[name], options.runtime, folder, options.backend).problems(tool, options.how)
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok    '} {name}", flush=True)
        for problem in problems:
            print(f"       {problem}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
