"""Cross-encoders: their training pairs, training, distillation, scores, and the pipeline around them."""
