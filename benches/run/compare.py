#!/usr/bin/env python3
"""Times `keepstate run` over generated rows, beside DuckDB where it can express the query (pip install duckdb).

    cargo build --release && python3 benches/run/compare.py [ROWS] [--keepstate target/release/keepstate]

Prints one line a query: seconds (the best of three), rows per second, peak memory, and DuckDB's seconds with two threads. Rows are
read from CSV and written as CSV on both sides.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

DDL = """SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE T (k INT, v BIGINT, d DOUBLE, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'stub');
"""
SELECT = "SELECT k, window_start, COUNT(*), SUM(v), MAX(d) FROM TABLE({}TABLE T, DESCRIPTOR(ts), {})) GROUP BY k, window_start, window_end"
OVER = "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts {}) FROM T"
BUCKET = "time_bucket(INTERVAL '60 seconds', ts)"
QUERIES = {
    "OVER ROWS 10": (
        OVER.format("ROWS BETWEEN 10 PRECEDING AND CURRENT ROW"),
        OVER.format("ROWS BETWEEN 10 PRECEDING AND CURRENT ROW"),
    ),
    "OVER RANGE 10 s": (
        OVER.format("RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW"),
        OVER.format("RANGE BETWEEN INTERVAL 10 SECONDS PRECEDING AND CURRENT ROW"),
    ),
    "TUMBLE 1 min": (
        SELECT.format("TUMBLE(", "INTERVAL '1' MINUTE"),
        f"SELECT k, {BUCKET} AS w, COUNT(*), SUM(v), MAX(d) FROM T GROUP BY k, w",
    ),
    "HOP 20 s, 1 min": (
        SELECT.format("HOP(", "INTERVAL '20' SECOND, INTERVAL '1' MINUTE"),
        "SELECT k, w - INTERVAL 20 SECONDS * o AS ws, COUNT(*), SUM(v), MAX(d) FROM"
        " (SELECT *, time_bucket(INTERVAL '20 seconds', ts) AS w FROM T), (VALUES (0), (1), (2)) AS x (o) GROUP BY k, ws",
    ),
    "Window Top-3": (
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS rn FROM"
        " TABLE(TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE rn <= 3",
        f"SELECT *, {BUCKET} AS w FROM T QUALIFY ROW_NUMBER() OVER (PARTITION BY {BUCKET}, k ORDER BY v DESC) <= 3",
    ),
}


def generate(path, rows):
    """Rows 10 ms apart with a little disorder, 1,000 keys; the same every time."""
    state, start = 1, 1_700_000_000_000
    with open(path, "w") as out:
        out.write("k,v,d,s,ts\n")
        for i in range(rows):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            n = state >> 33
            millis = start + i * 10 + n % 500
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(millis // 1000))
            out.write(f"{n % 1000},{n // 7 % 10000},{n % 977 / 4},text{n % 50},{stamp}.{millis % 1000:03}\n")


def keepstate(binary, folder, data, query):
    script = os.path.join(folder, "query.sql")
    with open(script, "w") as out:
        out.write(DDL + query + ";\n")
    command = [binary, "run", script, "--data", f"T={data}", "--format", "csv"]
    best, peak = float("inf"), 0
    for _ in range(3):
        begin = time.perf_counter()
        with open(os.devnull, "w") as sink:
            child = subprocess.Popen(command, stdout=sink)
            _, status, usage = os.wait4(child.pid, 0)
        best = min(best, time.perf_counter() - begin)
        peak = max(peak, usage.ru_maxrss)
        if status != 0:
            sys.exit(f"keepstate failed on: {query}")
    return best, peak


def duckdb_seconds(folder, data, query):
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    table = f"(SELECT * FROM read_csv('{data}', header = true)) AS T"
    sql = query.replace("FROM T", f"FROM {table}")
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        connection.execute(f"COPY ({sql}) TO '{folder}/out.csv' (HEADER)")
        best = min(best, time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--keepstate", default="target/release/keepstate")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "T.csv")
        generate(data, args.rows)
        # All of keepstate first: a child's peak counts the memory of this process at its start, and DuckDB lives in it.
        own = {name: keepstate(args.keepstate, folder, data, flink) for name, (flink, _) in QUERIES.items()}
        print("| query | seconds | rows/s | peak MB | DuckDB s |\n|---|---|---|---|---|")
        for name, (_, duck) in QUERIES.items():
            seconds, peak = own[name]
            other = duckdb_seconds(folder, data, duck)
            shown = "-" if other is None else f"{other:.2f}"
            print(f"| {name} | {seconds:.2f} | {args.rows / seconds:,.0f} | {peak / 1024:.0f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
