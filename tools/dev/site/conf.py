# How Sphinx makes the pages; tools/dev/build-docs copies this file beside them.
project = "Kiln"
copyright = "the authors of Kiln"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
highlight_language = "text"
# Headings are link targets under the names that Git hosts give them.
myst_heading_anchors = 4
# Generated pages begin at the third level below their title.
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Kiln"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def setup(app):
    """Colours for IR, which Pygments does not know."""
    from pygments.lexer import RegexLexer
    from pygments.token import Comment, Keyword, Name, Number, String, Text

    class IR(RegexLexer):
        name = "MLIR"
        tokens = {"root": [
            (r"//.*", Comment), (r'"[^"\n]*"', String), (r"[%^][\w#]+", Name.Variable), (r"@[\w.]+", Name.Function), (r"[#!][\w.]+", Name.Attribute),
            (r"\b(?:tensor|vector|memref|index|none|[fui]\d+|bf16|[sf]\d+E\w+)\b", Keyword.Type), (r"\b[a-z_]+\.[\w.]+", Name.Builtin),
            (r"-?\b\d[\w.+-]*", Number), (r"\w+|\s+|.", Text)]}

    app.add_lexer("mlir", IR)
