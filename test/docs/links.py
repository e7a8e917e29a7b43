#!/usr/bin/env python3
"""Every link between the pages leads to a file that is there, and to a heading that it has, and every guide can be reached from the README: links.py SOURCE"""
import os
import pathlib
import re
import sys

CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.M)


def anchors(text):
    """The names of headings, as Git hosts and Sphinx make them."""
    seen = {}
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        yield name if seen[name] == 0 else f"{name}-{seen[name]}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: path.read_text() for path in [*source.glob("*.md"), *(source / "docs").rglob("*.md"), *(source / "tools").rglob("*.md")] if "node_modules" not in path.parts}
    names = {path: set(anchors(text)) for path, text in pages.items()}
    faults, count, links = [], 0, {}
    for page, text in pages.items():
        # A code span may hold brackets that are no link; the text of a link may be code.
        plain = re.sub(r"\[`([^`\]]*)`\]", r"[\1]", text)
        for link in LINK.findall(CODE.sub("", plain)):
            count += 1
            name, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                if not link.startswith("https://"):
                    faults.append(f"{page.relative_to(source)}: {link} is no link of https")
                continue
            target = pathlib.Path(os.path.normpath(page.parent / name)) if name else page
            target = target / "README.md" if (target / "README.md").exists() else target
            links.setdefault(page, set()).add(target)
            if not target.exists() or source not in target.parents:
                faults.append(f"{page.relative_to(source)}: there is no {link}")
            elif anchor and target in names and anchor not in names[target]:
                faults.append(f"{page.relative_to(source)}: {target.name} has no heading #{anchor}")
    reached, open_pages = set(), [source / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page not in reached:
            reached.add(page)
            open_pages += links.get(page, ())
    faults += [f"{page.relative_to(source)}: no page links to it" for page in sorted(pages) if page not in reached]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{count} links of {len(pages)} pages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
