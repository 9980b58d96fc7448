"""Conversations while they happen: tails the journal, keeps their state on disk, says what is ready to be judged.

Promises: the effect of a journal record on the state is exactly once, whatever crashes and is sent again; what comes
out is the same whatever the order of arrival; memory and disk are bounded. Does not judge, and does not know who does.
"""
