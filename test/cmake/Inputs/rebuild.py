"""Builds the user's project again and again, and says what a build did: rebuild.py FOLDER GENERATOR OPTION..."""
import os
import shutil
import subprocess
import sys
import time

folder, generator, options = sys.argv[1], sys.argv[2], sys.argv[3:]
build, models = f"{folder}/{generator.split()[-1]}", f"{folder}/models"


def write(factor):
    """Files newer than all that there is, on file systems that count whole seconds, too."""
    time.sleep(1.1)
    subprocess.run([sys.executable, f"{os.path.dirname(__file__)}/write-model.py", models, str(factor)], check=True)


def run(label):
    result = subprocess.run(["cmake", "--build", build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(result.stdout)
    done = [name for name, sign in (("models", "Compiling model"), ("links", " executable user")) if sign in result.stdout]
    print(f"{label}: {', '.join(done) or 'nothing'}")


shutil.rmtree(build, ignore_errors=True)
write(1)
subprocess.run(["cmake", "-G", generator, "-S", f"{folder}/project", "-B", build, f"-DCMAKE_PREFIX_PATH={folder}/prefix", f"-DMODELS={models}", *options],
               check=True, stdout=subprocess.DEVNULL)
run("first")
run("idle")
write(1)
run("touched")
run("idle")
write(2)
run("changed")
run("idle")
