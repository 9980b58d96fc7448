"""Rubrics: lists of criteria that people, packages or a compiler write, and one way to have them judged."""
