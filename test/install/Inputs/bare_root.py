#!/usr/bin/env python3
"""Installs Kiln's packages in a bare Debian 12 and uses them there.

Usage: bare_root.py BUILD SOURCE FOLDER CMAKE. Debian's base system comes from debootstrap once and is kept in BUILD/bare-root.
"""
import glob
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ANSWER = "0.0321 0.0871 0.2369 0.6439"
#: Where debootstrap fetches from instead of its own choice.
MIRRORS = [os.environ["KILN_DEBIAN_MIRROR"]] if "KILN_DEBIAN_MIRROR" in os.environ else []


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


class Root:
    """A system below a folder; commands run by chroot."""

    def __init__(self, base, folder):
        self.folder = pathlib.Path(folder)
        run("cp", "-a", base, folder)
        # The loader asks /proc where a program lies.
        run("mount", "-t", "proc", "proc", self.folder / "proc")
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")

    def remove(self):
        run("umount", self.folder / "proc")
        shutil.rmtree(self.folder)

    def run(self, command):
        return run("chroot", self.folder, "/bin/sh", "-ec", command, env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                                                                         "KILN_CACHE": "off", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})

    def put(self, path, *files):
        folder = self.folder / path.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(file, folder)

    def files(self):
        """All that packages could leave behind: not caches, logs and the lists of the package manager itself."""
        kept = re.compile(r"^(tmp|project|proc|sys|dev|run|var/(cache|log|lib/(dpkg|apt))|etc/ld\.so\.cache|root)(/|$)")
        found = set()
        for folder, folders, names in os.walk(self.folder):
            below = os.path.relpath(folder, self.folder)
            found.update(p for p in (os.path.normpath(os.path.join(below, n)) for n in folders + names) if not kept.match(p))
        return found


def make_base(build):
    base = build / "bare-root"
    if not (base / "etc/debian_version").exists():
        shutil.rmtree(base, ignore_errors=True)
        new = build / "bare-root.new"
        shutil.rmtree(new, ignore_errors=True)
        run("debootstrap", "--variant=minbase", "--include=gcc,libc6-dev,xz-utils", "bookworm", new, *MIRRORS)
        new.rename(base)
    return base


def use(root, kiln):
    """Compiles, links and runs a model."""
    root.run(f"mkdir -p /project/{kiln} && cd /project/{kiln} && cp /project/main.c /project/softmax.onnx . && kiln softmax.onnx --dim rows=1 -o out -q")
    answer = root.run(f"cd /project/{kiln} && cc -Iout main.c out/libsoftmax.a -lm -o app && ./app").strip()
    assert answer == ANSWER, answer


def check_libraries(root, kiln):
    text = root.run(f"ldd {kiln}")
    assert "not found" not in text, text
    assert not glob.glob(str(root.folder / "usr/lib/llvm*")), "the root has LLVM"


def test_packages(root, packages):
    before = root.files()
    root.put("/tmp/packages", *packages.glob("*.deb"))
    root.run("apt-get update -qq")
    root.run("apt-get install -y -qq --no-install-recommends /tmp/packages/kiln_*.deb")
    check_libraries(root, "/usr/bin/kiln")
    use(root, "deb")
    # The runtime's package is enough to build programs.
    root.run("apt-get install -y -qq --no-install-recommends /tmp/packages/libkiln-dev_*.deb && apt-get purge -y -qq kiln")
    (root.folder / "project/level.c").write_text("#include <kiln/runtime.h>\nint main(void) { return kiln_cpu_level() < 0; }\n")
    root.run("cd /project && cc level.c -lkiln_runtime -pthread -o level && ./level")
    root.run("apt-get purge -y -qq libkiln-dev && apt-get autoremove --purge -y -qq")
    left = sorted(root.files() - before)
    assert not left, f"a purge leaves {left[:20]}"
    print("packages: installed, used, and gone")


def test_archive(root, packages):
    archive = next(packages.glob("*.tar.xz"))
    before = root.files()
    # At two places, one after the other: it runs wherever it is unpacked.
    root.put("/tmp", archive)
    for place in ("/usr/local", "/opt/some where/kiln"):
        root.run(f"mkdir -p '{place}' && tar -xJf /tmp/{archive.name} -C '{place}' --strip-components=1")
        check_libraries(root, f"'{place}/bin/kiln'")
        root.run(f"ln -sf '{place}/bin/kiln' /project/kiln && cd /project && ./kiln version -v")
        root.run(f"cd /project && rm -rf moved && '{place}/bin/kiln' softmax.onnx --dim rows=1 -o moved -q")
    use(root, "archive")
    root.run("rm -r /opt/*")
    root.run(f"cd /usr/local && tar -tJf /tmp/{archive.name} | sed 's,^[^/]*/,,' | grep -v '/$' | while read -r f; do rm -f \"$f\"; done")
    left = sorted(p for p in root.files() - before if not os.path.isdir(root.folder / p))
    assert not left, f"removing the archive's files leaves {left[:20]}"
    print("archive: unpacked, moved, used, and gone")


def test_container(root, packages, recipes):
    """The steps of the first image of the container file."""
    context = root.folder / "context"
    shutil.copytree(recipes, context)
    shutil.copy(next(packages.glob("*.tar.xz")), context / "kiln.tar.xz")
    for line in (recipes / "Containerfile").read_text().splitlines():
        step, _, text = line.partition(" ")
        if step == "FROM" and " AS " not in text:
            break
        if step == "COPY":
            *files, place = text.split()
            root.put(place, *(context / file for file in files))
        elif step == "RUN":
            root.run(text)
    answer = root.run("/project/app").strip()
    assert answer == ANSWER, answer
    print("container file: its steps build the program")


def main():
    build, source, folder, cmake = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    shutil.rmtree(folder, ignore_errors=True)
    packages = folder / "packages"
    packages.mkdir(parents=True)
    cpack = pathlib.Path(cmake).with_name("cpack")
    # The fastest compression: what is packed matters here.
    run(cpack, "-G", "DEB", "-B", packages, "--config", build / "CPackConfig.cmake", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd")
    run(cpack, "-G", "TGZ", "-B", packages, "--config", build / "CPackConfig.cmake")
    run("bash", "-c", "set -o pipefail; gzip -dc *.tar.gz | xz -0 > $(basename *.gz .gz).xz && rm *.tar.gz", cwd=packages)
    shutil.rmtree(packages / "_CPack_Packages", ignore_errors=True)
    for file in sorted(packages.iterdir()):
        print(f"{file.name}: {file.stat().st_size >> 20} MiB")
    base = make_base(build)
    recipes = source / "docs/examples/recipes"
    for test in (test_packages, test_archive, lambda *given: test_container(*given, recipes)):
        root = Root(base, folder / "root")
        try:
            root.put("/project", recipes / "main.c", recipes / "softmax.onnx")
            test(root, packages)
        finally:
            root.remove()


if __name__ == "__main__":
    main()
