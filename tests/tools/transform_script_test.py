# SPDX-License-Identifier: Apache-2.0
"""Are the loops, copies and vectors that MLIR makes of `synth --emit transform` those of our program?

transform_script_test.py SOURCE_DIRECTORY KIRSCH. MLIR's own interpreter applies the script of each spec of
bench/suites/gemm_f32.json, of a few others, and of graphs; what it makes is compared with what `kirsch query` says.
Exit code 77: there is no mlir-opt.
"""
import collections
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
REFUSED = {"matmul u8*s8->s32 8x8x8": "of floats", "matmul f32 8x8x8 lda=9": "dense",
           "matmul f32 1..4x8x8": "a single kernel",
           "layernorm f32 2x8": "got layernorm", "conv2d f32 1x4x8x8 filters=4 kernel=3x3 groups=2": "got conv2d"}
MLP = "kernel g(x: f32[{m},{k}], w: f32[{k},{n}], b: f32[{n}]): return {f}(add(matmul(x, w), b))"
ATTENTION = ("kernel g(q: f32[{h}{t},{d}], k: f32[{h}{t},{d}], v: f32[{h}{t},{d}]): "
             "return matmul(softmax(mul(matmul(q, transpose(k)), 0.125)), v)")
GRAPHS = [
    "matmul f32 96x64x80 epilogue=add:n,relu", "matmul f32 33x70x129 epilogue=mul:mn,add:n,gelu",
    *(MLP.format(m=m, k=k, n=n, f=f) for m, k, n, f in ((128, 256, 512, "gelu"), (64, 96, 100, "silu"), (7, 300, 64, "sigmoid"))),
    "kernel g(x: f32[32,64], w: f32[64,96], v: f32[96,48]): return matmul(relu(matmul(x, w)), v)",
    "kernel g(x: f32[128,64], w: f32[64,256], v: f32[64,256], o: f32[256,64]): return matmul(mul(silu(matmul(x, w)), matmul(x, v)), o)",
    "kernel g(x: f32[64,64], w: f32[64,64], b: f32[64]): y = matmul(x, w); s = add(y, x); t = tanh(add(y, b)); return s, t",
    *(ATTENTION.format(h=h, t=t, d=d) for h, t, d in (("", 64, 32), ("4,", 48, 64), ("2,3,", 40, 16))),
    "kernel g(x: f32[32,48], w: f32[48,80]): return softmax(matmul(x, w))",
    "kernel g(x: f32[4,32,48], w: f32[1,48,80]): return matmul(x, w)",
    "kernel g(x: f32[6,20,30], w: f32[6,30,50], b: f32[50]): return exp(add(matmul(x, w), b))",
    "kernel g(x: f32[40,60], w: f32[60,72]): return reduce_sum(relu(matmul(x, w)), axis=1)",
    "conv2d f32 1x16x14x14 filters=32 kernel=3x3 layout=nhwc", "conv2d f32 1x16x14x14 filters=32 kernel=3x3 pad=1 layout=nhwc",
    "conv2d f32 2x8x12x10 filters=16 kernel=3x3 stride=2 pad=1 layout=nchw", "conv1d f32 1x24x100 filters=32 kernel=3 pad=1 layout=nwc",
    "conv2d f32 1x64x28x28 filters=64 kernel=1x1 layout=nhwc epilogue=relu",
]
# Every elementwise function that has words there.
FUNCTIONS = ["neg", "exp", "tanh", "erf", "sqrt", "rsqrt", "abs", "floor", "ceil", "round", "log", "log1p", "expm1", "sin", "cos",
             "sigmoid", "silu", "gelu", "relu"]
PAIRS = ["add", "sub", "mul", "div", "max", "min", "pow"]
ELEMENTWISE = [f"kernel g(x: f32[8,16], w: f32[16,8]): return {f}(matmul(x, w))" for f in FUNCTIONS] + [
    f"kernel g(x: f32[8,16], w: f32[16,8], b: f32[8,1]): return {f}(matmul(x, w), b)" for f in PAIRS] + [
    "kernel g(x: f32[8,16], w: f32[16,8]): return reduce_max(sub(2.5, add(matmul(x, w), 1e-20)), axis=1)"]


def kirsch(directory, command, spec, *options):
    """What a command prints; `spec` may have options behind it."""
    spec, *more = spec.split(" --")
    more = [word for option in more for word in ("--" + option).split()]
    environment = {**os.environ, "KIRSCH_CONFIG": "none", "XDG_CACHE_HOME": directory}
    return subprocess.run([KIRSCH, command, spec, "--target", "haswell", *more, *options], env=environment,
                          capture_output=True, text=True, check=False)


def applied(directory, script):
    """The function as the interpreter leaves it, or what it complains of."""
    path = pathlib.Path(directory) / "script.mlir"
    path.write_text(script)
    done = subprocess.run([MLIR_OPT, "--transform-interpreter", path], capture_output=True, text=True, check=False)
    return done.stdout.split("transform.named_sequence")[0] if done.returncode == 0 else done.stderr


def sides(spec):
    """Sizes of a matmul by the names of its dims, and whether operands lie by columns."""
    batch, m, k, n = re.search(r" (?:(\d+):)?(\d+)x(\d+)x(\d+)", spec).groups()
    return {"b": int(batch or 1), "m": int(m), "k": int(k), "n": int(n)}


def expected(steps, left, spec):
    """What there is around the product: sizes of loops, shapes of copies, then the vectors."""
    events = []
    for step in steps:
        if step["step"] in ("tile", "split"):  # MLIR has what such tiles leave as the last trip
            events.append(step["size"])
            left[step["dim"]] = step["size"]
        if step["step"] == "pack":
            outer, inner = ("m", "k") if step["operand"] == "lhs" else ("k", "n")
            if f"{step['operand']}=col" in spec:
                outer, inner = inner, outer
            events.append(("copy", left[outer], left[inner]))
    if left["k"] > 1:
        events.append(1)
    return events + [("vector", left["m"], left["n"])]


def events_of(function):
    """The same of what the interpreter has made. A loop that threads share is made of its own size by an affine map."""
    found = []
    for step, shared, copy, vector in re.findall(
            r"scf\.for .* step %c(\d+)|affine_map<\(d0\) -> \(d0 \* (\d+)\)>|tensor\.pad \S+ nofold [^}]*\} : \S+ to tensor<(\S+)x(?:bf|f)\d+>"
            r"|vector\.multi_reduction <add>, .* : vector<(\S+)xf\d+> to", function):
        numbers = [int(number) for number in (copy or vector).split("x") if number]
        found.append(int(step or shared or 0) or (("copy", *numbers[-2:]) if copy else ("vector", *numbers[-3:-1])))
    return found


def check_matmuls(directory, failures):
    specs = json.loads((SOURCE / "bench/suites/gemm_f32.json").read_text())["specs"] + OTHERS
    compared = copies = 0
    for spec in specs:
        made = kirsch(directory, "synth", spec, "--emit", "transform", "--no-verify")
        answer = json.loads(kirsch(directory, "query", spec).stdout)["kernels"][0]["answer"]
        ours, function = expected(answer["steps"], sides(spec), spec), applied(directory, made.stdout)
        theirs = events_of(function)
        compared += len(ours)
        copies += sum(1 for event in ours if isinstance(event, tuple) and event[0] == "copy")
        if made.returncode != 0 or ours != theirs:
            failures.append(f"{spec}: ours {ours}, MLIR's {theirs} {made.stderr} {'' if theirs else function[:500]}")
    assert compared > 200 and copies > 10, (compared, copies)
    return len(specs)


def loops_around(function, name):
    """Steps of the loops around the operation of that name, outermost first, by indentation."""
    lines = function.splitlines()
    at = next(i for i, line in enumerate(lines) if f'kirsch = "{name}"' in line)
    depth, found = len(lines[at]) - len(lines[at].lstrip()), []
    maps = dict(re.findall(r"(#map\d*) = affine_map<\(d0\) -> \(d0 \* (\d+)\)>", function))
    for line in reversed(lines[:at]):
        indent = len(line) - len(line.lstrip())
        if indent >= depth or "scf.for" not in line:
            continue
        depth = indent
        step = re.search(r" step %c(\d+)", line)
        found.insert(0, int(step.group(1)) if step else sorted(int(size) for size in maps.values()))
    return found


def check_graphs(directory, failures):
    tiled = vectors = 0
    for kernel in GRAPHS:
        made = kirsch(directory, "synth", kernel, "--emit", "transform", "--no-verify")
        if made.returncode != 0:
            failures.append(f"{kernel}: {made.stderr}")
            continue
        script = made.stdout
        if "scf" not in (function := applied(directory, script)):
            failures.append(f"{kernel}: {function[:800]}")
            continue
        vectors += function.count("vector.multi_reduction")
        answer = json.loads(kirsch(directory, "query", kernel).stdout)["kernels"][0]["answer"]
        programs = [[step["size"] for step in program["steps"] if step["step"] in ("tile", "split")]
                    for program in answer.get("programs", [answer])]
        # Vectors have no names, so the loops are looked at without them.
        plain = applied(directory, re.sub(r".*structured\.vectorize.*\n", "", script))
        for name, main in re.findall(r"%(\w+)_op = .*\n((?:  .*\n)*?)(?=  %\w+_op|  transform\.yield)", script):
            sizes = []
            for sequence in re.findall(rf"transform\.include @({name}_\w+)", main):
                body = re.search(rf"@{sequence}\(.*\n(.*)\n", script).group(1)
                sizes += [int(size) for size in re.findall(r"\d+", body.split("tile_sizes [")[1].split("]")[0]) if size != "0"] \
                    if "tile_sizes" in body else []
            theirs = loops_around(plain, name)
            tiled += len(sizes)
            if theirs != sizes:
                failures.append(f"{kernel}: {name}: the script's tiles {sizes}, MLIR's loops {theirs}")
            # Pixels are several loops, so of images only the number of tiles is ours.
            if "conv" not in kernel and not any(sizes[:-1][-len(ours):] == ours or not ours or sizes[-len(ours):] == ours
                                                for ours in programs):
                failures.append(f"{kernel}: {name}: the script's tiles {sizes}, our programs' {programs}")
    assert tiled > 40 and vectors > 10, (tiled, vectors)
    return len(GRAPHS)


def operations(kernel):
    """How often a kernel has each operation. A relu is what it is imported as."""
    kernel = kernel.replace("relu(", "max(").split(":", 1)[1 if kernel.startswith("kernel") else 0]
    return collections.Counter(re.findall(r"\b([a-z][a-z_0-9]*)\(", kernel.split("):", 1)[-1].split(":\n", 1)[-1]))


def check_meaning(directory, failures):
    """The functions of linalg are imported as what they were."""
    kernels = [kernel for kernel in GRAPHS if kernel.startswith("kernel")] + ELEMENTWISE
    for kernel in kernels:
        script = kirsch(directory, "synth", kernel, "--emit", "transform", "--no-verify").stdout
        path = pathlib.Path(directory) / "function.mlir"
        function = re.search(r"func\.func .*?\n}\n", script, re.S)
        path.write_text(function.group(0) if function else script)
        imported = subprocess.run([KIRSCH, "import", path], capture_output=True, text=True, check=False)
        if operations(imported.stdout) != operations(kernel):
            failures.append(f"{kernel}: imported as {imported.stdout}{imported.stderr}")


def main():
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        matmuls, graphs = check_matmuls(directory, failures), check_graphs(directory, failures)
        check_meaning(directory, failures)
        for spec, why in REFUSED.items():
            made = kirsch(directory, "synth", spec, "--emit", "transform")
            if made.returncode != 2 or why not in made.stderr or made.stderr.count("\n") != 1:
                failures.append(f"{spec}: expected to be refused ({why}), got {made.returncode} {made.stderr}")
    print("\n".join(failures) or f"what MLIR makes of {matmuls} matmuls and {graphs} graphs is ours")
    return 1 if failures else 0


MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")
sys.exit(main() if MLIR_OPT else 77)
