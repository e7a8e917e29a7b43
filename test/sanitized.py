"""Models whose own code runs under ASan and UBSan in `kiln run`."""

import pathlib
import subprocess

ARGUMENTS = [f"--cxx={pathlib.Path(__file__).resolve().parent / 'conformance/sanitized-cxx'}", "--no-cache"]


def environment():
    """With ASan's runtime in the process that runs the model. Buffers of `kiln run` are rounded up to 64 bytes: smaller overruns are not seen."""
    runtime = subprocess.run(["/usr/lib/llvm-22/bin/clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True, text=True, check=True)
    return {"LD_PRELOAD": runtime.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:abort_on_error=1"}
