# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package by CMake. KIRSCH_BUILD_DIRECTORY: where the project has been built already."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def run(*command):
    try:
        subprocess.run([str(word) for word in command], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"kirsch: {error}; scripts/build has the list of what it is built with")


def pybind11():
    """Where the headers of this Python's pybind11 are, if it has any; else CMake looks for the system's."""
    if not importlib.util.find_spec("pybind11"):
        return []
    import pybind11
    return [f"-DPYBIND11_INCLUDE={pybind11.get_include()}"]


def configure(directory):
    run("cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DKIRSCH_PYTHON={sys.executable}", "-DKIRSCH_REQUIRE_PYTHON=ON", *pybind11())


class CMakeBuild(build_ext):
    """Installs CMake's component `python` where setuptools expects the module."""

    def build_extension(self, extension):
        directory = os.environ.get("KIRSCH_BUILD_DIRECTORY")
        if not directory:
            directory = pathlib.Path(self.build_temp).resolve()
            configure(directory)
            run("cmake", "--build", directory, "--target", "kirsch_python")
        module = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        run("cmake", "--install", directory, "--component", "python", "--prefix", module.parent.parent)
        if not module.exists():
            sys.exit(f"kirsch: what is in {directory} was built for another Python than {sys.version.split()[0]}")


def version():
    """That of the project; a copy of the Python files alone, for what was built before, has none."""
    directory = os.environ.get("KIRSCH_BUILD_DIRECTORY")
    if directory:
        return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(\S+)", (pathlib.Path(directory) / "CMakeCache.txt").read_text(), re.M)[1]
    return re.search(r"^project\(kirsch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


if not importlib.util.find_spec("wheel") and not importlib.util.find_spec("setuptools.command.bdist_wheel"):
    sys.exit("kirsch: --no-build-isolation takes what pyproject.toml requires: pip install setuptools wheel pybind11")
setup(version=version(), ext_modules=[Extension("kirsch._kirsch", sources=[])], cmdclass={"build_ext": CMakeBuild})
