"""What each chapter says in words and tables made of its values: one module a chapter, so that a test can reach it."""
