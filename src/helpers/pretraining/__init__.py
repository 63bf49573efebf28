"""Pre-training before fine-tuning: Condenser, masked words, and the tasks on which starting points are compared."""
