"""The titles of the pages of the API, for `make messages`: each is the last word of a route."""

import ast
import re
from collections.abc import Iterator
from typing import Any


def titles(file: Any, *_asked: object, **_options: object) -> Iterator[tuple[Any, ...]]:
    """A method of Babel that extracts the titles from a module with routes.

    As the browsable API makes them, of routes of viewsets that have no other name.
    """
    for node in ast.walk(ast.parse(file.read())):
        match node:
            case ast.Call(ast.Name("path"), [ast.Constant(str(route)), view, *_rest]):
                word, shown = route.rpartition("/")[2], ast.unparse(view)
                is_page = re.search(r"ViewSet|^include\(", shown) and "name=" not in shown
                if is_page and re.fullmatch("[a-z-]+", word):
                    yield node.lineno, None, word.replace("-", " ").capitalize(), []
