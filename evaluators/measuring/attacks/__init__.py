"""The attack suite: conversations of ours with text in them that tries to turn a judge's verdict.

`scenes` has the conversations, `techniques` how an order is dressed up, `suite` puts each technique into each place.
"""
