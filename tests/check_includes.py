#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include is one its folder may have: the drawing of the house in README.md, as rules.

Usage: check_includes.py SOURCE_DIRECTORY | --selftest. Prints one line per wrong include, and one per folder without
a rule; exit code 1 if any.
"""
import pathlib
import re
import sys

# Folder -> what its files may include, besides its own. "spec" is the folder alone, "spec/" with all below it. The
# rules have no cycle (the self-test sees to that), so no two folders include each other.
MAY_SEE = {
    # Text knows nothing of specs; the language is what turns it into specs, graphs and plans.
    "spec/text": {},
    "spec": {"spec/text"},
    "spec/target": {"spec", "spec/text"},
    "spec/graph": {"spec", "spec/text"},
    "spec/program": {"spec", "spec/text", "spec/graph"},
    "spec/meaning": {"spec", "spec/text", "spec/graph", "spec/program"},
    "spec/language": {"spec", "spec/text", "spec/graph", "spec/program"},

    "rewrites/analysis": {"spec/"},
    "rewrites/spec": {"spec/"},
    "rewrites/graph": {"spec/", "rewrites/analysis", "rewrites/spec"},

    "cost": {"spec/"},
    "memo": {"spec/"},

    "search/solver": {"spec/", "rewrites/spec", "cost", "memo"},
    "search/graph": {"spec/", "rewrites/", "cost", "memo", "search/solver"},
    "search/families": {"spec/", "rewrites/", "cost", "memo", "search/solver", "search/graph"},
    "search/ranking": {"spec/", "rewrites/", "cost", "memo", "search/solver", "search/graph"},
    "search/sampling": {"spec/", "rewrites/", "cost", "memo", "search/solver", "search/graph"},
    "search/table": {"spec/", "rewrites/", "cost", "memo", "search/solver", "search/graph"},
    "search/explain": {"spec/", "rewrites/", "cost", "memo", "search/solver"},

    "codegen/loop": {"spec/"},
    "codegen/kernels": {"spec/", "codegen/loop"},
    "codegen": {"spec/", "codegen/loop", "codegen/kernels"},
    "codegen/c": {"spec/", "codegen/loop", "codegen/kernels"},
    "codegen/samples": {"spec/", "codegen/c"},
    "codegen/header": {"spec/", "codegen", "codegen/loop", "codegen/c", "codegen/samples"},
    "codegen/llvm": {"spec/", "codegen", "codegen/loop", "codegen/c", "codegen/header"},
    "codegen/verify": {"spec/", "codegen", "codegen/loop", "codegen/c", "codegen/header", "codegen/llvm",
                       "codegen/samples"},

    "page": {},

    "import": {"spec/"},
    "import/plugin": {},

    "synthesis": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/"},
    "synthesis/explain": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "synthesis"},

    # A plug-in is compiled by itself; the workload has the interface.
    "bench/machine": {"spec/"},
    "bench/workload": {"spec/", "codegen/", "bench/machine"},
    "bench/loops": {"spec/", "codegen/", "bench/machine", "bench/workload"},
    "bench/contenders": {"spec/", "codegen/", "bench/machine", "bench/workload", "bench/loops"},
    "bench/contenders/peers": {"spec/", "bench/workload"},
    "bench/results": {"spec/", "codegen/", "bench/machine"},
    "bench/harness": {"spec/", "codegen/", "bench/machine", "bench/workload", "bench/loops", "bench/contenders",
                      "bench/results"},
    "bench/micro/representations": {"spec/", "memo"},
    "bench/micro": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "bench/workload",
                    "bench/micro/representations"},

    "calibrate": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "page", "bench/"},
    "fidelity": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "page", "bench/"},
    "tools": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "page", "bench/", "calibrate", "fidelity",
              "import/", "synthesis/"},
    "library": {"spec/", "rewrites/", "cost", "memo", "search/", "codegen/", "synthesis/"},
    "python": {"library"},
}
# Single headers allowed beyond that.
EXCEPTIONS = {("memo", "cost/cost.h")}  # the Cost value type
# They and what is below them may include everything.
FREE = {"tests", "examples"}
# Header pattern -> the only top folders that may include it.
ONLY_IN = {
    r"llvm(-c)?/": {"codegen", "import/plugin"},
    r"mlir(-c)?/": {"import/plugin"},
    r"boost/": {"bench", "spec"},
    r"CLI/": {"tools"},
}

TOPS = {folder.split("/")[0] for folder in MAY_SEE} | FREE
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def sees(folder, seen):
    """Do the rules let `folder` include a header that lies in `seen`?"""
    if seen == folder:
        return True
    for rule in MAY_SEE[folder]:
        if seen == rule.rstrip("/") or (rule.endswith("/") and seen.startswith(rule)):
            return True
    return False


def complaint(folder, header):
    """Why a file in `folder` may not include `header`, or None."""
    top = folder.split("/")[0]
    for pattern, owners in ONLY_IN.items():
        if re.match(pattern, header) and not {top, folder} & owners:
            return f"only {'/, '.join(sorted(owners))}/ includes {header}"
    if top in FREE or header.split("/")[0] not in TOPS or "/" not in header:
        return None
    if sees(folder, header.rsplit("/", 1)[0]) or (folder, header) in EXCEPTIONS:
        return None
    return f"{folder}/ may not include {header}"


def known(folder):
    return folder in MAY_SEE or folder.split("/")[0] in FREE


def sources(root):
    """The sources by folder; what begins with a dot, or is built, is none of ours."""
    folders = {}
    for top in sorted(path for path in root.iterdir() if path.is_dir()):
        if top.name.startswith(".") or top.name == "build":
            continue
        for path in sorted(top.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                folders.setdefault(str(path.parent.relative_to(root)), []).append(path)
    return folders


def check(root):
    complaints = []
    for folder, paths in sources(root).items():
        if not known(folder):
            complaints.append(f"{folder}/: no rule says what it may include; see MAY_SEE in tests/check_includes.py")
            continue
        for path in paths:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                problem = complaint(folder, match.group(1)) if match else None
                if problem:
                    complaints.append(f"{path.relative_to(root)}:{number}: {problem}")
    return complaints


def check_acyclic():
    """Can one go from no folder back to itself by what the rules allow?"""
    done = set()

    def visit(folder, path):
        assert folder not in path, f"the rules have a cycle: {' -> '.join(path + [folder])}"
        if folder in done:
            return
        for other in MAY_SEE:
            if other != folder and sees(folder, other):
                visit(other, path + [folder])
        done.add(folder)

    for folder in MAY_SEE:
        visit(folder, [])


def check_unknown_folder():
    """A new folder, at the top or below another, is refused until it has a rule."""
    import tempfile
    for new in ("spec/newcomer", "newcomer"):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "spec").mkdir()
            (root / "spec/spec.h").write_text('#include "spec/text/cat.h"\n')
            assert not check(root), check(root)
            (root / new).mkdir()
            (root / new / "header.h").write_text("\n")
            assert any(line.startswith(f"{new}/: no rule") for line in check(root)), f"{new} was let through"


def selftest():
    for folder, header in [("spec", "cost/cost.h"), ("rewrites/spec", "cost/cost.h"), ("cost", "rewrites/spec/rewrite.h"),
                           ("codegen/loop", "rewrites/spec/rewrite.h"), ("memo", "cost/cost_model.h"),
                           ("memo", "search/solver/search.h"), ("search/solver", "codegen/lower.h"),
                           ("spec", "llvm/IR/Module.h"), ("tests/spec", "llvm-c/Core.h"),
                           ("memo", "boost/icl/interval_map.hpp"), ("cost", "tools/cli.h"),
                           ("spec", "spec/graph/graph.h"), ("spec/graph", "spec/language/graph_parser.h"),
                           ("rewrites/spec", "rewrites/graph/rows.h"), ("search/graph", "search/ranking/k_best.h"),
                           ("codegen/loop", "codegen/kernels/pack.h"), ("codegen/header", "codegen/verify/verify.h"),
                           ("bench/workload", "bench/harness/run.h"), ("synthesis", "tools/console.h"),
                           ("synthesis", "synthesis/explain/explained.h"), ("library", "tools/output.h")]:
        assert complaint(folder, header), f"{folder} including {header} was let through"
    for folder, header in [("memo", "cost/cost.h"), ("search/solver", "cost/cost_model.h"),
                           ("codegen/llvm", "llvm/IR/Module.h"), ("tools", "search/solver/search.h"),
                           ("bench/micro", "codegen/llvm/jit.h"), ("spec", "spec/spec.h"), ("spec", "spec/text/cat.h"),
                           ("bench/micro", "boost/icl/interval_map.hpp"), ("cost", "vector"), ("tests/memo", "memo/memo.h"),
                           ("search/families", "search/graph/plan_search.h"), ("library", "synthesis/kernel_library.h")]:
        assert not complaint(folder, header), f"{folder} including {header} was refused"
    check_acyclic()
    check_unknown_folder()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--selftest":
        selftest()
        sys.exit(0)
    if not (pathlib.Path(sys.argv[1]) / "spec").is_dir():
        sys.exit(f"{sys.argv[1]}: no source directory")
    found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
