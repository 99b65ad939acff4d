# SPDX-License-Identifier: Apache-2.0
"""Runs what a page of documentation says to run, and compares what it says is printed.

Usage: docs_test.py PAGE KIRSCH_BINARY SOURCE_DIRECTORY | docs_test.py --selftest

A page's fenced blocks run from top to bottom in one empty directory, in which the repository's folders and
`build/release` are links. By the word behind the fence:

    console         `$ COMMAND`, then the output that is expected of it; without any, the output is not compared
    sh              a command a line; outputs are not compared
    python          one program
    ANY file=NAME   is written to NAME

What a command prints is its standard output, then its standard error. In an expected output `...` stands for any text
within a line; a line that is only `...` for any lines. A command that ends with `# not run: REASON` is not run, one
with `# exit code N` has to end so. Other blocks may not begin a line with `$ ` or `kirsch `: they would never run.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)[ ]?(.*)$")
NOT_RUN = re.compile(r"#\s*not run: \S")
EXIT_CODE = re.compile(r"#\s*exit code (\d+)$")
GENERATED = re.compile(r"^<!-- generated: ")


class Fault(Exception):
    """What is wrong, and in which line."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


def blocks(text):
    """(number of the first line, language, the other words, lines, generated) of each fenced block."""
    found, opened, generated = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened = (number + 1, fence.group(1), fence.group(2), [], generated)
            elif line.strip():
                generated = bool(GENERATED.match(line))
        elif line == "```":
            found.append(opened)
            opened, generated = None, False
        else:
            opened[3].append(line)
    if opened is not None:
        raise Fault(opened[0], "this block has no end")
    return found


def commands(first, lines):
    """(line, command, expected lines) of a console block. A command goes on in the next line after a backslash."""
    found = []
    goes_on = False
    for number, line in enumerate(lines, first):
        if goes_on:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
        elif not found:
            raise Fault(number, "a console block begins with `$ COMMAND`")
        else:
            found[-1][2].append(line)
            continue
        goes_on = line.endswith("\\")
    return found


def matches(expected, got):
    """True if the lines `got` are as `expected`, a pattern of lines."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n")
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in got)) is not None


def run(line, command, expected, folder, environment):
    if NOT_RUN.search(command):
        return
    done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    printed = done.stdout + done.stderr
    code = EXIT_CODE.search(command)
    if done.returncode != (int(code.group(1)) if code else 0):
        raise Fault(line, f"{command}\nended with exit code {done.returncode}:\n{printed}")
    if expected and not matches(expected, printed.splitlines()):
        raise Fault(line, f"{command}\nprinted\n{printed}\nbut the page says\n" + "\n".join(expected))


def run_block(block, folder, environment):
    first, language, words, lines, generated = block
    name = re.search(r"\bfile=(\S+)", words)
    if name:
        (folder / name.group(1)).write_text("\n".join(lines) + "\n")
    elif language == "console":
        for line, command, expected in commands(first, lines):
            run(line, command, expected, folder, environment)
    elif language == "sh":
        for number, line in enumerate(lines, first):
            if line.strip() and not line.lstrip().startswith("#"):
                run(number, line, [], folder, environment)
    elif language == "python":
        (folder / "program.py").write_text("\n".join(lines) + "\n")
        if importable(environment):
            run(first, f"{environment['KIRSCH_PYTHON']} program.py", [], folder, environment)
    elif not generated:
        for number, line in enumerate(lines, first):
            if re.match(r"\s*(\$ |kirsch )", line):
                raise Fault(number, f"{line}\nis in a block that does not run: make it `console` or `sh`")


def importable(environment):
    return subprocess.run([environment["KIRSCH_PYTHON"], "-c", "import kirsch"], env=environment, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def run_page(page, kirsch, source):
    text = page.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"    (\$ |kirsch )", line):
            raise Fault(number, f"{line}\nis indented, so it does not run: put it into a fenced block")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary, "work")
        folder.mkdir()
        for entry in source.iterdir():
            if entry.name != "build":
                (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(kirsch.parent)
        environment = dict(os.environ, XDG_CACHE_HOME=f"{temporary}/cache", KIRSCH_CONFIG="none", LC_ALL="C.UTF-8",
                           PATH=f"{kirsch.parent}:{os.environ['PATH']}", PYTHONPATH=str(kirsch.parent / "python"),
                           PYTHONDONTWRITEBYTECODE="1")
        environment.setdefault("KIRSCH_PYTHON", "/usr/bin/python3")
        for block in blocks(text):
            run_block(block, folder, environment)


def selftest():
    assert matches(["a ... c", "...", "z"], ["a b c", "1", "2", "z"])
    assert matches(["a", "...", "z"], ["a", "z"])
    assert not matches(["a"], ["b"]) and not matches(["a"], ["a", "b"]) and not matches(["...", "z"], ["y"])
    assert not matches(["a.c"], ["abc"])
    assert commands(1, ["$ a \\", "  b", "out", "$ c"]) == [[1, "a \\\n  b", ["out"]], [4, "c", []]]
    environment = dict(os.environ, KIRSCH_PYTHON=sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        def faults(text):
            try:
                for block in blocks(text):
                    run_block(block, pathlib.Path(folder), environment)
            except Fault as fault:
                return fault.line
            return None

        assert faults("```console\n$ echo 12 s\n... s\n```\n") is None
        assert faults("\n```console\n$ echo 12 s\n13 s\n```\n") == 3
        assert faults("```sh\ntrue\nfalse\n```\n") == 3
        assert faults("```sh\nfalse  # not run: for example\n```\n") is None
        assert faults("```sh\n(exit 2)  # exit code 2\ntrue  # exit code 2\n```\n") == 3
        assert faults("```c file=x.c\nint x;\n```\n```sh\ngrep -q x x.c\n```\n") is None
        assert faults("```\nkirsch synth\n```\n") == 2
        assert faults("<!-- generated: x -->\n```\nkirsch synth\n```\n") is None
        assert faults("```\n") == 2


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    if len(arguments) != 3:
        return __doc__
    page, kirsch, source = (pathlib.Path(argument).absolute() for argument in arguments)
    try:
        run_page(page, kirsch, source)
    except Fault as fault:
        return f"{page}:{fault.line}: {fault}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
