"""The press: what makes a book of the chapters: executing, rendering, comparing, citing, printing, recording, explaining."""

import sys

# jsonschema looks for it at every import, to check addresses that notebooks do not have; it parses a grammar, for over a second
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
