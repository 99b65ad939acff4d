#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one small file of corpora: the decisions of each program and what was measured, nothing that kirsch can compute again.

    fidelity/learned/pack.py corpus.json ... -o measured.json.bz2
"""
import argparse
import bz2
import json
import pathlib

from corpus import without_comments


def packed(corpora):
    """As `kirsch fidelity --corpus` reads it; of a program that is in several corpora the first measurement."""
    specs = {}
    for corpus in corpora:
        for spec in corpus["specs"]:
            programs = specs.setdefault(spec["spec"], {"ghz": spec["ghz"], "programs": {}})["programs"]
            for program in spec["programs"]:
                schedule = without_comments(program["schedule"])
                programs.setdefault(schedule, {"schedule": schedule} | {
                    key: float(f"{program[key]:.5g}") for key in ("cycles", "seconds", "spread")})
    return {"threads": corpora[0]["threads"], "cold": corpora[0]["cold"],
            "specs": [{"spec": text, "ghz": spec["ghz"], "programs": list(spec["programs"].values())}
                      for text, spec in specs.items()]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="+", help="files of kirsch fidelity --json, measured alike")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    corpora = [json.loads(pathlib.Path(path).read_text()) for path in arguments.corpora]
    text = json.dumps(packed(corpora), separators=(",", ":"))
    pathlib.Path(arguments.output).write_bytes(bz2.compress(text.encode()))


if __name__ == "__main__":
    main()
