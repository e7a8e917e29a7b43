# made_up_tools.sh TREE BIN: scripts in place of those that tools/test starts, each of which says what it was told.
set -eu
script() { printf '#!/bin/bash\n%s\n' "$2" > "$1"; chmod +x "$1"; }
for name in dev/install-packages dev/install-models editors/package; do script "$1/tools/$name" 'true'; done
script "$2/cmake" 'true'
# A calibration that takes no time, of a table whose machine took less, so that nothing is over its budget.
script "$2/clang" 'true'
sed -i "s,^CLANG = .*,CLANG = \"$2/clang\"," "$1/tools/dev/budget.py"
sed -i 's/^calibration .*/calibration 0.00001/' "$1/test/budget.txt"
script "$2/ninja" '[ -z "${BROKEN:-}" ] || exit 1; [ "$1" != --quiet ] || shift; echo "build: ${*:3}"; [ -z "${BUSY:-}" ] || python3 -c "import time
while time.process_time() < 0.6: pass"'
script "$1/tools/dev/affected" 'echo "affected: ${*:1:3}"; : > "$5"; [ -n "${NOTHING:-}" ] || printf "one.test\ntwo.test\n" > "$5"'
# The arguments of lit after `-o FILE` are its filter and its tests.
script "$1/tools/dev/run-tests" 'while [ "$1" != -o ]; do shift; done
echo "lit: ${*:3}"
metric='"'"'"code": "PASS", "metrics": {"cpu": 0.5}'"'"'
echo "{\"tests\": [{\"name\": \"Kiln :: tools/kiln/one.test\", $metric}, {\"name\": \"Kiln-Unit :: two\", $metric}]}" > "$2"'
