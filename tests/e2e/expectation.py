"""Compares the findings of a report with what a program's entry in expected.json says."""

import pathlib
import re

from tool import describe, innermost_line

MARKER = re.compile(r"// ([A-Z][A-Z-]*)$")


def read_markers(source):
    """The marked lines of a source: name of the marker to line number."""
    markers = {}
    for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
        if found := MARKER.search(line):
            markers[found.group(1)] = number
    return markers


class Expectation:
    """What must be found in one program, with the places as file and line."""

    def __init__(self, findings, source):
        self.file = pathlib.Path(source).name
        self.markers = read_markers(source)
        self.findings = findings

    def place(self, marker):
        return self.file, self.markers[marker]

    @staticmethod
    def nodes(finding):
        """Where the nodes were captured or added, for each of the places that is a graph's launch."""
        return finding.get("nodes", [None] * len(finding.get("places", [])))

    def lines(self):
        """Every place that a person must be shown, as it stands in the text report."""
        for finding in self.findings:
            markers = finding.get("places", []) + [node for node in finding.get("nodes", []) if node]
            for marker in markers + [finding[key] for key in ("block",) if key in finding]:
                yield f"{self.file}:{self.markers[marker]}"

    def differences(self, finding, actual):
        """How an actual finding differs from an expected one, in words."""
        wrong = []

        def compare(what, expected, got):
            if expected != got:
                wrong.append(f"{what}: expected {expected}, got {got}")

        compare("kind", finding["kind"], actual["kind"])
        if "verdict" in finding:
            compare("verdict", finding["verdict"], actual["verdict"])
        compare("hazard", finding.get("hazard"), actual.get("hazard"))
        compare("count", finding.get("count", 1), actual["count"])
        if "bytes" in finding:
            compare("leaked bytes", finding["bytes"], actual["leaked_bytes"])
        compare("places", [self.place(marker) for marker in finding.get("places", [])],
                [innermost_line(access["stack"]) for access in actual["accesses"]])
        compare("nodes", [self.place(marker) if marker else None for marker in self.nodes(finding)],
                [innermost_line(access["node"]["stack"]) if access["node"] else None for access in actual["accesses"]])
        block = actual["block"]
        if "block" in finding:
            compare("place of allocation", self.place(finding["block"]),
                    innermost_line(block["allocated"]["stack"]) if block else None)
        if "kernels" in finding:
            compare("kernels", finding["kernels"], [access["kernel"] for access in actual["accesses"]])
        return wrong

    def problems(self, report):
        """What is wrong with a report, one line each; empty if it says exactly what it must."""
        problems = []
        left = list(report["findings"])
        for finding in self.findings:
            if not left:
                problems.append(f"not found: {finding}")
                continue
            nearest = min(left, key=lambda actual: len(self.differences(finding, actual))
                          + (10 if actual["kind"] != finding["kind"] else 0))
            if nearest["kind"] != finding["kind"]:
                problems.append(f"not found: {finding}")
                continue
            left.remove(nearest)
            problems += [f"{describe(nearest)}: {wrong}" for wrong in self.differences(finding, nearest)]
        problems += [f"must not be reported: {describe(finding)}" for finding in left]
        return problems
