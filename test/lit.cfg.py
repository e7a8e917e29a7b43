# How the tests run. Every .mlir, .test and .onnxtxt file under test/ is one test; its RUN lines say what it does.
import os
import platform
import shutil
import subprocess
import sys

import lit.formats

sys.path.insert(0, os.path.dirname(__file__))
import machine  # noqa: E402
import cpu_seconds  # noqa: E402

config.name = "Kiln"
config.test_format = cpu_seconds.Measured(lit.formats.ShTest(execute_external=False))
config.suffixes = [".mlir", ".test", ".onnxtxt"]
config.excludes = ["Inputs", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kiln_binary_dir, "test")

source = config.kiln_source_dir
shared = os.environ.get("KILN_SHARED", os.path.join(os.path.dirname(source), "shared"))

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.kiln_binary_dir, "bin"), config.llvm_tools_dir, os.path.join(source, "test"), os.environ["PATH"]])
for variable in ("HOME", "CCACHE_DIR", "KILN_SHARED", "KILN_TARGET", "KILN_CPU_WITHOUT"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

# What a test compiles, it compiles itself; only kernel headers that Clang has parsed and the programs around models for other machines are kept. Where tests compile the
# same models several times, lit.local.cfg turns the whole cache on.
config.environment["KILN_CACHE"] = "headers"
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
# Thousands of short compiles spend a fifth of their time on the first touch of the heap's pages: glibc asks for huge ones, and for many at once.
config.environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:glibc.malloc.trim_threshold=268435456"

substitutions = {
    "%kiln_cxx": config.cxx,
    "%kiln_cc": config.cc,
    "%gcc": shutil.which("gcc") or "gcc",
    "%gxx": shutil.which("g++") or "g++",
    "%clang": os.path.join(config.llvm_tools_dir, "clang"),
    "%clangxx": os.path.join(config.llvm_tools_dir, "clang++"),
    "%python": "/usr/bin/python3",
    "%cmake": config.cmake,
    "%source": source,
    "%build": config.kiln_binary_dir,
    "%runtime_include": os.path.join(source, "runtime", "include"),
    "%runtime_tsan_library": os.path.join(config.kiln_binary_dir, "test", "unit", "runtime", "libkiln_runtime_tsan.a"),
    "%runtime_library": os.path.join(config.kiln_binary_dir, "runtime", "libkiln_runtime.a"),
    "%digits": os.path.join(source, "docs", "examples", "digits"),
    "%shared": shared,
    "%models": os.path.join(shared, "models"),
}
# The longest first: lit replaces in order, and %kiln_cxx begins like %kiln_c.
for name in sorted(substitutions, key=len, reverse=True):
    config.substitutions.append((name + r"\b", substitutions[name]))

# What a test may ask for with REQUIRES.
if os.path.isdir(os.path.join(shared, "models")):
    config.available_features.add("shared")
if shutil.which("g++"):
    config.available_features.add("gcc")
if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("x86-registered")
    # Without a mask, the machine as it is; KILN_CPU_WITHOUT=avx512,amx makes it one that has neither. runs-NAME: it can run the target of that name.
    kiln = os.path.join(config.kiln_binary_dir, "bin", "kiln")
    config.available_features |= {"avx2", "avx512f"} & machine.features(kiln)
    config.available_features |= {f"runs-{target}" for target in machine.targets(kiln)}
config.available_features.add(platform.machine())
# Tools of other machines, which `tools/dev/install-packages cross`, `microcontrollers` and `windows` install.
for tool in ("qemu-aarch64", "qemu-riscv64", "qemu-x86_64", "aarch64-linux-gnu-g++", "riscv64-linux-gnu-g++", "qemu-arm", "arm-linux-gnueabihf-g++", "qemu-riscv32",
             "riscv64-unknown-elf-gcc", "qemu-system-arm", "arm-none-eabi-g++", "ld.lld", "node", "chromium", "wine", "x86_64-w64-mingw32-g++-posix",
             "x86_64-w64-mingw32-g++-win32", "ld64.lld-22", "espeak-ng", "debootstrap", "distccd", "meson", "fish", "zsh", "mandoc", "cargo", "go", "git"):
    if shutil.which(tool):
        config.available_features.add(tool)
    else:
        lit_config.note(f"{tool} is not installed: tests that need it are left out")
# A system of its own below a folder needs chroot.
if os.geteuid() == 0:
    config.available_features.add("root")
else:
    lit_config.note("not root: tests of packages in a bare system are left out")
# Small file systems that are full, which a process can mount for itself where it is root and no container forbids it.
if shutil.which("unshare") and subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
    config.available_features.add("mounts")
else:
    lit_config.note("no file system can be mounted: tests of full disks are left out")
# Wine needs one fixed page, which now and then lies in what Linux has placed at random ("failed to map the shared user data").
if wine := shutil.which("wine"):
    folder = os.path.join(config.test_exec_root, "wrappers")
    os.makedirs(folder, exist_ok=True)
    wrapper = os.path.join(folder, "wine")
    with open(f"{wrapper}.{os.getpid()}", "w") as file:
        file.write(f'#!/bin/sh\nexec setarch --addr-no-randomize {wine} "$@"\n')
    os.chmod(file.name, 0o755)
    os.replace(file.name, wrapper)
    config.environment["PATH"] = os.pathsep.join([folder, config.environment["PATH"]])
# Machines that are namespaces of this one.
links = "unshare --net ip link add name left type veth peer name right".split()
if shutil.which("ip") and subprocess.run(links, capture_output=True).returncode == 0:
    config.available_features.add("machines")
else:
    lit_config.note("no networks can be made (iproute2): tests of ranks on several machines are left out")
# The tools of the documentation (tools/dev/install-packages docs) and of the editor's extension (tools/editors/package).
if shutil.which("sphinx-build") and os.path.isdir("/usr/lib/python3/dist-packages/furo"):
    config.available_features.add("sphinx")
if shutil.which("doxygen"):
    config.available_features.add("doxygen")
if os.path.exists(os.path.join(config.kiln_binary_dir, "editors", "node_modules", ".bin", "vsce")):
    config.available_features.add("vsce")
if os.path.isdir("/usr/lib/python3/dist-packages/PIL"):
    config.available_features.add("pillow")
# VS Code as a server, which tools/dev/install-code-server installs; the file is written last.
if os.path.exists(os.path.join(config.kiln_binary_dir, "code-server", "installed")):
    config.available_features.add("code-server")
if os.path.isdir("/usr/lib/python3/dist-packages/torch") and os.path.isdir("/usr/lib/python3/dist-packages/sklearn"):
    config.available_features.add("torch")
if os.path.exists("/usr/src/googletest/googletest/src/gtest-all.cc"):
    config.available_features.add("gtest-sources")
if shutil.which("wasm-ld", path=config.environment["PATH"]):
    config.available_features.add("wasm-ld")
if shutil.which("deno", path=config.environment["PATH"]):
    config.available_features.add("deno")
if all(os.path.exists(os.path.join(config.kiln_binary_dir, "models", f"{name}.onnx")) for name in ("melspectrogram", "speech_embedding", "hello_deepa")):
    config.available_features.add("wake-word-models")
# Trained models and their lists of characters, which `tools/dev/install-models` fetches: model-NAME.
models = os.path.join(config.kiln_binary_dir, "models")
for name in os.listdir(models) if os.path.isdir(models) else []:
    config.available_features.add("model-" + os.path.splitext(name)[0])
if os.path.exists("/usr/lib/wasm32-wasi/crt1-reactor.o"):
    config.available_features.add("wasi-libc")
# Ranks under MPI (tools/dev/install-packages mpi).
for mpi in ("openmpi", "mpich"):
    if shutil.which(f"mpirun.{mpi}") and shutil.which(f"mpicxx.{mpi}"):
        config.available_features.add(mpi)
    else:
        lit_config.note(f"{mpi} is not installed: tests of ranks that need it are left out")
# By default, Open MPI keeps 8 MB of each run in TMPDIR. Where that disk is full, its mpirun waits for ever, also for SIGTERM.
config.environment["PMIX_MCA_gds"] = "hash"
# Operations in oneDNN: built where its headers are.
if os.path.exists(os.path.join(config.kiln_binary_dir, config.libdir, "kiln", "kiln_onednn.so")):
    config.available_features.add("onednn")
# Tests that want gigabytes of memory and of disk.
if os.environ.get("KILN_TEST_HUGE"):
    config.available_features.add("huge")
# Programs that only `ninja benchmarks` builds.
for program in ("kiln_rounds", "kernel_benchmark"):
    if os.path.exists(os.path.join(config.kiln_binary_dir, "bin", program)):
        config.available_features.add(program)
