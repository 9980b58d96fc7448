"""Which Adhere sent a request: a header of every OTLP request that one sends.

A relay or an exporter may lead back to its own Adhere under a name that the configuration cannot know for its own, such
as a service's name in a cluster. A receiver that finds its own id refuses, so that nothing goes round for ever.
"""

from __future__ import annotations

SENDER_HEADER = "adhere-sender"
