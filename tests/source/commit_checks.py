# SPDX-License-Identifier: BSD-2-Clause
"""Checks of commit messages.

They hold for the commits after the one that added this file.  Git finds that
one by the path; in a shallow clone it is at worst the oldest commit there, so
that only what was fetched after it is checked.
"""
import collections
import re

import tree as files

MARK = "tests/source/commit_checks.py"
COLUMNS = 60
REASON_FOR = ("driver/", "libomx/")

Commit = collections.namedtuple("Commit", "hash subject body paths")

NO_VERB = {"a", "an", "the", "what", "who", "when", "where", "which", "how", "why", "every",
           "each", "no", "one", "it", "that", "this", "there", "all", "more", "less", "as", "to"}
# Imperatives that end like other forms of a verb.
IMPERATIVES = {"bring", "ring", "sing", "ping", "swing", "string", "spring", "fling", "cling",
               "embed", "shed", "shred", "wed", "bias", "focus", "alias", "canvas"}


def is_imperative(word):
    if word in IMPERATIVES or word.endswith("eed"):
        return True
    if word in NO_VERB or not re.fullmatch(r"[a-z][a-z-]*", word):
        return False
    return not (word.endswith(("ed", "ing")) or (word.endswith("s") and not word.endswith("ss")))


def check_subject(subject):
    match = re.fullmatch(r"([a-z0-9_][\w./,* -]*): (\S.*)", subject)
    if not match:
        yield 'write "part: what it does"'
        return
    verb = match.group(2).split()[0].lower().rstrip(",:")
    if not is_imperative(verb):
        yield f'begin with a verb in the imperative after "{match.group(1)}:", not with "{verb}"'
    if len(subject) > COLUMNS:
        yield f"{len(subject)} columns; shorten the subject to {COLUMNS}"
    if subject.endswith("."):
        yield "remove the period at the end of the subject"


def check_body(body, paths):
    if not any(path.startswith(REASON_FOR) for path in paths):
        return
    lines = [line for line in body.splitlines() if not re.match(r"[A-Z][\w-]*-by: ", line)]
    if not "".join(lines).strip():
        yield "add a body that gives the reason: it changes driver/ or libomx/"


def check_commit(commit):
    for message in [*check_subject(commit.subject), *check_body(commit.body, commit.paths)]:
        yield f"commit {commit.hash[:10]} ({commit.subject}): {message}"


def commits_since_mark(root):
    """The commits to check; none if this is no clone."""
    added = files.git(root, "log", "--diff-filter=A", "--no-renames", "--format=%H", "--", MARK)
    if not added or not added.split():
        return
    newest = added.split()[0]
    listed = files.git(root, "log", "--no-merges", "--name-only",
                       "--format=%x01%H%x02%s%x02%b%x02", f"{newest}..HEAD") or ""
    for entry in listed.split("\x01")[1:]:
        name, subject, body, paths = entry.split("\x02", 3)
        yield Commit(name, subject, body, paths.split())


def commit_messages(tree):
    for commit in commits_since_mark(tree.root) if tree.root else ():
        yield from check_commit(commit)


def count_commits(tree):
    """One line for --verbose."""
    yield f"{len(list(commits_since_mark(tree.root)))} commits checked"


CHECKS = (commit_messages,)
