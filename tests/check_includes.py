#!/usr/bin/env python3
"""Checks that every #include is one its folder may have: the drawing of the house in README.md, as rules.

Usage: check_includes.py SOURCE_DIRECTORY | --selftest. Prints one line per wrong include; exit code 1 if any.
"""
import pathlib
import re
import sys

# Folder -> the folders whose headers it may include, besides its own. Folders not named here may see everything.
MAY_SEE = {
    "spec": set(),
    "rewrites": {"spec"},
    "cost": {"spec"},
    "memo": {"spec"},
    "search": {"spec", "rewrites", "cost", "memo"},
    "codegen": {"spec"},
    "page": set(),
}
# Single headers allowed beyond that.
EXCEPTIONS = {("memo", "cost/cost.h")}  # the Cost value type
FOLDERS = set(MAY_SEE) | {"bench", "fidelity", "library", "tools", "tests"}
# Header pattern -> the only folders that may include it.
ONLY_IN = {
    r"llvm(-c)?/": {"codegen"},
    r"boost/": {"bench", "spec"},
    r"CLI/": {"tools"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def complaint(folder, header):
    """Why a file in `folder` may not include `header`, or None."""
    for pattern, owners in ONLY_IN.items():
        if re.match(pattern, header) and folder not in owners:
            return f"only {'/, '.join(sorted(owners))}/ includes {header}"
    seen = header.split("/")[0]
    if folder not in MAY_SEE or seen not in FOLDERS or seen == folder:
        return None
    if seen in MAY_SEE[folder] or (folder, header) in EXCEPTIONS:
        return None
    return f"{folder}/ may not include {header}"


def check(root):
    complaints = []
    for folder in sorted(FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cc", ".in"}:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                problem = complaint(folder, match.group(1)) if match else None
                if problem:
                    complaints.append(f"{path.relative_to(root)}:{number}: {problem}")
    return complaints


def selftest():
    for folder, header in [("spec", "cost/cost.h"), ("rewrites", "cost/cost.h"), ("cost", "rewrites/spec/rewrite.h"),
                           ("codegen", "rewrites/spec/rewrite.h"), ("memo", "cost/cost_model.h"), ("memo", "search/solver/search.h"),
                           ("search", "codegen/lower.h"), ("spec", "llvm/IR/Module.h"), ("tests", "llvm-c/Core.h"),
                           ("memo", "boost/icl/interval_map.hpp"), ("cost", "tools/cli.h")]:
        assert complaint(folder, header), f"{folder} including {header} was let through"
    for folder, header in [("memo", "cost/cost.h"), ("search", "cost/cost_model.h"), ("codegen", "llvm/IR/Module.h"),
                           ("tools", "search/solver/search.h"), ("bench", "codegen/llvm/jit.h"), ("spec", "spec/spec.h"),
                           ("bench", "boost/icl/interval_map.hpp"), ("cost", "vector"), ("tests", "memo/memo.h")]:
        assert not complaint(folder, header), f"{folder} including {header} was refused"


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
