# SPDX-License-Identifier: Apache-2.0
"""Installs the package into a virtual environment that has nothing of the system's, as users do, and runs its tests there
with the oldest, the first and the newest NumPy of those that differ. Skips (77) where no package index can be reached.

Usage: bare_venv.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from install import copy_source, run

NUMPY = ("numpy==1.24.*", "numpy==2.0.*", "numpy")


def configures(source, python, place, environment):
    """A build from source knows the target that setup.py asks for, with the environment's own pybind11."""
    headers = run(python, "-c", "import pybind11; print(pybind11.get_include())", env=environment).strip()
    run("cmake", "-S", source, "-B", place / "build", "-G", "Ninja", f"-DKIRSCH_PYTHON={python}", f"-DPYBIND11_INCLUDE={headers}",
        "-DKIRSCH_REQUIRE_PYTHON=ON", env=environment)
    run("ninja", "-C", place / "build", "-t", "query", "kirsch_python")


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory(dir=build) as directory:
        place = pathlib.Path(directory)
        run(sys.executable, "-m", "venv", place / "venv")
        python = place / "venv/bin/python"
        pip = (python, "-m", "pip", "install", "-q")
        if subprocess.run([*pip, "--retries", "0", "--timeout", "10", "pybind11"], env=environment).returncode != 0:
            print("skipped: no package index can be reached")
            return 77
        configures(source, python, place, environment)
        copy_source(source, place / "source")
        run(*pip, NUMPY[0], "pytest", place / "source", env=dict(environment, KIRSCH_BUILD_DIRECTORY=str(build)))
        for numpy in NUMPY:
            run(*pip, "--upgrade", numpy, env=environment)
            run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", source / "python/tests/kirsch_test.py", cwd=place, env=environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
