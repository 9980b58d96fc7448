"""The documents, and in `docs.generate` what writes their tables. Not part of the distribution's packages."""
