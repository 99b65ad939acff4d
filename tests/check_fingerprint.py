# SPDX-License-Identifier: Apache-2.0
"""Is any source that the search's answers depend on missing from its fingerprints?

check_fingerprint.py SOURCE_DIRECTORY BUILD_DIRECTORY. Asks those who know: the symbols of the objects say what the
linker takes for the rules (search/, rewrites/) and for the cost model (cost/), the build's dependencies say which
headers these were compiled from. Prints one line per missing file; exit code 1 if any.
"""
import pathlib
import re
import subprocess
import sys

ROOTS = {"rules": ("search", "rewrites"), "cost": ("cost",)}
FOLDERS = ("spec", "rewrites", "cost", "memo", "search")
GENERATED = {"spec/target_files.cc": "spec/target/target_files.cc.in"}


def run(*command, cwd):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


def object_sources(source, build):
    """Object -> its source (relative) and all of ours that it was compiled from."""
    sources = {}
    for block in run("ninja", "-t", "deps", cwd=build).split("\n\n"):
        name, *files = block.strip().split("\n")
        folder = name.split("/")[0]
        name = name.split(":")[0]
        if folder not in FOLDERS or f"kirsch_{folder}.dir" not in name or not (build / name).exists():
            continue
        ours = []
        for file in files:
            path = (build / file.strip()).resolve()
            if path.is_relative_to(build):
                path = path.relative_to(build)
            elif path.is_relative_to(source):
                path = path.relative_to(source)
            if not path.is_absolute() and path.parts[0] in FOLDERS:
                ours.append(GENERATED.get(str(path), str(path)))
        sources[name] = ours
    return sources


def symbols(build, objects):
    """Symbol -> the object that defines it; object -> the symbols it needs."""
    defined, needed = {}, {}
    for line in run("nm", "-A", *objects, cwd=build).splitlines():
        name, kind, symbol = re.match(r"([^:]*):\s*(?:[0-9a-f]+)?\s+(\S) (\S+)", line).groups()
        if kind == "U":
            needed.setdefault(name, set()).add(symbol)
        elif kind in "TDBR":
            defined[symbol] = name
    return defined, needed


def main(source, build):
    sources = object_sources(source, build)
    defined, needed = symbols(build, sources)
    complaints = []
    for name, roots in ROOTS.items():
        listed = set((build / f"generated/search/table/{name}_sources.txt").read_text().split())
        reached = {}  # object -> why
        open_objects = [o for o in sources if o.split("/")[0] in roots]
        assert open_objects, f"no objects of {roots}"
        reached.update({o: "a root" for o in open_objects})
        while open_objects:
            current = open_objects.pop()
            for symbol in needed.get(current, ()):
                found = defined.get(symbol)
                if found and found not in reached:
                    reached[found] = f"{current} calls {symbol}"
                    open_objects.append(found)
        for found, why in reached.items():
            complaints += [f"{name}: {file} is missing ({why})" for file in sources[found] if file not in listed]
        assert len(listed) > 50 and len(reached) > 10, "that is hardly all"
    return sorted(set(complaints))


if __name__ == "__main__":
    found = main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:3]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
