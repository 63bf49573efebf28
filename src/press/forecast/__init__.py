"""Costs that are foretold: what a command would run and how long, what a chapter takes at the scale of MS MARCO."""
