"""What all networks share: pre-trained weights, arithmetic, inference without padding."""
