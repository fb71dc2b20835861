"""The eight tables of TPC-H, as the specification types them, and their rows for a scale factor."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import trickle

TABLES = {
    "region": """r_regionkey BIGINT NOT NULL, r_name STRING NOT NULL, r_comment STRING,
        PRIMARY KEY (r_regionkey)""",
    "nation": """n_nationkey BIGINT NOT NULL, n_name STRING NOT NULL, n_regionkey BIGINT NOT NULL, n_comment STRING,
        PRIMARY KEY (n_nationkey)""",
    "supplier": """s_suppkey BIGINT NOT NULL, s_name STRING NOT NULL, s_address STRING NOT NULL,
        s_nationkey BIGINT NOT NULL, s_phone STRING NOT NULL, s_acctbal DECIMAL(15, 2) NOT NULL,
        s_comment STRING NOT NULL, PRIMARY KEY (s_suppkey)""",
    "customer": """c_custkey BIGINT NOT NULL, c_name STRING NOT NULL, c_address STRING NOT NULL,
        c_nationkey BIGINT NOT NULL, c_phone STRING NOT NULL, c_acctbal DECIMAL(15, 2) NOT NULL,
        c_mktsegment STRING NOT NULL, c_comment STRING NOT NULL, PRIMARY KEY (c_custkey)""",
    "part": """p_partkey BIGINT NOT NULL, p_name STRING NOT NULL, p_mfgr STRING NOT NULL, p_brand STRING NOT NULL,
        p_type STRING NOT NULL, p_size INT NOT NULL, p_container STRING NOT NULL,
        p_retailprice DECIMAL(15, 2) NOT NULL, p_comment STRING NOT NULL, PRIMARY KEY (p_partkey)""",
    "partsupp": """ps_partkey BIGINT NOT NULL, ps_suppkey BIGINT NOT NULL, ps_availqty INT NOT NULL,
        ps_supplycost DECIMAL(15, 2) NOT NULL, ps_comment STRING NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey)""",
    "orders": """o_orderkey BIGINT NOT NULL, o_custkey BIGINT NOT NULL, o_orderstatus STRING NOT NULL,
        o_totalprice DECIMAL(15, 2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority STRING NOT NULL,
        o_clerk STRING NOT NULL, o_shippriority INT NOT NULL, o_comment STRING NOT NULL, PRIMARY KEY (o_orderkey)""",
    "lineitem": """l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL, l_suppkey BIGINT NOT NULL,
        l_linenumber INT NOT NULL, l_quantity DECIMAL(15, 2) NOT NULL, l_extendedprice DECIMAL(15, 2) NOT NULL,
        l_discount DECIMAL(15, 2) NOT NULL, l_tax DECIMAL(15, 2) NOT NULL, l_returnflag STRING NOT NULL,
        l_linestatus STRING NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL,
        l_receiptdate DATE NOT NULL, l_shipinstruct STRING NOT NULL, l_shipmode STRING NOT NULL,
        l_comment STRING NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber)""",
}


def generate(scale: float, folder: Path) -> None:
    """Write the rows of a scale factor as Parquet, one file for each table."""
    program = shutil.which("tpchgen-cli", path=sysconfig.get_path("scripts")) or "tpchgen-cli"
    subprocess.run([program, "parquet", "-s", str(scale), "-o", str(folder), "--quiet"], check=True)


def load(db: trickle.Session, folder: Path) -> None:
    """The tables with the generated rows, in one snapshot."""
    with db.transaction():
        for name, columns in TABLES.items():
            db.sql(f"CREATE TABLE {name} ({columns})")
            db.append(name, db.spark.read.parquet(str(folder / f"{name}.parquet")))
