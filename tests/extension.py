"""A Sphinx extension of the book, or a script of the project, as a module: neither lies in a package."""

import importlib.util

from helpers import paths


def load(name, folder=paths.BOOK / "_ext"):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
