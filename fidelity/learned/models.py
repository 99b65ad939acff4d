# SPDX-License-Identifier: Apache-2.0
"""Models of programs' times, fitted to measured programs.

Each is made with `residual`: does it start from what the cost model predicts, or know only what it has learned? Then fit(specs, seed),
order(spec): a number for each program, the faster the smaller, and cycles(spec): an estimate, or None. All fit relative times
and count each spec as much as any other.
"""
import math
import random

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corpus import Analytic, differ, sign

# Terms of the cost model in groups, so that what is learned of one type says something of others: of trips the bottleneck is
# kept, the instruction is not.
GROUPS = ("tile", "wait L2", "wait L3", "wait RAM", "pack L1", "pack L2", "pack L3", "pack RAM", "store", "store masked", "entry",
          "trips load", "trips front end", "trips arithmetic", "trips latency", "trips widening", "rows", "other")
FORMS = ("vectors", "sums", "lanewise")  # of register tiles
COUNTS = ("microkernels", "trips", "instructions", "multiply-adds", "spills", "read L2", "read L3", "read RAM", "written L2",
          "written L3", "written RAM")
HELD = ("held L1", "held L2", "held L3")


def grouped(terms):
    cycles = dict.fromkeys(GROUPS + FORMS, 0.0)
    for term, of_term in terms.items():
        words = term.split()
        is_trips = words[0] == "trips"  # "trips", the bottleneck, the form, the instruction
        name = " ".join(words[:-2]) if is_trips else term
        cycles[name if name in GROUPS else "other"] += of_term
        if is_trips:
            cycles[words[-2]] += of_term
    return list(cycles.values())


def features(program):
    """What the prediction is made of and what the program does, each as a share of the prediction or of a cache; and how long it is."""
    facts = program.facts
    amounts = grouped(program.terms) + [facts.get(name, 0) for name in COUNTS]
    runs = max(1, facts.get("microkernels", 0))
    return ([amount / program.predicted for amount in amounts] + [facts.get(name, 0) for name in HELD] +
            [math.log1p(facts.get(name, 0) / runs) for name in ("trips", "instructions")] + [math.log(program.predicted)])


def logarithms(program):
    """The same amounts, each by itself."""
    amounts = grouped(program.terms) + [program.facts.get(name, 0) for name in COUNTS]
    return [math.log1p(amount) for amount in amounts] + [program.facts.get(name, 0) for name in HELD]


def rows(specs, of_program):
    return np.array([of_program(program) for spec in specs for program in spec.programs])


def weights(specs):
    return np.array([1 / len(spec.programs) for spec in specs for _ in spec.programs])


class Learned(Analytic):
    def __init__(self, residual=True):
        self.residual = residual
        self.of_program = features if residual else logarithms

    def given(self, program):
        """The logarithm of cycles that need not be learned."""
        return math.log(program.predicted) if self.residual else 0.0


class Regression(Learned):
    """Of the logarithm of measured cycles, or of measured over predicted ones."""

    def __init__(self, make, residual):
        super().__init__(residual)
        self.make = make

    def fit(self, specs, seed):
        self.model = make_pipeline(StandardScaler(), self.make(seed))
        target = rows(specs, lambda program: math.log(program.cycles) - self.given(program))
        self.model.fit(rows(specs, self.of_program), target,
                       **{self.model.steps[-1][0] + "__sample_weight": weights(specs)})
        return self

    def cycles(self, spec):
        learned = self.model.predict(rows([spec], self.of_program))
        return [math.exp(self.given(program) + value) for program, value in zip(spec.programs, learned)]


class Factors(Learned):
    """A factor near 1 for each term of the prediction; a term that was never seen keeps 1. Always a residual."""

    def fit(self, specs, seed):
        names = sorted({name for spec in specs for program in spec.programs for name in program.terms})
        shares = rows(specs, lambda program: [program.terms.get(name, 0) / program.cycles for name in names])
        missing = rows(specs, lambda program: 1 - program.predicted / program.cycles)
        more = Ridge(alpha=0.1, fit_intercept=False).fit(shares, missing, sample_weight=weights(specs)).coef_
        self.factors = {name: max(0.0, 1 + float(value)) for name, value in zip(names, more)}
        return self

    def cycles(self, spec):
        return [sum(self.factors.get(name, 1.0) * cycles for name, cycles in program.terms.items())
                for program in spec.programs]


class Ranker(Learned):
    """Learned from pairs of programs of one spec whose times differ; what is told of a spec as a whole is not learned at all.

    Estimates are those of the cost model, if any.
    """

    PAIRS = 120  # of a spec, drawn by the seed

    def fit(self, specs, seed):
        dice = random.Random(seed)
        pairs = []
        for spec in specs:
            all_pairs = [(spec, i, j) for i, a in enumerate(spec.programs) for j, b in enumerate(spec.programs)
                         if i != j and differ(a, b)]
            some = dice.sample(all_pairs, min(self.PAIRS, len(all_pairs)))
            pairs += [pair + (1 / len(some),) for pair in some]
        values = {spec.text: rows([spec], self.of_program) for spec in specs}
        differences = np.array([values[spec.text][i] - values[spec.text][j] for spec, i, j, _ in pairs])
        self.fit_pairs(differences, [(spec.programs[i], spec.programs[j]) for spec, i, j, _ in pairs],
                       np.array([weight for *_, weight in pairs]), seed)
        return self

    def cycles(self, spec):
        return super().cycles(spec) if self.residual else None


class LinearRanker(Ranker):
    """Logistic regression: which of two is faster."""

    def fit_pairs(self, differences, pairs, weight, seed):
        self.scale = differences.std(axis=0) + 1e-9
        self.model = LogisticRegression(fit_intercept=False, max_iter=1000)
        slower = [sign(a.cycles - b.cycles) for a, b in pairs]
        self.model.fit(differences / self.scale, slower, sample_weight=self.PAIRS * weight)

    def order(self, spec):
        return ((rows([spec], self.of_program) / self.scale) @ self.model.coef_[0]).tolist()


class TreeRanker(Ranker):
    """Extremely randomised trees: by how much one differs from the other. A program's place is by what it differs from all others."""

    def fit_pairs(self, differences, pairs, weight, seed):
        self.model = ExtraTreesRegressor(n_estimators=60, min_samples_leaf=5, max_features=0.5, random_state=seed)
        slower = [math.log(a.cycles / b.cycles) - self.given(a) + self.given(b) for a, b in pairs]
        self.model.fit(differences, slower, sample_weight=weight)

    def order(self, spec):
        values = rows([spec], self.of_program)
        differences = (values[:, None, :] - values[None, :, :]).reshape(-1, values.shape[1])
        learned = self.model.predict(differences).reshape(len(values), len(values)).mean(axis=1)
        return [self.given(program) + float(value) for program, value in zip(spec.programs, learned)]


def ridge(seed):
    return Ridge(alpha=1.0)


def boosted(seed):
    return GradientBoostingRegressor(n_estimators=100, max_depth=3, learning_rate=0.1, subsample=0.7, random_state=seed)


def forest(seed):
    return RandomForestRegressor(n_estimators=100, min_samples_leaf=3, max_features=0.5, random_state=seed)


# By name: makes the model; None where there is none that is no residual.
MODELS = {
    "ridge": lambda residual: Regression(ridge, residual),
    "factors of terms": lambda residual: Factors() if residual else None,
    "boosted trees": lambda residual: Regression(boosted, residual),
    "random forest": lambda residual: Regression(forest, residual),
    "linear ranker": LinearRanker,
    "tree ranker": TreeRanker,
}
