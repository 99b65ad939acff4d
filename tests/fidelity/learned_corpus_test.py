#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of fidelity/learned/corpus.py and pack.py: figures of cases small enough to work out by hand, and that they are those which kirsch prints.

    learned_corpus_test.py build/release/kirsch
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "fidelity" / "learned"))
import corpus  # noqa: E402
import pack  # noqa: E402

KIRSCH = sys.argv.pop(1) if len(sys.argv) > 1 else None


def program(predicted, cycles, spread=0.0, decisions="", ghz=1.0):
    return corpus.Program(decisions, predicted, cycles, cycles / ghz * 1e-9, spread, {}, {})


def spec(*programs, text="matmul f32 1x1x1"):
    return corpus.Spec(text, "matmul f32", [], list(programs))


def tau(*programs):
    return corpus.kendall_tau([p.predicted for p in programs], programs)


class Figures(unittest.TestCase):
    def test_tau_counts_pairs_beyond_the_noise(self):
        self.assertEqual(tau(program(1, 100), program(2, 200), program(3, 300)), 1)
        self.assertEqual(tau(program(3, 100), program(2, 200), program(1, 300)), -1)
        self.assertAlmostEqual(tau(program(1, 100), program(3, 200), program(2, 300)), 1 / 3)
        self.assertEqual(tau(program(1, 100), program(1, 200)), 0)  # predicted to be equal: half right
        self.assertIsNone(tau(program(2, 100), program(1, 100.9)))  # within 1 %
        self.assertIsNone(tau(program(2, 100, 0.5), program(1, 140)))  # within the spread of the first
        self.assertEqual(tau(program(2, 100), program(1, 140, 0.2)), -1)
        self.assertIsNone(tau(program(1, 100)))

    def test_ape_counts_long_specs_for_more(self):
        short, long = spec(program(1, 20), program(2, 10)), spec(program(1, 100), program(2, 90))
        orders = corpus.Analytic().order(short), corpus.Analytic().order(long)
        self.assertAlmostEqual(corpus.tile_ape(orders, [short, long]), (10 + 10) / (10 + 90))
        slow = spec(program(1, 100, ghz=2.0), program(2, 90, ghz=2.0))  # seconds, not cycles
        self.assertAlmostEqual(corpus.tile_ape(orders, [short, slow]), (10 + 5) / (10 + 45))

    def test_within_first_takes_equal_ones_in_their_order(self):
        programs = [program(1, 120), program(1, 100), program(2, 101)]
        order = [1, 1, 2]
        self.assertFalse(corpus.within_first(order, programs, 1))
        self.assertTrue(corpus.within_first(order, programs, 2))
        self.assertTrue(corpus.within_first([2, 2, 1], programs, 1))  # within 1 % of the best
        self.assertTrue(corpus.within_first(order, programs, 10))

    def test_all_figures_are_means_over_specs(self):
        specs = [spec(program(50, 100), program(80, 200)), spec(program(200, 100), program(180, 150), text="other")]
        figures, taus = corpus.figures(corpus.Analytic(), specs)
        self.assertEqual(figures["kendall_tau"], 0)
        self.assertEqual(taus, {"matmul f32 1x1x1": 1, "other": -1})
        self.assertEqual(figures["within_first_1"], 0.5)
        self.assertEqual(figures["within_first_5"], 1)
        self.assertAlmostEqual(figures["mape"], (50 / 100 + 30 / 150) / 2)
        self.assertAlmostEqual(figures["tile_ape"], 50 / 200)

    def test_a_model_that_only_ranks_has_no_error(self):
        class Ranks:
            def order(self, spec):
                return [-p.predicted for p in spec.programs]

            def cycles(self, spec):
                return None

        figures, _ = corpus.figures(Ranks(), [spec(program(50, 100), program(80, 200))])
        self.assertEqual(figures["kendall_tau"], -1)
        self.assertIsNone(figures["mape"])

    def test_shared_programs_are_those_of_all_corpora(self):
        first = [spec(program(1, 1, decisions="a"), program(2, 2, decisions="b"), text="s"), spec(text="only here")]
        second = [spec(program(5, 2, decisions="b"), program(6, 3, decisions="c"), text="s")]
        shared = corpus.shared_programs([first, second])
        self.assertEqual([[p.predicted for s in specs for p in s.programs] for specs in shared], [[2], [5]])

    def test_what_is_packed_is_what_was_measured_first(self):
        measured = lambda schedule, cycles: {"schedule": schedule, "predicted_cycles": 5, "cycles": cycles, "seconds": cycles * 1e-9,
                                             "spread": 0.0123456, "terms": {}}
        corpora = [{"threads": 2, "cold": True, "specs": [{"spec": text, "ghz": 3, "programs": programs}]}
                   for text, programs in (("a", [measured("x # 1\n", 10.0), measured("y", 20.0)]),
                                          ("b", [measured("x", 30.0)]), ("a", [measured("x", 40.0), measured("z", 50.0)]))]
        packed = pack.packed(corpora)
        self.assertEqual((packed["threads"], packed["cold"]), (2, True))
        self.assertEqual([(spec["spec"], [(program["schedule"], program["cycles"]) for program in spec["programs"]])
                          for spec in packed["specs"]], [("a", [("x", 10), ("y", 20), ("z", 50)]), ("b", [("x", 30)])])
        self.assertEqual(packed["specs"][0]["programs"][0]["spread"], 0.012346)

    def test_comments_are_no_decisions(self):
        self.assertEqual(corpus.without_comments("# head\ntile m 8   # 4 x matmul\n  microkernel # 1 x\n"),
                         "tile m 8\n  microkernel")


# Nothing is measured: kirsch prices programs that have made-up times, and summarises these.
@unittest.skipUnless(KIRSCH, "no path of kirsch was given")
class Kirsch(unittest.TestCase):
    SCHEDULES = ["search"] + [f"tile {dim} {size}\n  search" for dim in "mn" for size in (1, 2, 4, 8, 16, 24)]

    def made_up(self):
        texts = [f"matmul {types} {shape}" for types in ("f32", "bf16*bf16->f32") for shape in ("32x32x32", "48x40x64", "9x80x33")]
        cycles = lambda i, k: 1000 * (i + 1) * (1 + (7 * k * (i + 3)) % 11 / 8)
        programs = lambda i: [{"schedule": schedule, "cycles": cycles(i, k), "seconds": cycles(i, k) / 3e9 * (1 + i / 10),
                               "spread": 0.01 * (k % 5)} for k, schedule in enumerate(self.SCHEDULES)]
        return {"threads": 1, "cold": False,
                "specs": [{"spec": text, "ghz": 3, "programs": programs(i)} for i, text in enumerate(texts)]}

    def test_figures_are_those_of_kirsch(self):
        with tempfile.TemporaryDirectory() as folder:
            made_up, priced = pathlib.Path(folder) / "made_up.json", pathlib.Path(folder) / "priced.json"
            made_up.write_text(json.dumps(self.made_up()))
            subprocess.run([KIRSCH, "fidelity", "--corpus", made_up, "--target", "haswell", "--json", priced],
                           check=True, stdout=subprocess.DEVNULL)
            specs = corpus.read_corpus(priced)  # compares
            self.assertEqual(len(specs), 6)
            for tested in specs:
                self.assertGreater(len(tested.programs), 3, tested.text)
                self.assertEqual("dissimilar" in tested.tested, tested.operation != "matmul f32")
            wrong = json.loads(priced.read_text())
            wrong["splits"]["dissimilar"]["kendall_tau"] += 0.01
            priced.write_text(json.dumps(wrong))
            with self.assertRaisesRegex(ValueError, "dissimilar kendall_tau"):
                corpus.read_corpus(priced)


if __name__ == "__main__":
    unittest.main()
