#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a learned model adds to the cost model, on programs that `kirsch fidelity` measured.

    fidelity/learned/compare.py build/release/kirsch corpus.json ... --shipped shipped.json --calibrated calibrated.json

Prices the measured programs with both targets' constants, then fits each model to some specs and tests it on others. README.md says
what the splits and the figures are. Needs scikit-learn.
"""
import argparse
import bz2
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from corpus import FIGURES, Analytic, figures, read_corpus, shared_programs
from models import MODELS

RESAMPLES = 2000


def unpacked(corpora, folder):
    """Paths of files that kirsch reads."""
    paths = []
    for number, path in enumerate(corpora):
        if path.endswith(".bz2"):
            text = bz2.decompress(pathlib.Path(path).read_bytes())
            path = pathlib.Path(folder) / f"{number}.json"
            path.write_bytes(text)
        paths.append(path)
    return paths


def priced(kirsch, corpora, target, folder):
    path = pathlib.Path(folder) / "priced.json"
    files = [argument for corpus in corpora for argument in ("--corpus", corpus)]
    subprocess.run([kirsch, "fidelity", *files, "--target", target, "--json", str(path)], check=True,
                   stdout=subprocess.DEVNULL)
    return read_corpus(path)


def tested_at_random(specs, seed):
    """Places of half of the specs, the larger half."""
    return set(random.Random(seed).sample(range(len(specs)), (len(specs) + 1) // 2))


def tested_as_dissimilar(specs, seed):
    return {place for place, spec in enumerate(specs) if "dissimilar" in spec.tested}


SPLITS = {"random": tested_at_random, "dissimilar": tested_as_dissimilar}


def parted(specs, tested):
    """What a model is fitted to, and what it is tested on: no spec is in both."""
    return ([spec for place, spec in enumerate(specs) if place not in tested],
            [spec for place, spec in enumerate(specs) if place in tested])


def row_of(make, specs, split, seeds):
    """The figures for each seed, and of each tested spec its mean tau."""
    row = {name: [] for name in FIGURES}
    all_taus = {}
    for seed in range(seeds):
        training, test = parted(specs, split(specs, seed))
        result, taus = figures(make(training, seed), test)
        for name, value in result.items():
            row[name].append(value)
        for text, tau in taus.items():
            all_taus.setdefault(text, []).append(tau)
    return row, {text: statistics.mean(taus) for text, taus in all_taus.items()}


def rows_of(shipped, calibrated):
    """(name, corpus, how a model is made of training specs and a seed) for each line of the table."""
    yield "analytic, shipped", shipped, lambda training, seed: Analytic()
    yield "analytic, calibrated", calibrated, lambda training, seed: Analytic()
    for base, specs, residual in (("learned alone", shipped, False), ("shipped", shipped, True),
                                  ("calibrated", calibrated, True)):
        for name, make in MODELS.items():
            if make(residual) is not None:
                yield (f"{base}{' + ' if residual else ': '}{name}", specs,
                       lambda training, seed, make=make, residual=residual: make(residual).fit(training, seed))


def interval(differences):
    """Of their mean, 95 %, by drawing specs anew."""
    dice = random.Random(0)
    means = sorted(statistics.fmean(dice.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]


def cell(values, scale, digits):
    if None in values:
        return "-"
    spread = f" ± {scale * statistics.stdev(values):.{digits}f}" if len(set(values)) > 1 else ""
    return f"{scale * statistics.fmean(values):.{digits}f}{spread}"


def print_table(split, table):
    print(f"\n**{split}**\n\n| model | tau | against calibrated | tile-APE % | in first 1 % | 5 % | 10 % | MAPE % |")
    print("|---|---|---|---|---|---|---|---|")
    base = table["analytic, calibrated"][1]
    for name, (row, taus) in table.items():
        cells = [cell(row["kendall_tau"], 1, 3), "-"] + [cell(row[figure], 100, 1) for figure in FIGURES[1:]]
        differences = [taus[text] - base[text] for text in taus if text in base]
        if any(differences):
            low, high = interval(differences)
            cells[1] = f"{statistics.fmean(differences):+.3f} ({low:+.3f} to {high:+.3f})"
        print("|", " | ".join([name] + cells), "|", flush=True)


def winners(table):
    """Models on the calibrated costs that lose no figure but MAPE to these alone, and win tau beyond chance."""
    base, base_taus = table["analytic, calibrated"]
    for name, (row, taus) in table.items():
        if not name.startswith("calibrated + "):
            continue
        gains = [statistics.fmean(row[figure]) - statistics.fmean(base[figure]) for figure in FIGURES[:-1]]
        gains[FIGURES.index("tile_ape")] *= -1
        if min(gains) >= 0 and interval([taus[text] - base_taus[text] for text in taus])[0] > 0:
            yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kirsch", help="the binary")
    parser.add_argument("corpora", nargs="+", help="files of kirsch fidelity --json, or of pack.py")
    parser.add_argument("--shipped", required=True, help="a target with the constants that come with kirsch")
    parser.add_argument("--calibrated", default="host", help="a target with those of this machine (%(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--json", help="write all figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpora = unpacked(arguments.corpora, folder)
        shipped, calibrated = shared_programs([priced(arguments.kirsch, corpora, target, folder)
                                               for target in (arguments.shipped, arguments.calibrated)])
    print(f"{len(shipped)} specs, {sum(len(spec.programs) for spec in shipped)} programs, {arguments.seeds} seeds")
    tables = {}
    for name, split in SPLITS.items():
        tables[name] = {line: row_of(make, specs, split, arguments.seeds)
                        for line, specs, make in rows_of(shipped, calibrated)}
        print_table(name, tables[name])
    won = list(winners(tables["dissimilar"]))
    print("\nBetter than calibrated costs on the dissimilar split in tau beyond chance, and in no figure worse:",
          ", ".join(won) or "none")
    if arguments.json:
        rows = {split: {name: row for name, (row, _) in table.items()} for split, table in tables.items()}
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
