"""What each test of test/ reads and starts: files of the tree that its text names, what these name in turn, and programs of the build."""

import fnmatch
import os
import pathlib
import re
import subprocess

SUFFIXES = (".mlir", ".test", ".onnxtxt")
#: Substitutions of test/lit.cfg.py that stand for files of the tree, or for outputs of the build.
PLACES = {"%source": "", "%digits": "docs/examples/digits", "%runtime_include": "runtime/include"}
OUTPUTS = {"%runtime_library": "libkiln_runtime.a", "%runtime_tsan_library": "libkiln_runtime_tsan.a"}
#: Files that a script finds by listing folders, as patterns: no text names them.
LISTED = {
    "test/compiler/emit/Inputs/corners_suite.py": ["test/*.onnxtxt"],
    "test/docs/commands.py": ["*.md", "test/*", "tools/*"],
    "test/docs/guides.py": ["*"],
    "test/docs/links.py": ["*"],
    "test/docs/snippets.py": ["docs/*"],
    "test/fuzz/ir.test": ["test/*.mlir"],
    "test/fuzz/seeds": ["test/*"],
    "test/fuzz/text.test": ["test/*.onnxtxt"],
    "test/operators/contrib-kernels": ["compiler/import/ops/*"],
    "test/operators/halves": ["passes/lowering/*"],
    "test/operators/run": ["test/operators/*"],
    "test/tools/dev/affected_cases.py": ["*"],
    "test/tools/dev/test_report_cases.py": ["test/*"],
    "tools/dev/affected": [],
    "tools/dev/test_inputs.py": [],
    "tools/dev/build-docs": ["*.md", "docs/*", "runtime/include/*", "tools/dev/site/*"],
    "tools/dev/generate-docs": ["docs/generated/*", "compiler/import/*", "*.td"],
    "tools/dev/lint": ["*"],
}
SCRIPTS = (".py", ".sh", ".mjs", ".cmake", "CMakeLists.txt")
#: Tests that are no file of their own, by the folder that lit.local.cfg makes them of.
FOLDERS = {"end-to-end": ["test/end-to-end/*"]}
#: Words of a shell that another command follows.
WRAPPERS = {"!", "do", "else", "env", "exec", "for", "case", "if", "not", "then", "time", "timeout", "while", "xargs"}
#: Programs of the system and of the shell that tests start.
COMMANDS = set("""
    FileCheck [ aarch64-linux-gnu-g++ ar arm-none-eabi-g++ arm-none-eabi-gcc awk basename bash cargo cat cd chmod cmake cmp col command count cp
    ctest deno diff dirname done echo esac espeak-ng exit export fi find fish git go grep head ld64.lld-22 ldd llvm-ar llvm-nm llvm-objdump
    llvm-readobj ln ls make mandoc meson mkdir mktemp mpicc mpicc.$mpi mpicxx.$mpi mpicxx.mpich mpicxx.openmpi mpirun mpirun.mpich mpirun.openmpi
    mv ninja nm node paste pkg-config printf qemu-aarch64 qemu-system-arm qemu-x86_64 rm rmdir sed seq set setsid sh size sleep sort source split-file stat
    tar tee test touch tr trap true ulimit umask uniq unshare wait wasm-ld wc wine x86_64-w64-mingw32-g++-posix zsh
""".split())
WORD = re.compile(r"%?[\w.+@-]+(?:/[\w.+@-]+)*")
QUOTED = re.compile(r"""["']([\w-]+)["']""")
#: Words and operators of a shell, and the quotes within words.
TOKEN = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;|&()<>])+|[;|&()<>]+""")
QUOTES = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)\"""")
IMPORT = re.compile(r"^\s*(?:import|from) ([\w., ]+?)(?: import ([\w, ]+))?$", re.M)
LISTS = re.compile(r"\b(?:ROOT|SOURCE|TEST|HERE|IMPORT|source|tests)\b[^\n]*\.(?:r?glob|iterdir|walk)\(|ls-files|find %(?:source|S)\b")
PROGRAM = re.compile(r"(?<![\w.-])(?:kiln|fuzz)(?:-[a-z]+)*(?![\w-])|\b[A-Z]\w+Tests\b|\b(?:kiln|onnxruntime)_rounds\b|\bkernel_benchmark\b"
                     r"|\blib\w+\.a\b|\bkiln_\w+\.so\b")


def run_lines(text):
    """The commands of a test, each in one line; FAILS and PASSES are those of test/batch."""
    return re.findall(r"(?:RUN|DEFINE|FAILS(?: [12])?|PASSES):(.*)", re.sub(r"\\\n[^\n]*?(?:RUN|DEFINE):", "", text))


class Tree:
    def __init__(self, root, paths=None):
        self.root = pathlib.Path(root)
        if paths is None:
            listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
            paths = listing.stdout.splitlines()
        self.paths = {path for path in paths if (self.root / path).is_file()}
        self.folders = {}
        self.names = {}
        for path in sorted(self.paths):
            self.names.setdefault(path.rsplit("/", 1)[-1], []).append(path)
            for parent in list(pathlib.PurePath(path).parents)[:-1]:
                self.folders.setdefault(str(parent), []).append(path)
        self.named = {}

    def tests(self):
        """Names of the tests, as lit has them: `tools/kiln/help.test`, or `end-to-end/` for all that are made there."""
        files = [path.removeprefix("test/") for path in self.paths if path.startswith("test/") and path.endswith(SUFFIXES)]
        return sorted([path for path in files if not {"Inputs", "unit"} & set(path.split("/"))] + [f"{folder}/" for folder in FOLDERS])

    def text(self, path):
        data = (self.root / path).read_bytes()
        return "" if b"\0" in data[:8192] or len(data) > 400000 else data.decode("utf-8", "replace")

    def matching(self, patterns):
        return {path for pattern in patterns for path in ("*" if pattern == "*" else fnmatch.filter(self.paths, pattern))}

    def is_script(self, path):
        name = path.rsplit("/", 1)[-1]
        return path.endswith(SCRIPTS) or ("." not in name and self.text(path).startswith("#!"))

    def names_in(self, path):
        """(files of the tree, programs of the build) that a test or a script names. `*` stands for all of them."""
        if path not in self.named:
            text = self.text(path)
            files, programs = set(), set()
            self.read_words(path, "\n".join(run_lines(text)) if path.endswith(SUFFIXES) else re.sub(r"(?m)^\s*#.*", "", text), files, programs)
            if path.endswith(".py") or "python" in text.partition("\n")[0]:
                self.read_imports(path, text, files)
            self.named[path] = files, programs
        return self.named[path]

    def read_words(self, path, text, files, programs):
        folder = os.path.dirname(path)
        programs.update(PROGRAM.findall(text))
        if path.endswith(SUFFIXES):
            # The folder of all tests is in PATH.
            files.update(place for place in (f"test/{word}" for word in text.split()) if place in self.paths)
        # A bare word may be any word of a comment, unless it stands in quotes.
        for word in {word for word in WORD.findall(text) if re.search("[%/.]", word)} | set(QUOTED.findall(text)):
            if not word.strip("./"):
                continue
            if word.startswith("%"):
                if path.endswith(SUFFIXES):
                    self.read_place(folder, word, files, programs)
                continue
            for place in {os.path.normpath(os.path.join(parent, word)) for parent in (folder, f"{folder}/Inputs", "", "test")}:
                if place in self.paths:
                    files.add(place)
                elif "/" in word:
                    files.update(self.folders.get(place, ()))
            # A path whose folders are computed.
            name = word.rsplit("/", 1)[-1]
            if "." in name and len(self.names.get(name, ())) <= 3:
                files.update(other for other in self.names.get(name, ()) if other.startswith("test/"))

    def read_place(self, folder, word, files, programs):
        name, _, rest = word.partition("/")
        if name in OUTPUTS:
            programs.add(OUTPUTS[name])
        elif name == "%build":
            programs.add(rest.rsplit("/", 1)[-1] if "/" in rest else "*")
        elif name in ("%S", "%p", *PLACES):
            place = os.path.normpath(os.path.join(PLACES.get(name, folder), rest))
            files.update("*" if place == "." else {place} & self.paths or self.folders.get(place, ()))

    def read_imports(self, path, text, files):
        for modules, names in IMPORT.findall(text):
            for word in re.split(r"[,\s.]+", f"{modules},{names}"):
                found = [other for name in (f"{word}.py", "__init__.py") for other in self.names.get(name, ())
                         if other.startswith(("test/", "tools/")) and other.endswith((f"/{word}.py", f"/{word}/__init__.py"))]
                near = [len(os.path.commonpath([path, other])) for other in found]
                files.update(other for other, length in zip(found, near) if length == max(near))

    def reach(self, test):
        """(files, programs) of a test, its own file included. What is listed is only read; a script that is named is followed."""
        folder = test.rstrip("/")
        seen, listed, programs = set(), set(), set()
        waiting = list(self.matching(FOLDERS[folder])) if test.endswith("/") else [f"test/{test}"]
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            listed |= self.matching(LISTED.get(path, ()))
            if path == "*":
                continue
            if path == f"test/{test}" or self.is_script(path):
                files, started = self.names_in(path)
                programs |= started
                waiting += files
        return seen | listed, programs


def commands_in(line):
    """The first words of the commands of a line of shell, those within quotes of `bash -c` included."""
    words = [QUOTES.sub(lambda match: match[2] if match[1] is None else match[1], token) for token in TOKEN.findall(line)]
    command = []
    for word in words:
        if word and set(word) <= set(";|&()") or word in ("<(", ">("):
            command = []
        elif command and command[-1] == "-c" and {"bash", "sh"} & set(command):
            yield from commands_in(word)
            command.append("")
        elif all(before in WRAPPERS or "=" in before for before in command) and not {"for", "case"} & set(command):
            # Options, their names and numbers are a wrapper's.
            is_option = command and (re.match(r"-|[\d.]+$", word) or command[-1] == "-u=")
            command.append(f"{word}=" if is_option else word)
            if command[-1] not in WRAPPERS and "=" not in command[-1]:
                yield word
        else:
            command.append(word)


def unknown_commands(tree, programs):
    """(test, word) of each command that is no program of the build, file of the tree or file that the test makes, and not in COMMANDS."""
    for test in tree.tests():
        if test.endswith("/"):
            continue
        folder = os.path.dirname(f"test/{test}")
        for line in run_lines(tree.text(f"test/{test}")):
            for word in commands_in(re.sub(r"%\{\w+[^}]*\}", "$defined", re.sub(r"^\s*%\{\w+[^}]*\} *= *", "", line))):
                name, _, rest = word.partition("/")
                if name in ("%S", "%source"):
                    place = os.path.normpath(os.path.join(PLACES.get(name, folder), rest))
                    if place not in tree.paths and place not in tree.folders:
                        yield test, word
                elif re.match(r"[a-z][\w.+-]*$", word) and word not in COMMANDS and word not in programs and f"test/{word}" not in tree.paths:
                    yield test, word


def unlisted_scripts(tree, reached):
    """Scripts that list folders of the tree, which LISTED does not have."""
    return sorted(path for path in reached if path not in LISTED and tree.is_script(path) and LISTS.search(tree.text(path)))
