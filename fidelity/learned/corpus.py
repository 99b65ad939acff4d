# SPDX-License-Identifier: Apache-2.0
"""Corpora of `kirsch fidelity --json`, and how well predictions of their programs agree with what was measured.

The figures are those of fidelity/agreement.h, which has their definitions; `check_figures` holds them against what kirsch computed
itself. Nothing but the standard library.
"""
import json
import pathlib
import re
from dataclasses import dataclass

LEAST_DIFFERENCE = 0.01  # less is noise, and a program so near to the best is as good
FIGURES = ("kendall_tau", "tile_ape", "within_first_1", "within_first_5", "within_first_10", "mape")


@dataclass
class Program:
    decisions: str  # the schedule without its comments, some of which depend on the constants
    predicted: float  # cycles, as are those that follow
    cycles: float
    seconds: float
    spread: float  # of `cycles`, a share
    terms: dict
    facts: dict


@dataclass
class Spec:
    text: str
    operation: str
    tested: list  # the splits of kirsch that test a model on it
    programs: list


def read_corpus(path):
    """The specs of a corpus. A ValueError where the figures here are not those that kirsch wrote beside them."""
    corpus = json.loads(pathlib.Path(path).read_text())
    specs = []
    for spec in corpus["specs"]:
        programs = [Program(without_comments(program["schedule"]), program["predicted_cycles"], program["cycles"],
                            program["seconds"], program["spread"], program["terms"], program["facts"]) for program in spec["programs"]]
        specs.append(Spec(spec["spec"], spec["operation"], spec["tested"], programs))
    check_figures(specs, corpus)
    return specs


def without_comments(schedule):
    lines = (re.sub(r"\s*#.*", "", line) for line in schedule.splitlines())
    return "\n".join(line for line in lines if line)


def shared_programs(corpora):
    """The same corpora with only the specs and programs that are in all of them, in the order of the first."""
    shared = []
    for spec in corpora[0]:
        others = [{program.decisions: program for program in other.programs}
                  for corpus in corpora for other in corpus if other.text == spec.text]
        decisions = [program.decisions for program in spec.programs
                     if all(program.decisions in other for other in others)]
        if len(others) == len(corpora) and decisions:
            shared.append([Spec(spec.text, spec.operation, spec.tested, [other[text] for text in decisions])
                           for other in others])
    return [list(corpus) for corpus in zip(*shared)]


def kendall_tau(order, programs):
    """Of `order`, a number for each program that ranks them. None where no two programs differ by more than the noise."""
    pairs = score = 0
    for i, a in enumerate(programs):
        for j, b in enumerate(programs[:i]):
            if not differ(a, b):
                continue
            pairs += 1
            score += sign(order[i] - order[j]) * sign(a.cycles - b.cycles)
    return score / pairs if pairs else None


def differ(a, b):
    """Do measured times differ by more than the noise of either?"""
    noise = max(a.spread * a.cycles, b.spread * b.cycles)
    return abs(a.cycles - b.cycles) > max(noise, LEAST_DIFFERENCE * min(a.cycles, b.cycles))


def sign(value):
    return (value > 0) - (value < 0)


def ranking(order):
    """Places from the least on; of equal ones the first comes first."""
    return sorted(range(len(order)), key=lambda place: order[place])


def within_first(order, programs, count):
    enough = min(program.cycles for program in programs) * (1 + LEAST_DIFFERENCE)
    return any(programs[place].cycles <= enough for place in ranking(order)[:count])


def error_of_choice(order, cycles, programs):
    choice = ranking(order)[0]
    return abs(cycles[choice] - programs[choice].cycles) / programs[choice].cycles


def tile_ape(orders, specs):
    lost = best = 0
    for order, spec in zip(orders, specs):
        least = min(program.seconds for program in spec.programs)
        lost += spec.programs[ranking(order)[0]].seconds - least
        best += least
    return lost / best if best else 0


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def figures(model, specs):
    """All FIGURES of a model (models.py) over some specs; and of each spec its tau, by its text."""
    orders = [model.order(spec) for spec in specs]
    both = [(order, spec.programs) for order, spec in zip(orders, specs)]
    taus = {spec.text: kendall_tau(order, spec.programs) for order, spec in zip(orders, specs)}
    taus = {text: tau for text, tau in taus.items() if tau is not None}
    result = {"kendall_tau": mean(taus.values()), "tile_ape": tile_ape(orders, specs)}
    for count in (1, 5, 10):
        result[f"within_first_{count}"] = mean(within_first(*spec, count) for spec in both)
    estimates = [model.cycles(spec) for spec in specs]
    errors = [error_of_choice(order, cycles, spec.programs)
              for order, cycles, spec in zip(orders, estimates, specs) if cycles is not None]
    result["mape"] = mean(errors)
    return result, taus


class Analytic:
    """The model that predicts what the cost model does."""

    def order(self, spec):
        return self.cycles(spec)

    def cycles(self, spec):
        return [program.predicted for program in spec.programs]


def check_figures(specs, corpus):
    for split, stated in corpus["splits"].items():
        tested = [spec for spec in specs if split in spec.tested]
        if not tested:
            continue
        for name, value in figures(Analytic(), tested)[0].items():
            if (value is None) != (stated[name] is None) or value is not None and abs(value - stated[name]) > 1e-9:
                raise ValueError(f"{split} {name}: expected {stated[name]} as kirsch says, got {value}")
