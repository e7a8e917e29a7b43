"""Counts the runs of calls whose sizes the data decide: python_raised.py FOLDER."""
import sys
import threading

import numpy
from kiln_model import KilnError, Model

model = Model(f"{sys.argv[1]}/libspeech.so")
[bound] = model._raised
launch, runs = model._launch, []
model._launch = lambda *arguments: (runs.append(1), launch(*arguments))


def speak(what, *durations, dims=None):
    runs.clear()
    y = model({"durations": numpy.array(durations, "f4")}, dims)["y"]
    right = numpy.array_equal(y, numpy.arange(numpy.ceil(durations).sum(), dtype="f4"))
    print(f"{what}: {len(runs)} runs, {y.size} frames, {'right' if right else 'wrong'}")


speak("first", 1.5, 3, 0.5)
speak("again", 2, 4)
speak("fewer", 1)
speak("given", 8, dims={bound: 8})
speak("more", 400, 600)
try:
    speak("far", 3e6)
except KilnError as error:
    print(error)
speak("after a failure", 2, 4)
model._own.raised = {bound: 1 << 40}
speak("too large a bound", 2, 4)
other = threading.Thread(target=speak, args=("another thread", 2, 4))
other.start()
other.join()
speak("this thread", 2, 4)
