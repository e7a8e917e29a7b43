#!/usr/bin/python3
"""The judge of manners is right: a compiler of our own making behaves in each bad way, and is caught."""

import json
import pathlib
import subprocess
import sys
import tempfile

RUNNER = pathlib.Path(__file__).resolve().parent / "run"
SAY = "sys.exit('model.onnx: error: node conv_3 (Conv): bad rank')"

# file: (expectation, behaviour, words of the complaint, or "" when none)
CASES = {
    "polite": ("reject", SAY, ""),
    "accepted": ("accept", "pass", ""),
    "crash": ("either", "os.kill(os.getpid(), 11)", "signal SIGSEGV"),
    "internal": ("reject", "sys.exit(3)", "exit status 3"),
    "hang": ("reject", "time.sleep(600)", "no answer within 1 s"),
    "greedy": ("reject", "x = b'1' * (200 << 20); " + SAY, "MiB over base"),
    "litter": ("reject", "open(sys.argv[3], 'w').write('half'); " + SAY, "left lib behind"),
    "silent": ("reject", "sys.exit(1)", "without an error line"),
    "control": ("reject", "sys.exit('error: node \\x1b[31m')", "control bytes"),
    "lenient": ("reject", "pass", "should be rejected"),
    "strict": ("accept", SAY, "should be accepted"),
}
COMPILER = "#!/usr/bin/python3\nimport os, sys, time\nif sys.argv[1] != '--version': exec(open(sys.argv[1]).read())\n"


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "kiln").write_text(COMPILER)
        (root / "kiln").chmod(0o755)
        manifest = []
        for name, (expect, behaviour, _) in CASES.items():
            (root / name).write_text(behaviour)
            seconds = 1 if name == "hang" else 60
            manifest.append({"file": name, "expect": expect, "say": ["rank"], "node": "conv_3", "max_s": seconds, "max_rss_mib": 100})
        (root / "manifest.json").write_text(json.dumps(manifest))
        done = subprocess.run([RUNNER, root, "--kiln", root / "kiln"], capture_output=True, text=True)
        lines = {line.split(":")[0][5:]: line for line in done.stdout.splitlines() if line.startswith("FAIL")}
        for name, (_, _, words) in CASES.items():
            if bool(words) != (name in lines) or words not in lines.get(name, ""):
                faults.append(f"{name}: {lines.get(name, 'no complaint')}")
        if done.returncode != 1 or done.stdout.splitlines()[-1] != "2 passed, 9 failed":
            faults.append(done.stdout + done.stderr)
        vague = [dict(entry, say=["a word that it does not say"]) for entry in manifest[:1]]
        (root / "manifest.json").write_text(json.dumps(vague))
        done = subprocess.run([RUNNER, root, "--kiln", root / "kiln"], capture_output=True, text=True)
        if done.returncode != 1 or "incomplete, ['a word that it does not say']" not in done.stdout:
            faults.append("a word is not said: " + done.stdout)
        (root / "manifest.json").write_text(json.dumps([dict(entry, node="conv_4") for entry in manifest[:1]]))
        done = subprocess.run([RUNNER, root, "--kiln", root / "kiln"], capture_output=True, text=True)
        if done.returncode != 1 or "incomplete, ['conv_4']" not in done.stdout:
            faults.append("the node is not named: " + done.stdout)
        (root / "elements").write_text("polite: node conv_3\n")
        done = subprocess.run([RUNNER, root, "--kiln", root / "kiln", "--elements", root / "elements"], capture_output=True, text=True)
        if done.returncode != 0 or "1 rejections have a complete message" not in done.stdout:
            faults.append("an element instead of the node: " + done.stdout)
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
