#!/usr/bin/env python3
"""Where memory comes from, as users choose it: budgets and the log of memory. One test a case."""

import json
import unittest

from behaviour import APPS, Case, kinds
from expectation import read_markers
from run_apps import source_of
from tool import innermost_line


class Budget(Case):
    def limited(self, app, budget, *options, **extra):
        outcome = self.tool.check([APPS / app], ["--budget", budget, *options], extra=extra)
        self.assertEqual(outcome.status, 0, outcome.stderr)
        return outcome

    def test_budget_refusals(self):
        """The program sees the error of a full device; the report names who asked and who had the memory."""
        bare = self.tool.bare([APPS / "budget_refused"])
        self.assertEqual(bare.stdout, "0 refused\ndone\n")
        outcome = self.limited("budget_refused", "40M", "--error-exitcode", "9")
        self.assertEqual(outcome.stdout, "3 refused\ndone\n")
        finding, = outcome.report["findings"]
        self.assertEqual((finding["kind"], finding["count"]), ("out-of-budget", 3))
        self.assertEqual(outcome.report["summary"]["budget_refusals"], 3)
        piece = ("budget_refused.cpp", read_markers(source_of("budget_refused"))["PIECE"])
        self.assertEqual(innermost_line(finding["accesses"][0]["stack"]), piece)
        budget = finding["budget"]
        self.assertEqual([budget[key] >> 20 for key in ("requested", "current", "remaining", "limit")], [8, 40, 0, 40])
        holder, = budget["holders"]
        self.assertEqual((holder["blocks"], holder["bytes"] >> 20, innermost_line(holder["stack"])), (5, 40, piece))
        self.assertIn("out-of-budget, seen 3 times", outcome.stderr)
        self.assertIn("3 allocations had no room in the budget", outcome.stderr)

    def test_budget_within(self):
        outcome = self.limited("budget_refused.fixed", "40M")
        self.assertEqual((outcome.stdout, outcome.report["findings"]), ("0 refused\ndone\n", []))

    def test_budget_kinds(self):
        for backend in ("direct", "async"):
            with self.subTest(backend=backend):
                outcome = self.limited("budget_kinds", "10M", "--backend", backend)
                every = ("plain", "managed", "pitched", "ordered", "from a pool", "array")
                self.assertEqual(outcome.stdout, "".join(f"{kind}: 10 10\n" for kind in every) + "done\n")
                self.assertEqual(set(kinds(outcome.report)), {"out-of-budget"})

    def test_budget_devices(self):
        for scope, got in (("device", (5, 5)), ("process", (5, 0))):
            outcome = self.limited("budget_devices", f"5M:{scope}", SIMGPU_DEVICES="2")
            self.assertEqual(outcome.stdout, f"device 0: {got[0]}\ndevice 1: {got[1]}\ndone\n")
            self.assertEqual({finding["budget"]["scope"] for finding in outcome.report["findings"]}, {scope})

    def test_budget_told(self):
        for backend in ("direct", "async"):
            outcome = self.limited("budget_told", "64M", "--backend", backend)
            self.assertEqual(outcome.stdout.splitlines(),
                             [f"{free} of 64 MiB" for free in (64, 40, 64, 64)] + ["done"])

    def test_budget_threads(self):
        for options in ((), ("--backend", "async"), ("--log-memory",)):
            with self.subTest(options=options):
                outcome = self.limited("budget_threads", "12M", *options)
                self.assertEqual(outcome.stdout, "within the limit, some refused, all there again\ndone\n")

    def test_budget_enforced(self):
        outcome = self.tool.run([self.tool.cuward, "enforce", "--device", "sim", "--budget", "40M", "--",
                                 APPS / "budget_refused"], self.tool.environment)
        self.assertEqual((outcome.status, outcome.stdout), (0, "3 refused\ndone\n"), outcome.stderr)


class MemoryLog(Case):
    def test_memory_log(self):
        self.tool.check([APPS / "budget_kinds"], ["--log-memory", "--budget", "10M", "--log-dir", self.logs])
        records = [json.loads(line) for line in self.log_files()[0].read_text().splitlines()]
        calls = [record for record in records if record["r"] == "memory"]
        done = [call for call in calls if call["result"] == "ok"]
        self.assertEqual({call["op"] for call in done}, {"alloc", "free"})
        # Two rounds of ten, plain and ordered; the resources hand out no other memory.
        self.assertEqual([sum(call["op"] == op for call in done) for op in ("alloc", "free")], [40, 40])
        self.assertEqual([(call["result"], call["code"]) for call in calls if call not in done],
                         [("out-of-budget", 2)] * 4)
        self.assertEqual(max(call["outstanding"] for call in calls), 10 << 20)
        self.assertEqual(calls[-1]["outstanding"], 0)
        allocated = {call["generation"]: call for call in done if call["op"] == "alloc"}
        for call in done:
            self.assertEqual((call["ptr"], call["bytes"]), (allocated[call["generation"]]["ptr"], 1 << 20))

    def test_no_memory_log(self):
        self.tool.check([APPS / "budget_kinds"], ["--log-dir", self.logs])
        self.assertNotIn('"r":"memory"', self.log_files()[0].read_text())



class Guard(Case):
    def guarded(self, app, **extra):
        return self.tool.check([APPS / app], ["--backend", "guard", "--leak-check", "no"], extra=extra)

    def test_guard_checks_when_told(self):
        """A program that leaves without an end is checked at its synchronizations, if that is asked for."""
        outcome = self.guarded("past_end_then_quick_exit")
        self.assertEqual((outcome.stdout, outcome.report["findings"]), ("done\n", []))
        outcome = self.guarded("past_end_then_quick_exit", CUWARD_GUARD_CHECK="sync")
        finding, = outcome.report["findings"]
        self.assertEqual((outcome.stdout, finding["kind"], finding["found_by"]), ("done\n", "out-of-bounds", "canary"))
        self.assertEqual(finding["offset"], 1 << 16)
        markers = read_markers(source_of("past_end_then_quick_exit"))
        self.assertEqual(innermost_line(finding["accesses"][0]["stack"]),
                         ("past_end_then_quick_exit.cu", markers["USE"]))

    def test_guard_without_its_kernel(self):
        """Where the checking kernel cannot be loaded, one line says so and the program runs on."""
        outcome = self.guarded("kernel_byte_past_end", SIMGPU_FAIL="cuModuleLoadData:*=209")
        self.assertEqual((outcome.status, outcome.stdout, outcome.report["findings"]), (0, "done\n", []))
        self.assertEqual(outcome.stderr.count("not checked"), 2, "when it happens and in the report")

    def test_guard_under_failures(self):
        """Whatever call of the driver's fails, the program sees what it would see without the guard."""
        for function in ("cuStreamCreate", "cuMemHostAlloc", "cuMemsetD8Async", "cuLaunchKernel", "cuEventRecord"):
            for nth in (1, 2, 3):
                rule = f"{function}:{nth}=2"
                with self.subTest(rule=rule):
                    outcome = self.tool.check([APPS / "million_blocks", "20"], ["--backend", "guard"],
                                              extra={"SIMGPU_FAIL": rule})
                    self.assertEqual(outcome.status, 0, outcome.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
