#!/usr/bin/env python3
"""Checks that the tests which tests/rules.md names exist, that each rule has a pair, and that each pair stands there."""

import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
NAME = re.compile(r"`([\w.]+)`")


def programs():
    """The sample applications of expected.json, and whether each has a corrected twin."""
    sources = {path.stem: path for path in (TESTS / "apps").rglob("*.c*") if path.suffix in (".cu", ".cpp")}
    table = json.loads((TESTS / "apps/expected.json").read_text())
    return {name: "FIXED" in sources[name].read_text() for name in table}


def unit_tests():
    folders = (TESTS / "unit", TESTS / "simgpu/tests")
    return {".".join(found) for folder in folders for path in folder.glob("*.cpp")
            for found in TEST.findall(path.read_text())}


def rows(text):
    """Rule, programs and unit tests of each row."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0] not in ("rule", "---"):
            yield cells[0], NAME.findall(cells[1]), NAME.findall(cells[2])


def problems():
    known, tests = programs(), unit_tests()
    shown = set()
    for rule, pairs, units in rows((TESTS / "rules.md").read_text()):
        shown.update(pairs)
        for name in pairs:
            if name not in known:
                yield f"{rule} There is no program {name} in expected.json."
            elif not known[name]:
                yield f"{rule} {name} has no corrected twin."
        for name in set(units) - tests:
            yield f"{rule} There is no unit test {name}."
        if not pairs and len(units) < 2:
            yield f"{rule} It has no pair of tests."
    for name, has_twin in known.items():
        if has_twin and name not in shown:
            yield f"{name} and its twin stand in no row of tests/rules.md."


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
