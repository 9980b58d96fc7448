"""What judging knows and must not lose: verdicts, decisions, waiting work, judge answers. One SQLite file."""
