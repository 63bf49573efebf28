"""What chapters compose and compare: testbed, evaluations, re-rankers, encoders, first stages, pipeline, starting points."""
