#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what Markdown files talk about exists.

Usage: check_docs.py SOURCE_DIRECTORY [KIRSCH_BINARY] | --selftest. Prints a line per complaint; exit code 1 if any.

- Links lead to files, and to headings that these have.
- Names in backticks exist: files by their name, options, and identifiers of code (CamelCase, kConstant, a::b).
- Design notes (in all folders but docs/) have at most 1,500 words, and no line of prose is longer than 120 characters.
- Every key of target files (`kirsch help TARGET`) is explained in docs/targets.md.

Dated records (bench/RESULTS.md, bench/lab/, CHANGELOG.md) speak of what was, so only their links are checked.
"""
import pathlib
import re
import subprocess
import sys

RECORDS = re.compile(r"^(bench/RESULTS\.md|bench/lab/.*|CHANGELOG\.md)$")
LONG = {"fidelity/learned/README.md", "memo/FORMAT.md"}  # a report; a format to be implemented from
SKIPPED = {"build", ".git"}
MOST_WORDS, MOST_CHARACTERS = 1500, 120

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"^(?:[\w.-]+/)*[\w-]+\.(?:h|hpp|cc|c|py|md|json|in|css|js|map|kirsch)$")
FOLDER = re.compile(r"^(?:[\w-]+/)+$")
IDENTIFIER = re.compile(r"^(?:[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|k[A-Z]\w+|\w+(?:::\w+)+)(?:\(\))?$")
OPTION = re.compile(r"^--[a-z][a-z-]+")
# Files that users write, or programs make, on these pages.
MADE = re.compile(r"^(NAME|FILE|SIGNATURE|my|mine|matmul64|mlp|layer|report|why|r|t|f|new|host|m|c|corpus|scatter|program|engine|model|few)\.")


def files_of(root):
    for path in sorted(root.rglob("*")):
        if path.is_file() and not SKIPPED.intersection(path.relative_to(root).parts):
            yield path


def without_fences(text):
    """The lines of `text`, those of fenced blocks empty."""
    lines, fenced = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append("" if fenced or fence else line)
        fenced ^= fence
    return lines


def anchors(text):
    found = set()
    for line in without_fences(text):
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(words.replace(" ", "-"))
    return found


class Repository:
    def __init__(self, root):
        self.root = root
        self.paths = [path.relative_to(root).as_posix() for path in files_of(root)]
        self.names = {path.rsplit("/", 1)[-1] for path in self.paths}
        self.folders = {part for path in self.paths for part in path.split("/")[:-1]}
        code = [path for path in self.paths if re.search(r"\.(h|hpp|cc|c|py|in|css|js|txt|cmake|sh|map)$|^scripts/|^\.ci/", path)]
        self.code = "\n".join((root / path).read_text(errors="replace") for path in code)
        self.words = set(re.findall(r"\w+", self.code))

    def has_file(self, name):
        return any(path == name or path.endswith("/" + name) for path in self.paths) or bool(MADE.match(name.rsplit("/", 1)[-1]))

    def complaint_of_name(self, name):
        name = name.removeprefix("../")
        if FILE.match(name):
            return None if self.has_file(name) else f"there is no file {name}"
        if FOLDER.match(name):
            return None if set(name.strip("/").split("/")) <= self.folders else f"there is no folder {name}"
        if IDENTIFIER.match(name):
            unknown = [part for part in re.split(r"::|\(\)", name) if part and part not in self.words]
            return f"nothing in the code is called {unknown[0]}" if unknown else None
        option = OPTION.match(name)
        if option and option.group() not in self.code:
            return f"no program has the option {option.group()}"
        return None


def complaints_of_links(repository, path, lines):
    for number, line in enumerate(lines, 1):
        for link in LINK.findall(line):
            target, _, anchor = link.partition("#")
            if "://" in target:
                continue
            file = (repository.root / path).parent / target if target else repository.root / path
            if not file.exists():
                yield number, f"the link leads nowhere: {link}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                yield number, f"there is no such heading: {link}"


def complaints_of_prose(repository, path, lines):
    for number, line in enumerate(lines, 1):
        for name in CODE.findall(line):
            complaint = repository.complaint_of_name(name)
            if complaint:
                yield number, complaint
        if len(line) > MOST_CHARACTERS and path not in LONG and not line.startswith(("|", "    ")):
            yield number, f"{len(line)} characters in a line"
    words = sum(len(line.split()) for line in lines)
    if "/" in path and not path.startswith("docs/") and path not in LONG and words > MOST_WORDS:
        yield 1, f"{words} words"


def check(root):
    repository = Repository(root)
    found = []
    for path in repository.paths:
        if path.endswith(".md"):
            lines = without_fences((root / path).read_text())
            found += [f"{path}:{number}: {text}" for number, text in complaints_of_links(repository, path, lines)]
            if not RECORDS.match(path):
                found += [f"{path}:{number}: {text}" for number, text in complaints_of_prose(repository, path, lines)]
    return found


def check_keys(root, kirsch):
    """Complaints about keys of target files that docs/targets.md does not explain, and about those that are none."""
    printed = subprocess.run([kirsch, "help", "TARGET"], capture_output=True, text=True, check=True).stdout.split("\nFeatures\n")[0]
    keys = {line.split()[0] for line in printed.splitlines() if line.startswith("  ")}
    rows = [line for line in (root / "docs/targets.md").read_text().splitlines() if line.startswith("| `")]
    explained = {name for row in rows for name in CODE.findall(row.split("|")[1])}
    return [f"docs/targets.md: {key} is not explained" for key in sorted(keys - explained)] + \
           [f"docs/targets.md: {key} is no key" for key in sorted(explained - keys)]


def selftest():
    assert FILE.match("search/solver/solver.h") and not FILE.match("a b.h") and FOLDER.match("a/b/")
    for name in ["FindRegions", "kResident", "TileShape::counted", "Check()"]:
        assert name == "Check()" or IDENTIFIER.match(name), name
    for name in ["Spec", "f32", "matmul", "q4_0", "out=col"]:
        assert not IDENTIFIER.match(name), name
    assert anchors("# A b, `c`\n```\n# no\n```\n") == {"a-b-c"}
    assert without_fences("a\n```\nb\n```\nc") == ["a", "", "", "", "c"]


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    if len(arguments) not in (1, 2):
        return __doc__
    root = pathlib.Path(arguments[0])
    found = check(root) + (check_keys(root, arguments[1]) if len(arguments) == 2 else [])
    return "\n".join(found) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
