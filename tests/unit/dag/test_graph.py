"""Order, levels, circles; the graph follows what is created, altered and dropped."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.dag import STREAM, TABLE, VIEW, Graph, diamonds, together


def graph(**sources: str) -> Graph:
    """Stream tables with what they read, one letter each; lower-case letters are tables."""
    made = Graph()
    for name, read in sources.items():
        made = made.put(name, STREAM, read)
    return made


@st.composite
def acyclic(draw: st.DrawFn) -> Graph:
    number = draw(st.integers(1, 12))
    made = Graph().put("t0", TABLE).put("t1", TABLE)
    known = ["t0", "t1"]
    for n in range(number):
        made = made.put(f"s{n}", STREAM, draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)))
        known.append(f"s{n}")
    return made


def test_levels_have_sources_above_readers() -> None:
    made = graph(B="a", C="a", D="BC", E="Db").put("v", VIEW, ["D"]).put("F", STREAM, ["v"])
    assert made.levels() == (("a", "b"), ("B", "C"), ("D",), ("E", "v"), ("F",))
    assert made.upstream("D") == {"a", "B", "C"}
    assert made.downstream("B") == {"D", "E", "v", "F"}


def test_the_graph_follows_alter_and_drop() -> None:
    made = graph(B="a", C="B").put("C", STREAM, ["a"])
    assert made.readers("B") == ()
    assert made.drop("B").kinds.keys() == {"a", "C"}
    assert made.levels() == (("a",), ("B", "C"))


def test_a_circle_is_one_component_and_shares_a_level() -> None:
    made = graph(B="aC", C="B", D="C")
    assert made.circles() == (("B", "C"),)
    assert made.levels() == (("a",), ("B", "C"), ("D",))
    assert graph(B="B").circles() == (("B",),)
    assert graph(B="a").circles() == ()


@settings(deadline=None)
@given(acyclic())
def test_in_order_every_source_comes_first(made: Graph) -> None:
    place = {name: n for n, name in enumerate(made.order())}
    assert all(place[source] < place[reader] for source, reader in made.edges())
    assert made.circles() == ()


def test_a_diamond_is_named_by_where_paths_part_and_meet() -> None:
    [found] = diamonds(graph(B="a", C="a", D="BC"))
    assert (found.meets, found.parts, found.members) == ("D", {"a"}, {"B", "C", "D"})


def test_where_paths_part_at_a_stream_table_it_is_no_member() -> None:
    [found] = diamonds(graph(A="x", B="A", C="A", D="BC"))
    assert (found.parts, found.members) == ({"A"}, {"B", "C", "D"})


def test_a_shortcut_makes_a_diamond_too() -> None:
    [found] = diamonds(graph(B="a", D="aB"))
    assert (found.parts, found.members) == ({"a"}, {"B", "D"})


def test_different_sources_make_no_diamond() -> None:
    assert diamonds(graph(B="a", C="b", D="BC")) == ()
    assert diamonds(graph(B="a", C="B", D="C")) == ()


def test_paths_through_views_meet_as_well() -> None:
    made = graph(B="a").put("v", VIEW, ["a"]).put("D", STREAM, ["B", "v"])
    assert [d.members for d in diamonds(made)] == [{"B", "D"}]


def test_diamonds_that_share_a_member_are_one_unit() -> None:
    made = graph(B="a", C="a", D="BC", E="a", F="DE", G="F")
    assert together(made, [d.members for d in diamonds(made)]) == (("B", "C", "E", "D", "F"), ("G",))


@settings(deadline=None)
@given(acyclic(), st.lists(st.lists(st.integers(0, 11), min_size=2, max_size=4), max_size=3))
def test_units_keep_groups_whole_and_follow_each_other_in_order(made: Graph, chosen: list[list[int]]) -> None:
    groups = [[f"s{n}" for n in group if f"s{n}" in made.kinds] for group in chosen]
    units = together(made, groups)
    of = {name: n for n, unit in enumerate(units) for name in unit}
    assert sorted(of) == sorted(n for n, kind in made.kinds.items() if kind == STREAM)
    assert all(len({of[name] for name in group}) <= 1 for group in groups)
    assert all(of[source] <= of[reader] for source, reader in made.edges() if source in of)
    place = {name: n for n, name in enumerate(m for unit in units for m in unit)}
    assert all(place[source] < place[reader] for source, reader in made.edges() if source in place)
