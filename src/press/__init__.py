"""The press: what makes a book of the chapters: executing, rendering, comparing, citing, printing, recording, explaining."""
