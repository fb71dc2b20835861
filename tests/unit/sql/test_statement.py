import pytest

from trickle.errors import NotFound, QueryError
from trickle.sql.statement import (
    AlterStreamTable,
    ColumnDef,
    CreateTable,
    ForeignKey,
    Merge,
    MergeClause,
    Name,
    PartitionField,
    PrimaryKey,
    Update,
    quote_spark,
)

T = Name(None, "t")


@pytest.mark.parametrize(
    "name", ["x; DROP TABLE y", "a`b", "``", "größe", "a.b", "two words", "select", "a\nb", "'", '"']
)
def test_a_quoted_name_is_one_identifier_and_keeps_its_value(name: str) -> None:
    quoted = quote_spark(name)
    assert quoted[0] == quoted[-1] == "`"
    assert quoted[1:-1].replace("``", "") == name.replace("`", "")
    assert quoted[1:-1].replace("``", "`") == name


def test_a_name_knows_its_label_and_its_quoted_form() -> None:
    assert Name("s", "t").label == "s.t"
    assert Name("s`", "t").quote_spark() == "`s```.`t`"
    assert T.within("main") == Name("main", "t")
    assert Name("s", "t").within("main") == Name("s", "t")


@pytest.mark.parametrize("parts", [(None, ""), (None, "  "), ("", "t"), (None, "a\0b")])
def test_a_name_is_never_empty_and_holds_no_nul(parts: tuple[str | None, str]) -> None:
    with pytest.raises(QueryError):
        Name(*parts)


def test_a_table_needs_columns_or_a_query() -> None:
    with pytest.raises(QueryError, match="no columns"):
        CreateTable(T)
    assert CreateTable(T, as_query="SELECT 1 AS a").columns == ()


@pytest.mark.parametrize(
    "clauses",
    [
        {"primary_key": PrimaryKey(("b",))},
        {"cluster_by": ("b",)},
        {"partitioned_by": (PartitionField("b"),)},
        {"foreign_keys": (ForeignKey(("b",), Name(None, "u")),)},
    ],
)
def test_a_clause_may_only_name_columns_of_the_table(clauses: dict[str, object]) -> None:
    with pytest.raises(NotFound, match='"b"'):
        CreateTable(T, (ColumnDef("a", "INT"),), **clauses)  # type: ignore[arg-type]


def test_column_names_are_compared_without_case() -> None:
    with pytest.raises(QueryError, match="twice"):
        CreateTable(T, (ColumnDef("a", "INT"), ColumnDef("A", "INT")))
    with pytest.raises(QueryError, match="twice"):
        Update(T, (("a", "1"), ("A", "2")))
    assert CreateTable(T, (ColumnDef("Id", "INT"),), primary_key=PrimaryKey(("ID",))).primary_key == PrimaryKey(("ID",))


def test_an_unknown_partition_transform_is_refused() -> None:
    with pytest.raises(QueryError, match="bucket"):
        PartitionField("a", "bucket")


def test_a_foreign_key_pairs_its_columns() -> None:
    with pytest.raises(QueryError, match="unequal"):
        ForeignKey(("a",), T, ("x", "y"))


@pytest.mark.parametrize(
    ("matched", "action"),
    [
        ("matched", "insert"),
        ("not_matched", "delete"),
        ("not_matched", "update"),
        ("not_matched_by_source", "insert_all"),
    ],
)
def test_a_merge_clause_does_only_what_its_kind_allows(matched: str, action: str) -> None:
    with pytest.raises(QueryError, match="cannot"):
        MergeClause(matched, action)  # type: ignore[arg-type]


def test_a_merge_insert_pairs_columns_and_values() -> None:
    with pytest.raises(QueryError, match="2 columns but 1 values"):
        MergeClause("not_matched", "insert", columns=("a", "b"), values=("1",))


def test_a_merge_clause_after_an_unconditional_one_of_its_kind_is_refused() -> None:
    always, later = MergeClause("matched", "delete"), MergeClause("matched", "update_all", "s.a = 1")
    assert Merge(T, "s", "true", (later, always)).clauses == (later, always)
    with pytest.raises(QueryError, match="never apply"):
        Merge(T, "s", "true", (always, later))


def test_altering_a_stream_table_is_one_thing_at_a_time() -> None:
    with pytest.raises(QueryError):
        AlterStreamTable(T)
    with pytest.raises(QueryError):
        AlterStreamTable(T, suspend=True, resume=True)
