"""What a page shows: fragments, figures, comparisons, citations, provenance."""
