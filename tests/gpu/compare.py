#!/usr/bin/env python3
"""Runs an innocent program three times bare and once under cuward, and fails if it can tell the difference or anything is
found but what is known of it. What differs between the bare runs, as times and addresses do, is compared without its numbers."""

import argparse
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from tool import Tool, describe  # noqa: E402

NUMBER = re.compile(r"0x[0-9a-fA-F]+|[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
# A time or a rate may come out the same twice by chance.
MEASURED = re.compile(r"\b(time|throughput|bandwidth|ms|msec|us|sec|seconds|[GMT]B/s|[GT]?FLOP(/s|S)?|options/s|speedup|"
                      r"cycles|clocks?|elapsed|average|performance)\b", re.IGNORECASE)


def without_numbers(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def masked(lines, at):
    """Line `at` of each run, with what no two runs need have in common left out: all of it if the words differ."""
    texts = [run[at] for run in lines]
    if len(set(texts)) == 1 and not MEASURED.search(texts[0]):
        return texts[0], str
    texts = [without_numbers(text) for text in texts]
    return (texts[0], without_numbers) if len(set(texts)) == 1 else ("", lambda text: "")


def differences(bare, checked):
    """Lines of the checked run that no bare run explains."""
    bare, checked = [text.splitlines() for text in bare], checked.splitlines()
    if len({len(lines) for lines in bare}) > 1:
        known = {without_numbers(line) for lines in bare for line in lines}
        return [line for line in checked if without_numbers(line) not in known]
    if len(checked) != len(bare[0]):
        return [f"{len(checked)} lines instead of {len(bare[0])}"]
    expectations = (masked(bare, at) for at in range(len(checked)))
    return [f"{got!r} instead of {expected!r}"
            for got, (expected, mask) in zip(checked, expectations) if mask(got) != expected]


def runs_bare(tool, options):
    """Three runs, each begun in another second: programs that seed their random numbers by the clock show it."""
    for _ in range(3):
        begun = int(time.time())
        yield tool.bare(options.command, cwd=options.folder)
        while int(time.time()) == begun:
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuward", required=True)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--device", default="gpu", choices=["gpu", "sim"])
    parser.add_argument("--folder", help="where the program runs")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--known", default="", help="kinds of findings that the program really has, or `output`, which it varies")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    tool = Tool(options.cuward, options.device, options.build, timeout=options.timeout)
    problems = []
    try:
        bare = list(runs_bare(tool, options))
        checked = tool.check(options.command, ["--show-possible"], cwd=options.folder)
    except subprocess.TimeoutExpired as late:
        print(f"no end within {late.timeout:.0f} s: {' '.join(late.cmd)}")
        return 1
    first = bare[0]
    if first.status != 0:
        print(f"skipped: status {first.status} without cuward: {(first.stderr or first.stdout).strip()[-300:]}")
        return 77
    if checked.status != first.status:
        problems.append(f"status {checked.status} instead of {first.status}: {checked.stderr.strip()[-2000:]}")
    known = options.known.split(",")
    if "output" not in known:
        problems += [f"output: {line}" for line in differences([run.stdout for run in bare], checked.stdout)]
    if checked.report is None:
        problems.append(f"no report: {checked.stderr.strip()[-500:]}")
    else:
        found = [finding for finding in checked.report["findings"] if finding["verdict"] != "possible"]
        problems += [f"found: {describe(finding)}" for finding in found if finding["kind"] not in known]
        possible = len(checked.report["findings"]) - len(found)
        if not problems:
            print(", ".join([f"known: {describe(finding)}" for finding in found] + [f"{possible} possible races"] * (possible > 0)))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
