# SPDX-License-Identifier: BSD-2-Clause
"""The files of the repository, as the checks see them.

A Tree is a directory, or a dictionary of path and text in the unit tests.
"""
import os
import re
import subprocess


def git(root, *words):
    """What git prints, or None if the directory is no clone or git refuses."""
    try:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True,
                              text=True, errors="replace", check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def list_directory(root):
    """Every file in a directory that is no clone, such as an unpacked release."""
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in (".git", "build")]
        for name in files:
            yield os.path.relpath(os.path.join(directory, name), root)


class Tree:
    """Files by path; paths are relative to the root and use slashes."""

    def __init__(self, root=None, texts=None):
        self.root = root
        self.texts = dict(texts or {})
        self.paths = sorted(self.texts) if root is None else sorted(self.list_files())

    def list_files(self):
        listed = git(self.root, "ls-files", "--cached", "--others", "--exclude-standard")
        names = list_directory(self.root) if listed is None else set(listed.splitlines())
        return [name for name in names if os.path.isfile(os.path.join(self.root, name))]

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def has(self, path):
        return path in self.paths

    def matching(self, pattern):
        """The paths that the regular expression matches as a whole."""
        return [path for path in self.paths if re.fullmatch(pattern, path)]

    def optional(self, path):
        """The text of a file, or nothing if there is no such file."""
        return self.text(path) if self.has(path) else ""
