#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of fidelity/learned/models.py and compare.py: that models learn what is there, of the specs they are given. Exit status 77 without scikit-learn."""
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "fidelity" / "learned"))
try:
    import sklearn  # noqa: F401
except ImportError:
    print("skipped: scikit-learn is not installed")
    sys.exit(77)
import compare  # noqa: E402
import corpus  # noqa: E402
import models  # noqa: E402

TRIPS = "trips load vectors fma"


def made_up(seed, specs=24, programs=12):
    """Entries take twice what is predicted, and waiting a third."""
    dice = random.Random(seed)
    made = []
    for number in range(specs):
        of_spec = []
        for _ in range(programs):
            size = math.exp(dice.uniform(7, 8))
            terms = {TRIPS: size, "entry": size * dice.uniform(0, 1), "wait L2": size * dice.uniform(0, 1)}
            cycles = terms[TRIPS] + 2 * terms["entry"] + terms["wait L2"] / 3
            of_spec.append(corpus.Program("", sum(terms.values()), cycles, cycles * 1e-9, 0.01, terms,
                                          {"microkernels": terms["entry"] / 10, "trips": size / 8}))
        operation = "matmul f32" if number % 2 else "softmax f32"
        made.append(corpus.Spec(f"{operation} {number}", operation, ["dissimilar"] * (1 - number % 2), of_spec))
    return made


class Models(unittest.TestCase):
    def test_a_residual_learns_what_the_cost_model_has_wrong(self):
        training, test = compare.parted(made_up(1), compare.tested_as_dissimilar(made_up(1), 0))
        base = corpus.figures(corpus.Analytic(), test)[0]["kendall_tau"]
        for name, make in models.MODELS.items():
            with self.subTest(name):
                learned = make(True).fit(training, 1)
                self.assertGreater(corpus.figures(learned, test)[0]["kendall_tau"], base + (1 - base) / 3)

    def test_what_is_learned_alone_ranks(self):
        training, test = compare.parted(made_up(1), compare.tested_at_random(made_up(1), 0))
        for name, make in models.MODELS.items():
            if make(False) is None:
                continue
            with self.subTest(name):
                learned = make(False).fit(training, 1)
                self.assertGreater(corpus.figures(learned, test)[0]["kendall_tau"], 0.5)

    def test_the_same_seed_gives_the_same_model(self):
        specs = made_up(2, specs=6)
        for name, make in models.MODELS.items():
            with self.subTest(name):
                self.assertEqual(make(True).fit(specs, 3).order(specs[0]), make(True).fit(specs, 3).order(specs[0]))

    def test_factors_are_found(self):
        factors = models.Factors().fit(made_up(3, specs=60), 0).factors
        self.assertAlmostEqual(factors["entry"], 2, delta=0.3)
        self.assertAlmostEqual(factors["wait L2"], 1 / 3, delta=0.3)

    def test_every_term_is_in_a_group(self):
        named = models.grouped({"trips front end sums fma": 3.0, "wait L3": 2.0, "pad": 1.0})
        by_name = dict(zip(models.GROUPS + models.FORMS, named))
        self.assertEqual((by_name["trips front end"], by_name["sums"], by_name["wait L3"], by_name["other"]), (3, 3, 2, 1))


class Splits(unittest.TestCase):
    def test_no_spec_is_learned_from_and_tested(self):
        specs = made_up(4, specs=9)
        for name, split in compare.SPLITS.items():
            for seed in range(5):
                training, test = compare.parted(specs, split(specs, seed))
                self.assertFalse({spec.text for spec in training} & {spec.text for spec in test}, name)
                self.assertEqual(len(training) + len(test), 9)
        self.assertEqual(len(compare.tested_at_random(specs, 1)), 5)

    def test_only_what_wins_everything_wins(self):
        row = lambda tau, ape, first: {"kendall_tau": [tau], "tile_ape": [ape], "within_first_1": [first],
                                       "within_first_5": [1], "within_first_10": [1], "mape": [0]}
        taus = lambda tau: {str(i): tau + i * 1e-3 for i in range(9)}
        table = {"analytic, calibrated": (row(0.8, 0.05, 0.2), taus(0.8)),
                 "calibrated + better": (row(0.9, 0.05, 0.2), taus(0.9)),
                 "calibrated + longer": (row(0.9, 0.06, 0.3), taus(0.9)),
                 "calibrated + same": (row(0.8, 0.01, 0.3), taus(0.8)),
                 "shipped + better": (row(0.9, 0.01, 0.3), taus(0.9))}
        self.assertEqual(list(compare.winners(table)), ["calibrated + better"])


if __name__ == "__main__":
    unittest.main()
