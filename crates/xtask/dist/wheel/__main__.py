"""`python -m cloom library` and `python -m cloom icd` print paths; all else is the program `cloom`."""

import importlib.metadata
import os
import pathlib
import shutil
import sys

import cloom


def program():
    """The path of the program, which pip has put beside Python's own programs."""
    try:
        files = importlib.metadata.files("cloom") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = [file.locate() for file in files if file.name == "cloom" and file.parent.name != "cloom"]
    # Of `pip install --target`, which moves it.
    found.append(pathlib.Path(cloom.__file__).resolve().parent.parent / "bin" / "cloom")
    for path in found:
        if os.access(path, os.X_OK) and pathlib.Path(path).is_file():
            return os.path.realpath(path)
    return shutil.which("cloom")


def main():
    words = sys.argv[1:]
    if words in (["library"], ["icd"]):
        print(getattr(cloom, words[0])())
        return
    path = program()
    if path is None:
        sys.exit("python -m cloom: the program cloom is missing; pip install --force-reinstall cloom")
    os.execv(path, [path, *words])


main()
