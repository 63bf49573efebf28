"""First stages: BM25 through Lucene, feedback, expansion, and how two rankings become one."""
