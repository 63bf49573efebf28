"""A Sphinx extension of the book as a module: `book/_ext` is no package."""

import importlib.util

from helpers import paths


def load(name):
    spec = importlib.util.spec_from_file_location(name, paths.BOOK / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
