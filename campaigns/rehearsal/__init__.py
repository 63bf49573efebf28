"""A rehearsal of the studies' own scale: its data and models in miniature, from servers on this machine, to every page."""
