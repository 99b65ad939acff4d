# SPDX-License-Identifier: Apache-2.0
"""Do the JSON reports of all commands follow the schemas in docs/json/?

report_schemas_test.py SOURCE_DIRECTORY KIRSCH. Runs every command that has --json, in several forms, and validates
what it writes. The validator knows the few keywords that our schemas use, and refuses others.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCHEMAS = pathlib.Path(sys.argv[1]) / "docs" / "json"
KIRSCH = sys.argv[2]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
         "number": (int, float)}
REMARKS = {"$schema", "$defs", "title", "description"}

KERNELS = """\
kernel r(x: f32[8]): return relu(x)
s = softmax f32 2x8
"""

# Schema: the arguments whose reports it is for. "--json FILE" follows.
RUNS = {
    "synth": ["synth 'matmul f32 8x8x8 const-rhs'", "synth 'softmax f32 2x8' --no-verify",
              "synth 'matmul f32 1..3x8x8 const-rhs' --no-verify", "synth 'softmax f32 1..3x8' --no-verify",
              "synth -f {dir}/k.kirsch --target haswell,znver4 --no-verify",
              "synth 'matmul f32 16x16x16' --tune=1 --no-verify"],
    "verify": ["verify 'matmul f32 8x8x8'"],
    "explain": ["explain 'matmul f32 20x30x40' --best 3", "explain 'softmax f32 8x64' --best 2 --twins",
                "explain 'attention f32 heads=1 tokens=16 dim=16'", "explain 'matmul f32 1..3x4x4'"],
    "query": ["query 'matmul f32 20x30x40' --best 3 --given 'tile m 4'", "query 'softmax f32 8x64' --best 2",
              "query 'attention f32 heads=1 tokens=16 dim=16' --threads 2", "query 'matmul f32 1..3x4x4'"],
    "bench": ["bench 'matmul f32 32x32x32' --against header:cc,mkl",
              "bench 'matmul f32 32x32x32 const-rhs' --against eigen --rotate=3"],
    "fidelity": ["fidelity 'matmul f32 16x16x16' --quick --programs 2", "fidelity --static --kernels 2",
                 "fidelity --chosen=1 --quick --programs 2"],
    "db-stats": ["db stats"],
    "db-precompute": ["db precompute 'matmul f32 1..2x4x4'"],
}


def load(name):
    return json.loads((SCHEMAS / name).read_text())


class Validator:
    """Validates against one schema file; `file` is what "#/..." refers to."""

    def __init__(self, file):
        self.file, self.document = file, load(file)

    def resolve(self, reference):
        file, _, path = reference.partition("#/")
        validator = Validator(file) if file else self
        schema = validator.document
        for part in path.split("/"):
            schema = schema[part]
        return validator, schema

    def errors(self, value, schema, place="report"):
        if "$ref" in schema:
            validator, target = self.resolve(schema["$ref"])
            return validator.errors(value, target, place)
        errors = []
        for keyword, wanted in schema.items():
            if keyword not in REMARKS and keyword not in ("required", "additionalProperties"):
                errors += getattr(self, keyword)(value, wanted, place)
        if isinstance(value, dict):
            errors += self.keys(value, schema, place)
        return errors

    def type(self, value, wanted, place):
        names = [wanted] if isinstance(wanted, str) else wanted
        right = any(isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
                    for name in names)
        return [] if right else [f"{place}: expected {wanted}, got {value!r:.60}"]

    def const(self, value, wanted, place):
        return [] if value == wanted else [f"{place}: expected {wanted!r}, got {value!r:.60}"]

    def pattern(self, value, wanted, place):
        return [] if isinstance(value, str) and re.search(wanted, value) else [f"{place}: expected {wanted}, got {value!r:.60}"]

    def anyOf(self, value, wanted, place):  # pylint: disable=invalid-name
        tried = [self.errors(value, schema, place) for schema in wanted]
        return [] if [] in tried else min(tried, key=len)

    def items(self, value, wanted, place):
        items = enumerate(value) if isinstance(value, list) else []
        return [error for i, item in items for error in self.errors(item, wanted, f"{place}[{i}]")]

    def properties(self, value, wanted, place):
        return [error for key, schema in wanted.items()
                if isinstance(value, dict) and key in value
                for error in self.errors(value[key], schema, f"{place}.{key}")]

    def keys(self, value, schema, place):
        errors = [f"{place}: expected the key {key!r}" for key in schema.get("required", []) if key not in value]
        others = schema.get("additionalProperties", True)
        for key in value.keys() - schema.get("properties", {}).keys():
            if others is False:
                errors.append(f"{place}: the schema has no key {key!r}")
            elif others is not True:
                errors += self.errors(value[key], others, f"{place}.{key}")
        return errors


def check_validator():
    """It finds what it is there to find."""
    validator = Validator("db-precompute.schema.json")
    good = {"command": "db precompute", "version": "1", "schema_version": 1, "target": "t", "family": "f", "file": "t",
            "roots": 1, "known": 0, "solved": 1, "new_entries": 2, "seconds": 0.5}
    assert validator.errors(good, validator.document) == []
    for wrong in ({"roots": "1"}, {"roots": True}, {"more": 1}, {"command": "db stats"}):
        assert len(validator.errors({**good, **wrong}, validator.document)) == 1, wrong
    del good["target"]
    assert len(validator.errors(good, validator.document)) == 1


def run(arguments, directory):
    environment = {**os.environ, "KIRSCH_CONFIG": "none", "XDG_CACHE_HOME": directory}
    return subprocess.run(f"{KIRSCH} {arguments}", shell=True, env=environment, capture_output=True, text=True,
                          check=False)


def commands_with_json(directory):
    """Those whose help lists --json."""
    def names(prefix):
        listed = run(f"help {prefix}", directory).stdout.split("\nSubcommands:\n")
        return re.findall(r"^  ([a-z]+) ", listed[1].split("\n\n")[0], re.M) if len(listed) > 1 else []
    all_names = [name for name in names("") if name != "help"]
    all_names += [f"{above} {below}" for above in list(all_names) for below in names(above)]
    return {name for name in all_names if "--json" in run(f"help {name}", directory).stdout}


def main():
    check_validator()
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "k.kirsch").write_text(KERNELS)
        missing = commands_with_json(directory) ^ {name.replace("-", " ") for name in RUNS}
        failures += [f"{name}: expected a schema, and a report that is held against it" for name in missing]
        for name, runs in RUNS.items():
            validator = Validator(f"{name}.schema.json")
            for arguments in runs:
                report = pathlib.Path(directory, "report.json")
                done = run(f"{arguments.format(dir=directory)} --json {report}", directory)
                if done.returncode not in (0, 3) or not report.exists():
                    failures.append(f"{arguments}: exit code {done.returncode}: {done.stderr}")
                    continue
                written = json.loads(report.read_text())
                report.unlink()
                failures += [f"{arguments}: {error}" for error in validator.errors(written, validator.document)]
                timed = name in ("bench",) or "--tune" in arguments or "--quick" in arguments
                if timed != ("date" in written):
                    failures.append(f"{arguments}: expected {'a' if timed else 'no'} date")
    print("\n".join(failures) or "all reports follow their schemas")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
