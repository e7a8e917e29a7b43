"""Models whose own code runs under ASan and UBSan in `kiln run`."""

import pathlib
import subprocess

COMPILER = pathlib.Path(__file__).resolve().parent / "conformance/sanitized-cxx"
ARGUMENTS = [f"--cxx={COMPILER}", "--no-cache"]
#: Checks that end the process themselves would be exits of each loop, of which Clang's optimizer computes the counts: most of the time of a compile.
UBSAN_OPTIONS = "halt_on_error=1:print_stacktrace=1"


def environment():
    """With ASan's runtime in the process that runs the model. Buffers of `kiln run` are rounded up to 64 bytes: smaller overruns are not seen."""
    runtime = subprocess.run(["/usr/lib/llvm-22/bin/clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True, check=True)
    return {"LD_PRELOAD": runtime.stdout.strip(), "UBSAN_OPTIONS": UBSAN_OPTIONS,
            "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:abort_on_error=1"}
