#!/usr/bin/env python3
"""Writes HEADER: a hash of the code behind each part of a run, so that a row can say which code trained it.

    code_marks.py SOURCE HEADER

Parts: `engine`, `models` and `datasets` of every run; each registered optimizer and controller; each
method. An entry's code is its file pair with the files of its folder that these include, over any
number of steps, and every file of the folder that no entry reaches so. Not counted: harness/base,
and harness/accounting, whose results are numbers in a run's config; optimizers/facts.cpp and
optimizers/options.h, whose defaults are in a run's config too, or never change; registries and templates.
HYFREEDP_CODE_OF_ALL is a hash of all of them. HEADER is written only where it changes, so that
nothing is built again for nothing.
"""
import hashlib
import os
import re
import sys

ENGINE = ["harness/training", "harness/mechanism", "harness/kernels", "harness/random", "harness/trial"]
NOT_TRAINING = ["harness/training/audit/", "harness/training/worker/audit.", "harness/trial/code_marks.", "datasets/fetch/",
                "harness/training/worker/generate."]
NOT_AN_ENTRYS = ["optimizers/facts.cpp", "optimizers/options.h", "optimizers/registry.", "baselines/registry.",
                 "optimizers/template.", "baselines/template."]
ENDINGS = (".h", ".cpp", ".cu")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_of(source, folder):
    """Of the folder and those below it, relative to the checkout, sorted."""
    found = []
    for place, _, names in os.walk(os.path.join(source, folder)):
        found += [os.path.relpath(os.path.join(place, name), source) for name in names if name.endswith(ENDINGS)]
    return sorted(path for path in found if not any(path.startswith(other) for other in NOT_TRAINING))


def mark(source, files):
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.encode() + b"\0" + hashlib.sha256(read(os.path.join(source, path))).digest())
    return digest.hexdigest()[:16]


def included(source, path):
    """What it includes, relative to the checkout; a name alone is that of a file beside it."""
    found = []
    for name in re.findall(r'^#include "([^"]+)"', read(os.path.join(source, path)).decode(), re.M):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        found.append(beside if os.path.exists(os.path.join(source, beside)) else name)
    return found


def reached(source, header, folder):
    """The files of `folder` that the pair of `header` includes, over any number of steps."""
    seen, waiting = set(), [header]
    while waiting:
        path = waiting.pop()
        if path in seen or not path.startswith(folder + "/") or not os.path.exists(os.path.join(source, path)):
            continue
        if path.startswith(tuple(NOT_AN_ENTRYS)):
            continue
        seen.add(path)
        waiting += included(source, path)
        if path.endswith(".h"):
            waiting.append(path[:-2] + ".cpp")
    return seen


def declaring(source, registry, what):
    """The header that `registry` includes and in which `what` (a pattern) occurs."""
    for header in included(source, registry):
        path = os.path.join(source, header)
        if os.path.exists(path) and re.search(what, read(path).decode()):
            return header
    sys.exit(f"code_marks.py: none of the headers that {registry} includes has {what}")


def table(text, name):
    """The lines of the table `name` of a registry."""
    return re.search(name + r".*?\{(.*?)\n\s*// New ", text, re.S).group(1)


def entries(source):
    """(kind, name, header, folder) of every registered entry."""
    registry = "optimizers/registry.cpp"
    text = read(os.path.join(source, registry)).decode()
    for kind, list_name in (("optimizer", r"kOptimizers\[\]"), ("controller", r"kControllers\[\]")):
        for name, make in re.findall(r'\{"([^"]+)", (\w+)\}', table(text, list_name)):
            yield kind, name, declaring(source, registry, rf"\b{make}\("), "optimizers"
    registry = "baselines/registry.cpp"
    for make in re.findall(r"(\w+)\(\),", table(read(os.path.join(source, registry)).decode(), "all =")):
        yield "method", make.replace("_", "-"), declaring(source, registry, rf"\b{make}\(\)"), "baselines"


def main(source, header):
    lines = [("engine", "", [path for folder in ENGINE for path in files_of(source, folder)]),
             ("models", "", files_of(source, "harness/models")),
             ("datasets", "", files_of(source, "datasets"))]
    found = [(kind, name, reached(source, path, folder), folder) for kind, name, path, folder in entries(source)]
    for folder in ("optimizers", "baselines"):
        of_folder = [(kind, name, files) for kind, name, files, place in found if place == folder]
        of_any = set().union(*(files for _, _, files in of_folder))
        rest = {path for path in files_of(source, folder)
                if path not in of_any and not path.startswith(tuple(NOT_AN_ENTRYS))}
        lines += [(kind, name, files | rest) for kind, name, files in of_folder]
    marks = ", \\\n  ".join('{"%s", "%s", "%s"}' % (kind, name, mark(source, files)) for kind, name, files in lines)
    content = f"#define HYFREEDP_CODE_MARKS \\\n  {marks}\n"
    content += f'#define HYFREEDP_CODE_OF_ALL "{hashlib.sha256(marks.encode()).hexdigest()[:16]}"\n'
    if not os.path.exists(header) or read(header).decode() != content:
        os.makedirs(os.path.dirname(header), exist_ok=True)
        with open(header, "w") as file:
            file.write(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
