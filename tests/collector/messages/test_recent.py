"""What was used lately is there, and what is kept stays within its bound."""

from __future__ import annotations

from random import Random

from collector.messages.recent import Recent


def test_what_was_put_is_found() -> None:
    recent: Recent[str, int] = Recent(1000)

    recent.put("a", 1, size=10)
    recent.put("a", 2, size=10)

    assert recent.get("a") == 2
    assert recent.get("b") is None


def test_what_is_used_all_the_time_is_never_forgotten() -> None:
    recent: Recent[object, int] = Recent(1000)
    recent.put("used", 1, size=10)

    for number in range(1000):
        assert recent.get("used") == 1
        recent.put(number, number, size=100)


def test_what_is_not_used_is_forgotten() -> None:
    recent: Recent[object, int] = Recent(1000)
    recent.put("unused", 1, size=10)

    for number in range(20):
        recent.put(number, number, size=100)

    assert recent.get("unused") is None


def test_the_bound_holds_whatever_is_put() -> None:
    random = Random(7)
    recent: Recent[int, int] = Recent(1000)
    sizes: dict[int, int] = {}

    for _ in range(2000):
        key, size = random.randrange(50), random.randrange(1, 200)
        recent.put(key, key, size=size)
        sizes[key] = size
        recent.get(random.randrange(50))
        kept = [key for key in range(50) if key in recent._young or key in recent._old]
        assert sum(sizes[key] for key in kept) <= 1000 + 400


def test_a_value_larger_than_the_bound_is_kept_until_the_next() -> None:
    recent: Recent[str, int] = Recent(10)

    recent.put("large", 1, size=100)

    assert recent.get("large") == 1
