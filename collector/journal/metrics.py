"""Every metric of the journal. One instance a registry; a reader's process has the reader's part filled."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SYNC_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_GROUP_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class JournalMetrics:
    """Each append ends in exactly one of `appended` and `refused`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.appended = Counter("adhere_journal_appended_total", "Records acknowledged.", ["signal"], registry=registry)
        self.appended_bytes = Counter(
            "adhere_journal_appended_bytes_total", "Bytes of acknowledged bodies.", ["signal"], registry=registry
        )
        self.stored_bytes = Counter(
            "adhere_journal_stored_bytes_total", "Bytes written for acknowledged bodies, compressed.", registry=registry
        )
        self.refused = Counter(
            "adhere_journal_refused_total",
            "Appends refused: full, overloaded, unavailable, closing, too_large.",
            ["reason"],
            registry=registry,
        )
        self.sync_seconds = Histogram(
            "adhere_journal_fsync_seconds", "Time of one fdatasync.", buckets=_SYNC_BUCKETS_S, registry=registry
        )
        self.group_records = Histogram(
            "adhere_journal_group_records", "Records that one write covers.", buckets=_GROUP_BUCKETS, registry=registry
        )
        self.disk_failures = Counter(
            "adhere_journal_disk_failures_total",
            "Operations that the disk refused: create, write, truncate, sync, delete.",
            ["operation"],
            registry=registry,
        )
        self.relaxed_unsynced = Counter(
            "adhere_journal_relaxed_unsynced_total",
            "Records acknowledged under relaxed durability whose sync failed: a power loss may take them.",
            registry=registry,
        )
        self.corrupt = Counter(
            "adhere_journal_corrupt_total",
            "Damaged stretches and files met.",
            ["reason"],
            registry=registry,
        )
        self.corrupt_bytes = Counter(
            "adhere_journal_corrupt_bytes_total", "Bytes of damaged stretches and files.", ["reason"], registry=registry
        )
        self.torn_tails = Counter(
            "adhere_journal_torn_tails_total", "Unfinished ends cut off when the journal was opened.", registry=registry
        )
        self.disk_bytes = Gauge("adhere_journal_disk_bytes", "Bytes of all segments.", registry=registry)
        self.max_bytes = Gauge(
            "adhere_journal_max_bytes", "Bound of all segments in bytes, `journal.max_bytes`.", registry=registry
        )
        self.segments = Gauge("adhere_journal_segments", "Segments on disk.", registry=registry)
        self.deleted_segments = Counter(
            "adhere_journal_deleted_segments_total",
            "Segments deleted once all cursors had passed them.",
            registry=registry,
        )
        self.yielded_segments = Counter(
            "adhere_journal_yielded_segments_total",
            "Segments deleted before a yielding cursor had passed them, since the journal ran out of room.",
            ["cursor"],
            registry=registry,
        )
        self.oldest_unread_seconds = Gauge(
            "adhere_journal_oldest_unread_seconds",
            "Age of the oldest record that a cursor has not passed.",
            ["cursor"],
            registry=registry,
        )
        self.read_records = Counter("adhere_journal_read_total", "Records read.", ["cursor"], registry=registry)
        self.lost_records = Counter(
            "adhere_journal_lost_records_total",
            "Records that a cursor never saw since they were damaged or deleted.",
            ["cursor"],
            registry=registry,
        )
        self.cursor_fallbacks = Counter(
            "adhere_journal_cursor_fallbacks_total",
            "Damaged cursor files: the older position, or the oldest record, was taken.",
            ["cursor"],
            registry=registry,
        )
