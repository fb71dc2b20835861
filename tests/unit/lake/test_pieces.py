"""The law of the change feed, on made-up files: change (A, B] = state(B) − state(A)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.lake import pieces
from trickle.lake.model import DataFile, DeleteFile
from trickle.lake.pieces import Life, Piece

LAST = 12


@dataclass
class World:
    """A table's physical history: files, the births of their rows, the deaths of single rows."""

    files: list[DataFile] = field(default_factory=list)
    births: dict[int, list[int]] = field(default_factory=dict)
    deaths: dict[int, dict[int, int]] = field(default_factory=dict)
    content: dict[int, list[str]] = field(default_factory=dict)
    rewrites: set[int] = field(default_factory=set)

    def live(self, at: int) -> list[DataFile]:
        return [f for f in self.files if f.begin <= at and (f.end is None or f.end > at)]

    def read(self, found: list[Piece]) -> Counter[str]:
        """What a reader makes of pieces: the meaning of `Piece`, row by row."""
        rows: Counter[str] = Counter()
        for piece in found:
            for position, born in enumerate(self.births[piece.file.id]):
                if piece.life is not None and not piece.life.holds(born):
                    continue
                at = self.deaths[piece.file.id].get(position)
                is_dead = piece.has_deletes and at is not None and piece.dead[0] < at <= piece.dead[1]
                if is_dead == piece.only_deleted:
                    rows[self.content[piece.file.id][position]] += piece.weight
        return Counter({k: v for k, v in rows.items() if v})

    def state(self, at: int) -> Counter[str]:
        files = [self._with_deletes(f) for f in self.live(at)]
        return self.read(pieces.state(files, at))

    def change(self, start: int, end: int) -> Counter[str]:
        found = [f for f in self.files if f.begin <= end and (f.end is None or f.end > start)]
        deletes = {f.id: [_delete(self.deaths[f.id])] for f in found if self.deaths[f.id]}
        moved = frozenset(r for r in self.rewrites if start < r <= end)
        return self.read(pieces.change(found, deletes, {}, start, end, moved))

    def _with_deletes(self, file: DataFile) -> DataFile:
        from dataclasses import replace

        dead = self.deaths[file.id]
        return replace(file, delete=_delete(dead)) if dead else file


def _delete(deaths: dict[int, int]) -> DeleteFile:
    return DeleteFile(0, "d", len(deaths), 1, 1, min(deaths.values()), max(deaths.values()))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World()
    for id in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(1, LAST))
        births = sorted(draw(st.lists(st.integers(begin, LAST), min_size=1, max_size=4)))
        births[0] = begin
        mixed = births[-1] > begin
        end = draw(st.none() | st.integers(births[-1] + 1, LAST + 1))
        last = (end or LAST + 1) - 1
        deaths = {}
        for position, born in enumerate(births):
            if born < last and draw(st.booleans()):
                deaths[position] = draw(st.integers(born + 1, last))
        world.files.append(_file(id, begin, end, births[-1] if mixed else None, len(births)))
        world.births[id], world.deaths[id] = births, deaths
        world.content[id] = [draw(st.sampled_from("abc")) for _ in births]
    _maybe_rewrite(draw, world)
    return world


def _maybe_rewrite(draw: st.DrawFn, world: World) -> None:
    """Move the live rows of some file to a new one, at a snapshot of its own."""
    at = LAST + 2
    candidates = [f for f in world.files if f.end is None]
    if not candidates or not draw(st.booleans()):
        return
    from dataclasses import replace

    old = draw(st.sampled_from(candidates))
    kept = [p for p in range(len(world.births[old.id])) if p not in world.deaths[old.id]]
    world.files[world.files.index(old)] = replace(old, end=at)
    world.rewrites.add(at)
    if not kept:
        return
    id = len(world.files)
    world.files.append(_file(id, at, None, None, len(kept)))
    world.births[id] = [at] * len(kept)
    world.content[id] = [world.content[old.id][p] for p in kept]
    world.deaths[id] = {0: at + 1} if draw(st.booleans()) else {}


def _file(id: int, begin: int, end: int | None, partial_max: int | None, records: int) -> DataFile:
    return DataFile(id, f"f{id}", records, 1, 1, 0, begin, end, partial_max)


@settings(max_examples=600, deadline=None)
@given(worlds(), st.integers(0, LAST + 3), st.integers(0, LAST + 3))
def test_a_change_is_the_difference_of_two_states(world: World, a: int, b: int) -> None:
    start, end = min(a, b), max(a, b)
    expected = Counter(world.state(end))
    expected.subtract(world.state(start))
    assert world.change(start, end) == Counter({k: v for k, v in expected.items() if v})


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_a_range_that_only_rewrites_reads_nothing(world: World) -> None:
    for at in world.rewrites:
        found = [f for f in world.files if f.begin <= at and (f.end is None or f.end > at - 1)]
        deletes = {f.id: [_delete(world.deaths[f.id])] for f in found if world.deaths[f.id]}
        moved = pieces.change(found, deletes, {}, at - 1, at, frozenset({at}))
        assert all(p.only_deleted for p in moved)


def test_a_row_born_by_a_rewrite_counts_as_always_there() -> None:
    life = Life(-1, 5, frozenset({9}), moved_too=True)
    assert life.holds(9) and life.holds(5) and not life.holds(7)
