#!/usr/bin/env python3
"""Runs an innocent program bare, bare again and under cuward, and fails if it can tell the difference or anything is
found. What differs between the two bare runs, as times and addresses do, is compared without its numbers."""

import argparse
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from tool import Tool, describe  # noqa: E402

NUMBER = re.compile(r"0x[0-9a-fA-F]+|[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
# A time or a rate may come out the same twice by chance.
MEASURED = re.compile(r"\b(time|throughput|bandwidth|ms|msec|us|sec|seconds|[GMT]B/s|[GT]?FLOP(/s|S)?|options/s|speedup|"
                      r"cycles|clocks?|elapsed|average|performance)\b", re.IGNORECASE)


def without_numbers(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def masked(lines, varying):
    return [without_numbers(line) if at in varying or MEASURED.search(line) else line
            for at, line in enumerate(lines)]


def differences(first, second, checked):
    """Lines of the checked run that neither bare run explains."""
    first, second, checked = (text.splitlines() for text in (first, second, checked))
    if len(first) != len(second):
        known = {without_numbers(line) for line in first + second}
        return [line for line in checked if without_numbers(line) not in known]
    varying = {at for at, (a, b) in enumerate(zip(first, second)) if a != b}
    if len(checked) != len(first):
        return [f"{len(checked)} lines instead of {len(first)}"]
    pairs = zip(masked(first, varying), masked(checked, varying))
    return [f"{got!r} instead of {expected!r}" for expected, got in pairs if expected != got]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuward", required=True)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--device", default="gpu", choices=["gpu", "sim"])
    parser.add_argument("--folder", help="where the program runs")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    tool = Tool(options.cuward, options.device, options.build, timeout=options.timeout)
    problems = []
    try:
        first = tool.bare(options.command, cwd=options.folder)
        second = tool.bare(options.command, cwd=options.folder)
        checked = tool.check(options.command, ["--show-possible"], cwd=options.folder)
    except subprocess.TimeoutExpired as late:
        print(f"no end within {late.timeout:.0f} s: {' '.join(late.cmd)}")
        return 1
    if first.status != 0:
        print(f"skipped: status {first.status} without cuward: {(first.stderr or first.stdout).strip()[-300:]}")
        return 77
    if checked.status != first.status:
        problems.append(f"status {checked.status} instead of {first.status}: {checked.stderr.strip()[-2000:]}")
    problems += [f"output: {line}" for line in differences(first.stdout, second.stdout, checked.stdout)]
    if checked.report is None:
        problems.append(f"no report: {checked.stderr.strip()[-500:]}")
    else:
        found = [finding for finding in checked.report["findings"] if finding["verdict"] != "possible"]
        problems += [f"found: {describe(finding)}" for finding in found]
        possible = len(checked.report["findings"]) - len(found)
        if possible and not problems:
            print(f"{possible} possible races")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
