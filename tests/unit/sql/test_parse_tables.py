import pytest

from trickle.errors import NotFound, QueryError
from trickle.sql.parse import parse
from trickle.sql.statement import (
    AddColumn,
    AddKey,
    Alteration,
    AlterTable,
    ColumnDef,
    CreateTable,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    ForeignKey,
    Name,
    PartitionField,
    PrimaryKey,
    RenameColumn,
    RenameTable,
    SetCluster,
    SetDefault,
    SetNotNull,
    SetPartition,
    WidenColumn,
)

T = Name(None, "t")


def create(text: str, dialect: str = "spark") -> CreateTable:
    made = parse(f"CREATE TABLE t {text}", dialect)
    assert isinstance(made, CreateTable)
    return made


def test_columns_carry_type_nullability_and_default() -> None:
    made = create(
        "(id BIGINT NOT NULL, n STRING DEFAULT 'it''s, ok' NOT NULL, d DATE NULL DEFAULT current_date(), "
        "x INT DEFAULT CASE WHEN true THEN 1 END, b BOOLEAN DEFAULT 1 IS NOT NULL)"
    )
    assert made.columns == (
        ColumnDef("id", "BIGINT", False),
        ColumnDef("n", "STRING", False, "'it''s, ok'"),
        ColumnDef("d", "DATE", True, "current_date()"),
        ColumnDef("x", "INT", True, "CASE WHEN true THEN 1 END"),
        ColumnDef("b", "BOOLEAN", True, "1 IS NOT NULL"),
    )


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        ("DECIMAL(10, 2)", "DECIMAL(10, 2)"),
        ("MAP<STRING, ARRAY<STRUCT<a: INT, b: DECIMAL(3,1)>>>", "MAP<STRING, ARRAY<STRUCT<a: INT, b: DECIMAL(3,1)>>>"),
        ("STRUCT<>", "STRUCT<>"),
        ("VARCHAR(20)", "VARCHAR(20)"),
        ("varchar", "STRING"),
        ("text", "STRING"),
        ("double  precision", "DOUBLE"),
        ("timestamp with time zone", "TIMESTAMP"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP_NTZ"),
        ("int[]", "ARRAY<int>"),
        ("text[][]", "ARRAY<ARRAY<STRING>>"),
        ("INTERVAL DAY TO SECOND", "INTERVAL DAY TO SECOND"),
    ],
)
def test_a_type_is_what_spark_calls_it(written: str, spark: str) -> None:
    assert create(f"(a {written} NOT NULL, b INT)").columns[0] == ColumnDef("a", spark, False)


def test_postgresql_types_and_defaults_are_translated() -> None:
    made = create("(\"A b\" timestamp, n numeric(5,2), j text DEFAULT 'x'::text)", "postgres")
    assert [c.name for c in made.columns] == ["A b", "n", "j"]
    assert [c.type for c in made.columns] == ["TIMESTAMP_NTZ", "DECIMAL(5, 2)", "STRING"]
    assert made.columns[2].default == "CAST('x' AS STRING)"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("(a INT PRIMARY KEY, b INT)", PrimaryKey(("a",))),
        ("(a INT CONSTRAINT k PRIMARY KEY RELY NOT NULL, b INT)", PrimaryKey(("a",), "k", True)),
        ("(a INT, b INT, PRIMARY KEY (a))", PrimaryKey(("a",))),
        ("(a INT, b INT, PRIMARY KEY (b, a) NOT ENFORCED NORELY)", PrimaryKey(("b", "a"))),
        ("(a INT, b INT, CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED RELY)", PrimaryKey(("a",), "k", True)),
    ],
)
def test_a_primary_key_is_declared_inline_or_apart(text: str, key: PrimaryKey) -> None:
    assert create(text).primary_key == key


def test_foreign_keys_are_declared_inline_and_apart() -> None:
    made = create(
        "(a INT CONSTRAINT c REFERENCES s.u (x) RELY, b INT, FOREIGN KEY (a, b) REFERENCES v NOT ENFORCED, "
        "CONSTRAINT d FOREIGN KEY (b) REFERENCES w NOT ENFORCED RELY)"
    )
    assert made.foreign_keys == (
        ForeignKey(("a",), Name("s", "u"), ("x",), True, "c"),
        ForeignKey(("a", "b"), Name(None, "v")),
        ForeignKey(("b",), Name(None, "w"), rely=True, name="d"),
    )


def test_keywords_and_odd_names_are_columns() -> None:
    made = create("(`primary` INT, `a b` INT, check INT, `x.y` INT, größe INT, order INT, `a``b` INT)")
    assert [c.name for c in made.columns] == ["primary", "a b", "check", "x.y", "größe", "order", "a`b"]


def test_layout_clauses_come_in_any_order() -> None:
    made = create("(a INT, d DATE, k INT) CLUSTER BY (k, a) PARTITIONED BY (a, years(d), month(d))")
    assert made.cluster_by == ("k", "a")
    assert made.partitioned_by == (PartitionField("a"), PartitionField("d", "year"), PartitionField("d", "month"))
    assert create("(a INT) USING ducklake CLUSTERED BY (a)").cluster_by == ("a",)


@pytest.mark.parametrize("text", ["AS SELECT 1 AS a", "SELECT 1 AS a", "(SELECT 1 AS a)"])
def test_a_table_is_made_from_a_query(text: str) -> None:
    assert create(text).as_query in ("SELECT 1 AS a", "(SELECT 1 AS a)")


def test_create_table_knows_its_conditions() -> None:
    assert parse("CREATE OR REPLACE TABLE t (a INT)") == CreateTable(T, (ColumnDef("a", "INT"),), or_replace=True)
    assert parse("CREATE TABLE IF NOT EXISTS t (a INT)") == CreateTable(T, (ColumnDef("a", "INT"),), True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a INT) USING parquet", "clause USING"),
        ("(a INT) LOCATION 'x'", "clause LOCATION"),
        ("(a INT) TBLPROPERTIES ('x' = 'y')", "clause TBLPROPERTIES"),
        ("(a INT) COMMENT 'x'", "clause COMMENT"),
        ("(a INT) OPTIONS (x = 1)", "clause OPTIONS"),
        ("(a INT) CLUSTER BY (a) CLUSTER BY (a)", "clause CLUSTER"),
        ("(a INT) CLUSTERED BY (a) INTO 4 BUCKETS", "clause INTO"),
        ("(a INT) PARTITIONED BY (bucket(4, a))", "bucket"),
        ("(a INT) PARTITIONED BY (b)", '"b"'),
        ("(a INT COMMENT 'x')", "COMMENT"),
        ("(a INT UNIQUE)", "UNIQUE"),
        ("(a INT GENERATED ALWAYS AS IDENTITY)", "GENERATED"),
        ("(a INT CHECK (a > 0))", "CHECK"),
        ("(a INT, CHECK (a > 0))", "CHECK"),
        ("(a INT, UNIQUE (a))", "UNIQUE"),
        ("(a INT, PRIMARY KEY (a) ENFORCED)", "not enforced"),
        ("(a INT PRIMARY KEY, PRIMARY KEY (a))", "one primary key"),
        ("(a INT, PRIMARY KEY (b))", '"b"'),
        ("(a INT, A INT)", "twice"),
        ("(a)", "expected a type"),
        ("(a INT DEFAULT)", "expected an expression"),
        ("(a INT,)", "expected a column name"),
        ("()", "expected a column name"),
        ("(a ARRAY<INT)", '"<" is not closed'),
        ("(a-b INT)", "expected a type"),
        ("LIKE u", "clause LIKE"),
        ("", "no columns"),
        ("(a INT) AS", "expected a query"),
    ],
)
def test_what_a_table_cannot_have_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises((QueryError, NotFound), match=message):
        create(text)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("ADD COLUMN a INT", (AddColumn(ColumnDef("a", "INT")),)),
        ("ADD a INT", (AddColumn(ColumnDef("a", "INT")),)),
        ("ADD COLUMN IF NOT EXISTS a INT NOT NULL DEFAULT 1", (AddColumn(ColumnDef("a", "INT", False, "1"), True),)),
        ("ADD COLUMNS (a INT, b STRING)", (AddColumn(ColumnDef("a", "INT")), AddColumn(ColumnDef("b", "STRING")))),
        ("ADD COLUMNS a INT, b INT", (AddColumn(ColumnDef("a", "INT")), AddColumn(ColumnDef("b", "INT")))),
        ("ADD COLUMN a INT, DROP COLUMN b", (AddColumn(ColumnDef("a", "INT")), DropColumn("b"))),
        ("DROP COLUMN IF EXISTS a", (DropColumn("a", True),)),
        ("DROP COLUMNS (a, b)", (DropColumn("a"), DropColumn("b"))),
        ("DROP COLUMNS a, `b c`", (DropColumn("a"), DropColumn("b c"))),
        ("RENAME COLUMN a TO b", (RenameColumn("a", "b"),)),
        ("RENAME a TO b", (RenameColumn("a", "b"),)),
        ("RENAME TO s.u", (RenameTable(Name("s", "u")),)),
        ("ALTER COLUMN a TYPE BIGINT", (WidenColumn("a", "BIGINT"),)),
        ("ALTER a SET DATA TYPE double precision", (WidenColumn("a", "DOUBLE"),)),
        ("CHANGE COLUMN a a BIGINT", (WidenColumn("a", "BIGINT"),)),
        ("CHANGE a b BIGINT", (RenameColumn("a", "b"), WidenColumn("b", "BIGINT"))),
        ("CHANGE COLUMN a TYPE BIGINT", (WidenColumn("a", "BIGINT"),)),
        ("ALTER COLUMN a SET DEFAULT 1 + 1", (SetDefault("a", "1 + 1"),)),
        ("ALTER COLUMN a DROP DEFAULT", (DropDefault("a"),)),
        ("ALTER COLUMN a SET NOT NULL, ALTER b DROP NOT NULL", (SetNotNull("a"), DropNotNull("b"))),
        ("ADD PRIMARY KEY (a, b)", (AddKey(PrimaryKey(("a", "b"))),)),
        ("ADD CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED", (AddKey(PrimaryKey(("a",), "k")),)),
        ("ADD FOREIGN KEY (a) REFERENCES u RELY", (AddKey(ForeignKey(("a",), Name(None, "u"), rely=True)),)),
        (
            "ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES s.u (x)",
            (AddKey(ForeignKey(("a",), Name("s", "u"), ("x",), name="f")),),
        ),
        ("DROP PRIMARY KEY", (DropPrimaryKey(),)),
        ("DROP CONSTRAINT f", (DropConstraint("f"),)),
        ("DROP CONSTRAINT IF EXISTS `odd name`", (DropConstraint("odd name", True),)),
        ("SET PARTITIONED BY (day(d))", (SetPartition((PartitionField("d", "day"),)),)),
        ("RESET PARTITIONED BY", (SetPartition(()),)),
        ("CLUSTER BY (a)", (SetCluster(("a",)),)),
        ("CLUSTER BY NONE", (SetCluster(()),)),
    ],
)
def test_a_table_is_altered_in_spark_and_standard_words(text: str, actions: tuple[Alteration, ...]) -> None:
    assert parse(f"ALTER TABLE IF EXISTS t {text}") == AlterTable(T, actions, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not supported in ALTER TABLE"),
        ("ADD COLUMN a INT FIRST", "FIRST"),
        ("ADD COLUMN a INT AFTER b", "AFTER"),
        ("ADD COLUMN a INT PRIMARY KEY", "PRIMARY"),
        ("ADD CONSTRAINT c CHECK (a > 0)", "constraint CHECK"),
        ("ADD FOREIGN KEY (a)", "expected REFERENCES"),
        ("ADD PRIMARY KEY (a) ENFORCED", "not enforced"),
        ("ADD PARTITION (d = 1)", "ADD PARTITION"),
        ("DROP CONSTRAINT", "a constraint's name"),
        ("ALTER COLUMN a COMMENT 'x'", "COMMENT"),
        ("ALTER COLUMN a.b TYPE INT", "field inside a column"),
        ("SET TBLPROPERTIES ('a' = 'b')", "TBLPROPERTIES"),
        ("RENAME COLUMN a b", "expected TO"),
        ("DROP COLUMN a b", '"b" is not supported'),
        ("ALTER COLUMN a TYPE", "expected a type"),
    ],
)
def test_an_alteration_that_is_not_known_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse(f"ALTER TABLE t {text}")
