"""Programs that import this remove their temporary folders, and end what they wait for, also when SIGTERM ends them."""

import signal
import sys

signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
