"""Load-balancing policies: one file a family, each a job-level rule with exact parameters."""
