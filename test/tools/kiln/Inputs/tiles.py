"""tiles.py PROFILE FOLDER COMMAND...: runs the command with --profile for each of some tiles in place of the profile's, and wants it to succeed."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
import kiln_calls  # noqa: E402

profile, path = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2], "tile.profile")
# A tile is of the vectors that the compile takes for the work.
ir = kiln_calls.run(*sys.argv[5:], "--stop-after=target").stdout
lanes = int(re.search(r"tile = \[\d+, \d+, (\d+)\]", ir).group(1))
for tile in ([1, 1], [1, 4], [3, 2], [5, 3], [28, 1], [20, 1], [64, 1], [2, 7]):
    for entry in profile["entries"]:
        entry["plan"].update(kernel="gemm_tiled", tile=[*tile, lanes], chunk=50000)
    path.write_text(json.dumps(profile))
    subprocess.run([*sys.argv[3:], "--profile", str(path)], check=True)
