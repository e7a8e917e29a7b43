"""The help of every subcommand fits the terminal: no line is longer than its columns, no option is missing, and each page says what it is about."""
import os
import re
import subprocess
import sys


def ask(*command, **environment):
    done = subprocess.run(["kiln", *command], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode or done.stderr:
        sys.exit(f"kiln {' '.join(command)}: status {done.returncode}, {done.stderr}")
    return done.stdout


general = ask("help")
commands = re.findall(r"^  (\w+) ", general.split("SUBCOMMANDS:")[1], re.M)
assert {"compile", "run", "bench", "new", "man", "help", "version"} <= set(commands), commands
for columns in (40, 80, 100, 120):
    for page in [("help",), *[("help", command) for command in commands], *[(command, "--help") for command in commands]]:
        text = ask(*page, COLUMNS=str(columns))
        for line in text.splitlines():
            assert len(line) <= columns, f"kiln {' '.join(page)} at {columns} columns has a line of {len(line)}: {line}"
            assert line == line.rstrip(), f"kiln {' '.join(page)}: blanks at the end of: {line}"
# Not a terminal, and nothing said: 80.
for command in commands:
    text = ask("help", command, COLUMNS="")
    assert max(map(len, text.splitlines())) <= 80, command
    assert "USAGE: kiln " + command in text and "--help" in text, text
# The manual pages and the completions have the same options as the help.
for command in commands:
    options = set(re.findall(r"^  (-[\w-]+)", ask("help", command), re.M))
    page = ask("man", command).replace("\\-", "-")
    missing = [option for option in options if f"\\fB{option}\\fR" not in page]
    assert not missing, f"kiln man {command} lacks {missing}"
    for shell, form in (("bash", "{}"), ("zsh", "{}"), ("fish", "-l {}")):
        script = ask("completion", shell)
        names = [option.lstrip("-") if shell == "fish" else option for option in options if option.startswith("--")]
        missing = [name for name in names if form.format(name) not in script]
        assert not missing, f"kiln completion {shell} lacks {missing} of {command}"
print(f"{len(commands)} subcommands")
