"""From templates to a book: chapters executed, rendered, printed, photographed, opened elsewhere."""
