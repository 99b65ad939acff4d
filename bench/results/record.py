#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what kirsch chooses for a suite, and compares that with an earlier record.

    bench/results/record.py build/release/kirsch > before.json
    bench/results/record.py build/release/kirsch --against before.json

For each entry and target: predicted cycles, a hash of the schedule or plan, seconds of search, a hash of the object. A change that is
not meant to change any choice leaves all but the seconds as they were; the differences are printed, and the exit status is 1 then.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

SUITE = pathlib.Path(__file__).parents[1] / "suites" / "record.json"


def record(kirsch, entry, target, folder):
    """One row: what is chosen for the entry, a shorthand or the lines of a kernel."""
    obj, report = folder / "kernel.o", folder / "report.json"
    if isinstance(entry, str):
        request = [entry]
    else:
        (folder / "kernel.kirsch").write_text("\n".join(entry) + "\n")
        request = ["-f", str(folder / "kernel.kirsch")]
    command = [kirsch, "synth", *request, "--target", target, "--no-db", "--no-verify", "--emit", "obj",
               "-o", str(obj), "--json", str(report)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return {"error": run.stderr.strip().splitlines()[-1:]}
    found = json.loads(report.read_text())
    digest = lambda data: hashlib.sha256(data).hexdigest()[:16]
    decisions = found.get("schedule", found.get("plan"))
    return {"cycles": found["cost_cycles"], "decisions": digest(decisions.encode()),
            "object": digest(obj.read_bytes()), "seconds": round(found["search"]["seconds"], 3)}


def differences(before, now):
    """The fields in which two rows differ, the seconds aside."""
    return [key for key in sorted(before.keys() | now.keys()) if key != "seconds" and before.get(key) != now.get(key)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kirsch")
    parser.add_argument("--suite", type=pathlib.Path, default=SUITE)
    parser.add_argument("--targets", default="haswell,znver4,sapphirerapids")
    parser.add_argument("--against", type=pathlib.Path, help="an earlier record")
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for entry in json.loads(options.suite.read_text())["specs"]:
            for target in options.targets.split(","):
                name = entry if isinstance(entry, str) else entry[0]
                rows[f"{target}: {name}"] = record(options.kirsch, entry, target, pathlib.Path(folder))
    if options.against is None:
        json.dump(rows, sys.stdout, indent=0)
        return 0
    before = json.loads(options.against.read_text())
    changed = 0
    for name, row in rows.items():
        different = differences(before.get(name, {}), row)
        changed += bool(different)
        for key in different:
            print(f"{name}: {key}: {before.get(name, {}).get(key)} -> {row.get(key)}")
    print(f"{len(rows)} rows, {changed} differ; search {sum(r.get('seconds', 0) for r in before.values()):.1f} s -> "
          f"{sum(r.get('seconds', 0) for r in rows.values()):.1f} s")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
