"""kiln's command line for programs that call it many times: each call is a fork of kiln-forks, which has loaded LLVM already. Where no kiln-forks lies beside
the compiler, as with programs that stand for it, each call is a start."""

import multiprocessing.util
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

SECONDS = 900


class Done:
    """What a call gave. `late`: its time was over before it ended."""

    def __init__(self, status, out="", err="", seconds=0.0, mebibytes=0, late=False):
        self.returncode, self.stdout, self.stderr, self.seconds, self.mebibytes, self.late = status, out, err, seconds, mebibytes, late


class Forks:
    """A kiln-forks, which answers one call after the other."""

    def __init__(self, program, environment=None, seconds=SECONDS, cpu_seconds=None):
        self.printed = [tempfile.TemporaryFile() for _ in range(2)]
        numbers = [file.fileno() for file in self.printed]
        limits = [cpu_seconds or seconds * (os.cpu_count() + 1), seconds]
        self.child = subprocess.Popen([program, *(f"/dev/fd/{number}" for number in numbers), *(str(max(1, int(limit))) for limit in limits)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, pass_fds=numbers)
        # Also in processes of multiprocessing, which run nothing else at their end. Whoever counts this program's CPU time wants that of the forks.
        multiprocessing.util.Finalize(None, self.close, exitpriority=0)

    def call(self, *arguments):
        self.child.stdin.write("\t".join(map(str, arguments)) + "\n")
        self.child.stdin.flush()
        status, seconds, mebibytes = self.child.stdout.readline().split()
        return Done(int(status), *map(read_again, self.printed), float(seconds), int(mebibytes), int(status) == -signal.SIGALRM)

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def fits_line(arguments):
    """Whether a call can be a line for kiln-forks: tabs stand between its arguments, and an empty line has none."""
    return arguments != [""] and not any("\t" in text or "\n" in text for text in arguments)


def read_again(file):
    file.seek(0)
    return file.read().decode(errors="replace")


#: The servers of each thread, by how they were started.
servers = threading.local()


class Kiln:
    """A compiler that is called in one environment, from any number of threads and processes."""

    def __init__(self, program="kiln", environment=None, seconds=SECONDS):
        self.command = [program] if isinstance(program, (str, pathlib.Path)) else list(program)
        self.environment, self.seconds = environment, seconds
        self.forks = find_forks(self.command)

    def call(self, *arguments):
        """A Done, whatever the status is."""
        arguments = list(map(str, arguments))
        if not self.forks or not fits_line(arguments):
            return self.start(arguments)
        own = servers.__dict__
        key = self.forks, self.seconds, None if self.environment is None else tuple(sorted(self.environment.items()))
        if key not in own:
            own[key] = Forks(self.forks, self.environment, self.seconds)
        return own[key].call(*arguments)

    def start(self, arguments):
        try:
            done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, errors="replace", timeout=self.seconds, stdin=subprocess.DEVNULL,
                                  env=self.environment)
        except subprocess.TimeoutExpired:
            return Done(-signal.SIGALRM, late=True)
        return Done(done.returncode, done.stdout, done.stderr)

    def run(self, *arguments):
        """A Done of a call that must succeed."""
        done = self.call(*arguments)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, [*self.command, *arguments]))}\nended with {done.returncode}\n{done.stderr[-3000:]}")
        return done


def call(*arguments):
    """Calls kiln. A Done, whatever the status is."""
    return Kiln().call(*arguments)


def run(*arguments):
    """Calls kiln, which must succeed. A Done."""
    return Kiln().run(*arguments)


def find_forks(command):
    """The kiln-forks of the build that has this compiler; None if there is none, or the command is another program."""
    path = shutil.which(command[0]) if len(command) == 1 else None
    path = path and pathlib.Path(path).resolve()
    beside = path and path.with_name("kiln-forks")
    return beside if beside and path.name == "kiln" and os.access(beside, os.X_OK) else None
