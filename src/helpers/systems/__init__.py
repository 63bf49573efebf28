"""What chapters compose and compare: testbed, evaluated systems, re-ranker, bi-encoder, first stages, pipeline, starting
points."""
