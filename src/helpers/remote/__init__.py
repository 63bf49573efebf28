"""The network: what is fetched, how it is resumed and checked, what to do without."""
