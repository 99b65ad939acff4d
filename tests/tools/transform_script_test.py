# SPDX-License-Identifier: Apache-2.0
"""Do the loops that MLIR makes of `synth --emit transform` have the tile sizes of our program?

transform_script_test.py SOURCE_DIRECTORY KIRSCH. MLIR's own interpreter applies the script of each spec of
bench/suites/gemm_f32.json, and of a few others. Exit code 77: there is no mlir-opt.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, KIRSCH = pathlib.Path(sys.argv[1]), sys.argv[2]
OTHERS = ["matmul f32 64x48x80 accumulate", "matmul f32 64x48x80 lhs=col", "matmul bf16*bf16->f32 30x40x50 rhs=col",
          "matmul f32 3:5x70x90", "matmul f64 100x100x100", "matmul f32 512x512x512 --threads 2"]
REFUSED = {"matmul f32 8x8x8 epilogue=relu": "without an epilogue", "matmul u8*s8->s32 8x8x8": "of floats",
           "matmul f32 8x8x8 lda=9": "dense", "matmul f32 8x8x8 lhs=col rhs=col": "one of lhs and rhs",
           "matmul f32 1..4x8x8": "a single matmul", "softmax f32 2x8": "a single matmul"}


def kirsch(directory, command, spec, *options):
    """What a command prints; `spec` may have options behind it."""
    spec, *more = spec.split(" --")
    more = [word for option in more for word in ("--" + option).split()]
    environment = {**os.environ, "KIRSCH_CONFIG": "none", "XDG_CACHE_HOME": directory}
    return subprocess.run([KIRSCH, command, spec, "--target", "haswell", *more, *options], env=environment,
                          capture_output=True, text=True, check=False)


def tiles(directory, spec):
    """Sizes of the tiles that the program has, outermost first."""
    answer = json.loads(kirsch(directory, "query", spec).stdout)["kernels"][0]["answer"]
    return [step["size"] for step in answer["steps"] if step["step"] == "tile"]


def loops(directory, script):
    """Steps of the loops that the interpreter makes, outermost first: those around the product."""
    path = pathlib.Path(directory) / "script.mlir"
    path.write_text(script)
    done = subprocess.run([MLIR_OPT, "--transform-interpreter", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    function = done.stdout.split("transform.named_sequence")[0]
    # A loop that threads share is made of its own size by an affine map.
    return [int(step or shared) for step, shared in
            re.findall(r"scf\.for .* step %c(\d+)|affine_map<\(d0\) -> \(d0 \* (\d+)\)>", function)]


def main():
    specs = json.loads((SOURCE / "bench/suites/gemm_f32.json").read_text())["specs"] + OTHERS
    failures, compared = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for spec in specs:
            made = kirsch(directory, "synth", spec, "--emit", "transform", "--no-verify")
            ours, theirs = tiles(directory, spec), loops(directory, made.stdout)
            compared += len(ours)
            if made.returncode != 0 or ours != theirs:
                failures.append(f"{spec}: tiles {ours}, loops {theirs} {made.stderr}")
        for spec, why in REFUSED.items():
            made = kirsch(directory, "synth", spec, "--emit", "transform")
            if made.returncode != 2 or why not in made.stderr or made.stderr.count("\n") != 1:
                failures.append(f"{spec}: expected to be refused ({why}), got {made.returncode} {made.stderr}")
    assert compared > 100, compared
    print("\n".join(failures) or f"the loops of {len(specs)} scripts are ours")
    return 1 if failures else 0


MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")
sys.exit(main() if MLIR_OPT else 77)
