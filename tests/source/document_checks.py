# SPDX-License-Identifier: BSD-2-Clause
"""Checks that documents say what the sources say.  Each yields messages."""
import collections
import os.path
import re

import c_text

ARCHITECTURE = "docs/ARCHITECTURE.md"
COUNTERS = "docs/COUNTERS.md"
REFERENCES = "docs/REFERENCES.md"
COUNTER_LIST = "driver/observe/counters.h"
TRACE_LIST = "driver/observe/trace.h"
ABI = "contract/omx_abi.h"
WIRE = "contract/omx_wire.h"
VERSION = "contract/omx_version.h"
LIBRARY_MAP = "libomx/libomx.map"
OVERVIEW_PAGE = "docs/man/omx.7"
DEVICE_PAGE = "docs/man/omx.4"
ENVIRONMENT_PAGE = "docs/man/omx-environment.7"

DOCUMENTS = r"(docs/([^/]*/)*[^/]*|[^/]*)\.md"
PRODUCT = r"(driver|libomx|contract)/.*\.[ch]|contract/.*\.txt"
SMALL_PATHS = ("Sending a small message", "Receiving a small message")
READING_PATHS = SMALL_PATHS + ("A large message", "A page fault", "An invalidation")
SMALL_PATH_FILES = 6


def sections(text, level):
    """Title and text of each section of this level."""
    mark = "#" * level + " "
    parts = re.split(r"(?m)^(?=#{1,%d} )" % level, text)
    for part in parts:
        if part.startswith(mark):
            title, _, body = part.partition("\n")
            yield title[len(mark):].strip(), body


def section(text, level, title):
    return next((body for name, body in sections(text, level) if name == title), "")


def rows(text):
    """The cells of each row of the tables in a text."""
    for line in text.splitlines():
        if line.startswith("|") and not re.match(r"\|[-| ]*\|$", line):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def resolve(tree, path, base=""):
    """The file that a document means; driver/ and libomx/ may be left out."""
    for prefix in (base, "", "driver/", "libomx/", "docs/"):
        name = os.path.normpath(os.path.join(prefix, path))
        if tree.has(name):
            return name
    return None


# ---- the list of files ----

def listed_files(tree):
    """Path and sentence of each row of the list of files in ARCHITECTURE.

    A cell `a.c`, `a.h` names both; the later ones are in the folder of the first.
    """
    for cells in rows(section(tree.optional(ARCHITECTURE), 2, "Files")):
        folder = ""
        for path in re.findall(r"`([^`]+)`", cells[0]):
            if "/" not in path:
                path = folder + path
            folder = path.rsplit("/", 1)[0] + "/"
            yield path, cells[-1]


def file_list(tree):
    listed = collections.defaultdict(list)
    for path, sentence in listed_files(tree):
        listed[path].append(sentence)
    present = set(tree.matching(PRODUCT))
    for path in sorted(present - set(listed)):
        sentence = c_text.first_sentence(tree.text(path)) or "..."
        yield f"{ARCHITECTURE}: list this file under Files: | `{path}` | {sentence} |"
    for path, sentences in sorted(listed.items()):
        if path not in present:
            yield f"{ARCHITECTURE}: remove {path} from Files: there is no such file"
        if len(sentences) > 1:
            yield f"{ARCHITECTURE}: list {path} once under Files, not {len(sentences)} times"
        if not sentences[0].endswith("."):
            yield f"{ARCHITECTURE}: describe {path} under Files in a sentence that ends in a period"


# ---- reading paths ----

STEP = re.compile(r"(?m)^\d+\. `([^`]+)`:((?:.*\n?(?:   .*\n?)*))")
CALL = re.compile(r"`(\w+)\(\)`")


def steps(body):
    """File and text of each step of a reading path: "1. `FILE`: what `FUNCTION()` does"."""
    return STEP.findall(body)


def reading_paths(tree):
    text = section(tree.optional(ARCHITECTURE), 2, "Reading paths")
    paths = dict(sections(text, 3))
    for title in READING_PATHS:
        if not steps(paths.get(title, "")):
            yield (f'{ARCHITECTURE}: add "### {title}" under Reading paths, with steps '
                   '"1. `FILE`: what `FUNCTION()` does"')
    for title, body in paths.items():
        files = [path for path, _ in steps(body)]
        for path in sorted({path for path in files if files.count(path) > 1}):
            yield f"{ARCHITECTURE}: {title}: name {path} once, not {files.count(path)} times"
        if title in SMALL_PATHS:
            driver = [path for path in files if path.startswith("driver/")]
            if len(driver) > SMALL_PATH_FILES:
                yield (f"{ARCHITECTURE}: {title}: {len(driver)} files of the driver, "
                       f"at most {SMALL_PATH_FILES} may be needed: {', '.join(driver)}")


def path_functions(tree):
    """The functions of a step are in its file, or in that of an earlier step."""
    text = section(tree.optional(ARCHITECTURE), 2, "Reading paths")
    for title, body in sections(text, 3):
        defined = set()
        for path, said in steps(body):
            if not tree.has(path):
                yield f"{ARCHITECTURE}: {title}: there is no file {path}"
                continue
            defined |= defined_names(tree, path)
            for name in CALL.findall(said):
                if name not in defined:
                    yield (f"{ARCHITECTURE}: {title}: neither {path} nor the file of an "
                           f"earlier step defines {name}")


def defined_names(tree, path):
    return {function.name for function in c_text.functions(path, tree.text(path))}


# ---- names in running text ----

IN_FILE = (re.compile(r"`(\w+)(?:\(\))?`\s+in\s+`?([\w./-]+\.[ch])\b`?"),
           re.compile(r"`(\w+)(?:\(\))?`\s+\(`?([\w./-]+\.[ch])`?\)"))


FILES_CELL = re.compile(r"`?[\w/-]+\.[ch]`?(, `?[\w/-]+\.[ch]`?)*")


def named_in_files(tree):
    """`name` in `file`, `name` (file), and rows of constants with their file."""
    for document in tree.matching(DOCUMENTS):
        text = tree.text(document)
        for pattern in IN_FILE:
            for name, path in pattern.findall(text):
                yield document, name, path
        for cells in rows(text):
            if len(cells) == 3 and FILES_CELL.fullmatch(cells[2]):
                for name in re.findall(r"`([A-Z]\w+)`", cells[0]):
                    if not name.startswith("_"):
                        yield document, name, cells[2].replace("`", "")


def names_in_files(tree):
    for document, name, files in named_in_files(tree):
        base = document_base(document)
        paths = [(path, resolve(tree, path, base)) for path in files.split(", ")]
        for path, found in paths:
            if not found:
                yield f"{document}: {name}: there is no file {path}"
        texts = [tree.text(found) for _, found in paths if found]
        if texts and not any(c_text.mentions(c_text.HIDDEN.sub(" ", text), name)
                             for text in texts):
            yield f"{document}: {files} has no {name}: name the file that has it"


def document_base(document):
    """MPI.md and MX.md name the files of their own component."""
    return {"docs/MPI.md": "mpi-glue/openmpi/", "docs/MX.md": "mpi-glue/mx/"}.get(document, "")


def known_calls(tree):
    """`name()` anywhere in ARCHITECTURE or PROTOCOL is a function of the product."""
    defined = set()
    for path in tree.matching(r"(driver|libomx|mpi-glue|tools)/.*\.[ch]"):
        defined |= defined_names(tree, path)
    for document in (ARCHITECTURE, "docs/PROTOCOL.md"):
        for name in sorted(set(CALL.findall(tree.optional(document)))):
            if name not in defined:
                yield f"{document}: there is no function {name}"


FOLDERS = ("driver", "libomx", "contract", "tools", "tests", "docs", "mpi-glue", "examples")


def known_paths(tree):
    """A path in backquotes, and a link, lead to a file or a folder."""
    folders = {path[:at] for path in tree.paths
               for at in range(len(path)) if path[at] == "/"}
    for document in tree.matching(DOCUMENTS):
        text = tree.text(document)
        for path in sorted(set(re.findall(r"`((?:%s)/[\w./-]*)`" % "|".join(FOLDERS), text))):
            if not tree.has(path) and path.rstrip("/") not in folders and "GROUP" not in path:
                yield f"{document}: there is no {path}"
        for target in sorted(set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text))):
            name = os.path.normpath(os.path.join(os.path.dirname(document), target))
            if not tree.has(name) and name not in folders:
                yield f"{document}: the link to {target} leads nowhere"


# ---- counters, trace events, versions ----

def counters_in_code(tree):
    return dict(re.findall(r'X\((\w+),\s*"([^"]*)"\)', tree.optional(COUNTER_LIST)))


def expand(cell):
    """A_B, _C names A_B and A_C."""
    names = []
    for name in re.findall(r"\b[A-Z_]*[A-Z][A-Z_]*\b", cell):
        names.append(names[0].rsplit("_", 1)[0] + name if name[0] == "_" and names else name)
    return names


def counters(tree):
    labels = counters_in_code(tree)
    if not labels:
        yield f"{COUNTER_LIST}: the list of counters is not where this check looks for it"
    text = tree.optional(COUNTERS)
    described = set()
    for cells in rows(text):
        if re.fullmatch(r"[A-Z_, ]+", cells[0]):
            names = expand(cells[0])
            described |= set(names)
            if len(names) == 1 and names[0] in labels:
                yield from counter_words(names[0], labels[names[0]], cells[1])
    for name, label in labels.items():
        packet = re.fullmatch(r"(?:sent|received) (.*)", label)
        known = re.search(r"\b%s\b" % packet.group(1), section(text, 2, "Packets")) \
            if packet else name in described
        if not known:
            yield f"{COUNTERS}: describe {name}, \"{label}\""
    for name in sorted(described - set(labels)):
        yield f"{COUNTERS}: remove {name}: {COUNTER_LIST} has no such counter"


def counter_words(name, label, words):
    printed = label.replace("dropped: ", "")
    if printed != words:
        yield f'{COUNTERS}: {name}: write "{printed}", as omx_counters prints it'


def trace_events(tree):
    text = c_text.HIDDEN.sub(lambda match: match.group() if match.group()[0] == '"' else " ",
                             tree.optional(TRACE_LIST))
    events = re.findall(r"(?m)^TRACE_EVENT\(omx_(\w+)", text)
    events += re.findall(r"(?m)^DEFINE_EVENT\(\w+,\s*omx_(\w+)", text)
    tools = "".join(tree.text(path) for path in tree.matching(r"tools/trace/.*\.c"))
    known = set(re.findall(r'"(\w+)"', tools))
    prefixes = tuple(re.findall(r'"(\w+_)"', tools))
    for event in sorted(set(events)):
        if event not in known and not event.startswith(prefixes or "\0"):
            yield f"tools/trace: omx_trace does not know the event omx_{event} of {TRACE_LIST}"


def defined_value(tree, path, name):
    match = re.search(r'(?m)^#define\s+%s\s+"?([\w.]+)' % name, tree.optional(path))
    return match.group(1) if match else None


def news(tree):
    text = tree.optional("NEWS")
    for path, name, pattern in ((ABI, "OMX_ABI_VERSION", r"driver\s+ABI\s+(\d+)"),
                                (WIRE, "OMX_WIRE_VERSION", r"[Ww]ire\s+protocol\s+(\d+)"),
                                (VERSION, "OMX_VERSION", r"^omx ([\d.]+)")):
        value, said = defined_value(tree, path, name), re.search(pattern, text)
        if not value:
            yield f"{path}: {name} is not where this check looks for it"
        elif not said or said.group(1) != value:
            yield f"NEWS: say {value}, the {name} of {path}"


# ---- manual pages ----

MACROS = {"omx_init"}  # of a function that the library exports under another name


def manual_pages(tree):
    exported = set(re.findall(r"(?m)^\t(omx_[a-z]\w*);", tree.optional(LIBRARY_MAP)))
    described = {}
    for path in tree.matching(r"docs/man/.*\.3"):
        head = re.split(r"(?m)^\.Sh (?!NAME)", tree.text(path))[0]
        for name in re.findall(r"(?m)^\.Nm (\w+)", head):
            described[name] = path
    if not exported:
        yield f"{LIBRARY_MAP}: the exported functions are not where this check looks for them"
    for name in sorted(exported - set(described)):
        yield f"docs/man: describe {name} in a manual page, and name it in its NAME section"
    for name in sorted(set(described) - exported - MACROS):
        yield f"{described[name]}: {name} is not exported by {LIBRARY_MAP}"
    listed = tree.optional("docs/Makefile.am")
    for path in tree.matching(r"docs/man/.*\.[0-9]"):
        if path[len("docs/"):] not in listed:
            yield f"docs/Makefile.am: add {path[len('docs/'):]}"


def list_of_pages(tree):
    """omx(7) leads to every other page."""
    listed = set(re.findall(r"(?m)^\.It Xr (\S+) (\d)", tree.optional(OVERVIEW_PAGE)))
    for path in tree.matching(r"docs/man/.*\.[0-9]"):
        name, number = path[len("docs/man/"):].rsplit(".", 1)
        if path != OVERVIEW_PAGE and (name, number) not in listed:
            yield f"{OVERVIEW_PAGE}: list {name}({number}): .It Xr {name} {number}"


def page_section(text, title):
    """The text of a section of a manual page."""
    match = re.search(r"(?ms)^\.Sh %s\n(.*?)(?=^\.Sh |\Z)" % re.escape(title), text)
    return match.group(1) if match else ""


def exit_statuses(tree):
    """The page of a command says what its exit statuses mean."""
    for path in tree.matching(r"docs/man/.*\.1"):
        if not page_section(tree.text(path), "EXIT STATUS").strip():
            yield f"{path}: describe the exit statuses in a section EXIT STATUS"


PARAMETER = re.compile(r"\bmodule_param(?:_\w+)?\(\s*(\w+)\s*,[^;]*?(\w+)\s*\);")


def module_parameters_in_code(tree):
    """Names, and whether the parameter can be changed after the module has been loaded."""
    for path in tree.matching(r"driver/.*\.[ch]"):
        for name, mode in PARAMETER.findall(c_text.HIDDEN.sub(" ", tree.text(path))):
            yield name, bool(int(mode, 8) & 0o222)


def module_parameters(tree):
    """omx(4) describes each of them: its default, and when it can be set."""
    entries = re.split(r"(?m)^\.It Va ", tree.optional(DEVICE_PAGE))[1:]
    described = {entry.split("\n", 1)[0]: entry.lower() for entry in entries}
    in_code = dict(module_parameters_in_code(tree))
    if not in_code:
        yield "driver: the module's parameters are not where this check looks for them"
    for name, writable in sorted(in_code.items()):
        when = "can be changed at any time" if writable else "set at load only"
        if name not in described:
            yield f"{DEVICE_PAGE}: describe the parameter {name}: .It Va {name}"
        elif when not in described[name]:
            yield f'{DEVICE_PAGE}: {name}: say "{when}", as the mode of its file is'
        elif "default" not in described[name]:
            yield f"{DEVICE_PAGE}: {name}: say what the default is"
    for name in sorted(set(described) - set(in_code)):
        yield f"{DEVICE_PAGE}: remove {name}: the module has no such parameter"


# Open MPI reads the variables of parameters that a component registers.
GLUE_PARAMETER = re.compile(r'omx_glue_parameter\(&(\w+)_glue,\s*"(\w+)"')


def variables_in_file(text):
    """The environment variables that a file reads: by name, by a constant, or from a table."""
    constants = dict(re.findall(r'(?m)^#define\s+(\w+)\s+"(\w+)"', text))
    for asked in re.findall(r"getenv\(([^)]*)\)", text):
        if asked.startswith('"'):
            yield asked.strip('"')
        elif asked in constants:
            yield constants[asked]
        else:
            yield from re.findall(r'\{ "([A-Z]\w+)", ', text)
    for component, name in GLUE_PARAMETER.findall(text):
        yield f"OMPI_MCA_{component}_{name}"


def environment(tree):
    """omx-environment(7) describes each variable that is read, its default, and no other."""
    described = {}
    for entry in re.split(r"(?m)^\.It Ev ", tree.optional(ENVIRONMENT_PAGE))[1:]:
        names, text = entry.split("\n", 1)
        described.update({name: text for name in re.split(r"[ ,]+", names)})
    read = {name: path for path in tree.matching(r"(libomx|tools|mpi-glue)/.*\.[ch]")
            for name in variables_in_file(tree.text(path))}
    for name, path in sorted(read.items()):
        if name not in described:
            yield f"{ENVIRONMENT_PAGE}: describe {name}, which {path} reads: .It Ev {name}"
        elif not re.search(r"default|Not for users", described[name]):
            yield f"{ENVIRONMENT_PAGE}: {name}: say what the default is"
    for name in sorted(set(described) - set(read)):
        yield f"{ENVIRONMENT_PAGE}: remove {name}: nothing reads it"


# ---- references ----

LABEL = re.compile(r"\[([A-Z][a-z]+\d\d)\]")
# Authors, and other names by which a paper may be cited instead of its label.
NAMES = re.compile(r"\b(Goglin|Psistakis|Liss|Besta|Hoefler|PART)\b(?!\d\d)"
                   r"|(?<=\()(Open-MX|On-demand paging)(?=, )")


def references(tree):
    """Papers are cited by their label in REFERENCES."""
    known = set(re.findall(r"(?m)^## ([A-Z][a-z]+\d\d)$", tree.optional(REFERENCES)))
    for path in tree.matching(r".*\.(md|c|h|[1357])"):
        if path == REFERENCES:
            continue
        text = tree.text(path)
        for label in sorted(set(LABEL.findall(text)) - known):
            yield f"{path}: [{label}] is not in {REFERENCES}: add the paper there"
        for name in sorted({match.group() for match in NAMES.finditer(text)}):
            yield f"{path}: cite {name} by the label in {REFERENCES}"


CHECKS = (file_list, reading_paths, path_functions, names_in_files, known_calls, known_paths,
          counters, trace_events, news, manual_pages, list_of_pages, exit_statuses,
          module_parameters, environment, references)
