#!/usr/bin/env python3
"""Times `keepstate run` over generated rows, beside DuckDB (pip install duckdb) and Flink (Java 11 or 17, and Flink's jars).

    cargo build --release && python3 benches/run/compare.py [ROWS] [--keepstate target/release/keepstate] [--flink DIR]

Prints one line a query: seconds (the best of three), rows per second, peak memory, DuckDB's seconds with two threads, and Flink's
seconds on its local cluster with parallelism 1. In brackets are the seconds of all cores together, which depend less on what else
the machine does. Rows are read from CSV files and written to CSV on every side. A side that is not there shows "-".

DIR is a Flink distribution or any folder with its jars below it. If it is empty, the jars are fetched into it once, as the package
apache-flink-libraries by way of pip (240 MB). FlinkRun.java, next to this file, runs each query four times as jobs of one JVM; the
best of the last three counts, and neither the start of the JVM nor that of the cluster is in it.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

COLUMNS = "k INT, v BIGINT, d DOUBLE, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
DDL = f"""SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE T ({COLUMNS})
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
        "SELECT k, v, d, s, ts, window_start, window_end, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS rn FROM"
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
    seconds, cores, peak = [], [], 0
    for _ in range(3):
        begin = time.perf_counter()
        with open(os.devnull, "w") as sink:
            child = subprocess.Popen(command, stdout=sink)
            _, status, usage = os.wait4(child.pid, 0)
        seconds.append(time.perf_counter() - begin)
        cores.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss)
        if status != 0:
            sys.exit(f"keepstate failed on: {query}")
    return (min(seconds), min(cores)), peak


def duckdb_seconds(folder, data, query):
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    table = f"(SELECT * FROM read_csv('{data}', header = true)) AS T"
    sql = query.replace("FROM T", f"FROM {table}")
    seconds, cores = [], []
    for _ in range(3):
        begin, begin_cores = time.perf_counter(), time.process_time()
        connection.execute(f"COPY ({sql}) TO '{folder}/out.csv' (HEADER)")
        seconds.append(time.perf_counter() - begin)
        cores.append(time.process_time() - begin_cores)
    return min(seconds), min(cores)


FLINK_VERSION = "1.20.5"


def flink_class_path(home):
    """The class path of Flink below `home`, with FlinkRun compiled; None where something is missing."""
    if home is None or not (shutil.which("java") and shutil.which("javac")):
        return None
    find = lambda: glob.glob(os.path.join(home, "**", "*.jar"), recursive=True)
    if not find():
        os.makedirs(home, exist_ok=True)
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", home]
        subprocess.run([*download, f"apache-flink-libraries=={FLINK_VERSION}"], check=True)
        for archive in glob.glob(os.path.join(home, "*.tar.gz")):
            with tarfile.open(archive) as tar:
                tar.extractall(home, filter="data")
            os.remove(archive)
    # The planner comes loaded by a jar of its own; others than those in lib are optional parts, which would get into its way.
    jars = [jar for jar in find() if os.path.basename(os.path.dirname(jar)) == "lib"]
    classes = os.path.join(home, "keepstate-bench")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "FlinkRun.java")
    subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", os.pathsep.join(jars), source], check=True)
    return os.pathsep.join([classes, *jars])


def flink_seconds(class_path, folder, data, query):
    if class_path is None:
        return None
    table = os.path.join(folder, "table.sql")
    script = os.path.join(folder, "query.sql")
    with open(table, "w") as out:
        out.write(f"CREATE TABLE T ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{data}', 'format' = 'csv')")
    with open(script, "w") as out:
        out.write(query)
    # What Flink reaches into, as its own start scripts open it.
    packages = ["lang", "net", "io", "nio", "lang.reflect", "text", "time", "util", "util.concurrent", "util.concurrent.atomic"]
    opens = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in [*packages, "util.concurrent.locks"]]
    results = os.path.join(folder, "flink")
    command = ["java", "-Xmx3g", *opens, "-cp", class_path, "FlinkRun", "4", results, table, script]
    child = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    shutil.rmtree(results, ignore_errors=True)
    if child.returncode != 0:
        sys.exit(f"Flink failed on: {query}\n{child.stderr}")
    return tuple(map(min, zip(*(map(float, line.split()) for line in child.stdout.splitlines()[-3:]))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--keepstate", default="target/release/keepstate")
    parser.add_argument("--flink", metavar="DIR", help="where Flink's jars are, or are to be put")
    args = parser.parse_args()
    class_path = flink_class_path(args.flink)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "T.csv")
        generate(data, args.rows)
        # Flink's CSV knows no header line.
        plain = os.path.join(folder, "plain.csv")
        with open(data, "rb") as rows, open(plain, "wb") as out:
            rows.readline()
            shutil.copyfileobj(rows, out)
        # All of keepstate first: a child's peak counts the memory of this process at its start, and DuckDB lives in it.
        own = {name: keepstate(args.keepstate, folder, data, flink) for name, (flink, _) in QUERIES.items()}
        print("| query | seconds (cores) | rows/s | peak MB | DuckDB | Flink |\n|---|---|---|---|---|---|")
        for name, (flink, duck) in QUERIES.items():
            times, peak = own[name]
            sides = [times, duckdb_seconds(folder, data, duck), flink_seconds(class_path, folder, plain, flink)]
            mine, other, real = ("-" if side is None else f"{side[0]:.2f} ({side[1]:.2f})" for side in sides)
            rate = f"{args.rows / times[0]:,.0f}"
            print(f"| {name} | {mine} | {rate} | {peak / 1024:.0f} | {other} | {real} |", flush=True)


if __name__ == "__main__":
    main()
