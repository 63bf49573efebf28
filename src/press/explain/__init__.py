"""What a command would run, why, and for how long; nothing is run or written."""
