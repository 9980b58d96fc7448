"""Built-in checks that need no configuration and no model: they flag only what is plain, and nothing where in doubt."""
