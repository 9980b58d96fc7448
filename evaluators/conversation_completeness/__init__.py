"""Conversation completeness: which of the user's intentions were satisfied?"""
