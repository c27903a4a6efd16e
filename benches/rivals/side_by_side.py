#!/usr/bin/env python3
"""The CPU backend and SciPy's bare ifft2, in turn, in the same minutes, on the same number of threads.

    cargo build --release --package ssb-benches
    python side_by_side.py [--shape 256x256:1000 ...] [--threads 1,2] [--rounds 15] [--program PATH]

SciPy: complex64, in place (`overwrite_x=True`), `workers` = threads, shape (BF, rows, cols). Every round runs
each kind of evaluation once and SciPy once. One JSON line per shape and thread count: medians of wall
clock and of CPU time (user and system, of the whole process; on a shared machine the CPU time is less
disturbed), minima, and the ratios of medians.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy
import scipy.fft

WORK = ["loss", "pair", "every-term", "thick", "mean-phase", "object", "agreement"]


def cpu_clock(pid):
    """The CPU-time clock of another process (Linux)."""
    return (~pid << 3) | 2


def measure(program, shape, bf, threads, rounds, work):
    rows, cols = shape
    child = subprocess.Popen([program, str(rows), str(cols), str(bf), str(threads)], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    about = json.loads(child.stdout.readline())
    rng = np.random.default_rng(1)
    planes = (rng.standard_normal((bf, rows, cols), dtype=np.float32) + 1j).astype(np.complex64)
    wall = {name: [] for name in work + ["scipy"]}
    cpu = {name: [] for name in work + ["scipy"]}
    for turn in range(rounds + 1):
        for name in work:
            before = time.clock_gettime(cpu_clock(child.pid))
            child.stdin.write(name + "\n")
            child.stdin.flush()
            seconds = float(child.stdout.readline())
            if turn:
                wall[name].append(seconds)
                cpu[name].append(time.clock_gettime(cpu_clock(child.pid)) - before)
        t, c = time.perf_counter(), time.process_time()
        out = scipy.fft.ifft2(planes, workers=threads, overwrite_x=True)
        if turn:
            wall["scipy"].append(time.perf_counter() - t)
            cpu["scipy"].append(time.process_time() - c)
        # The scale would shrink to denormals, which are slow.
        planes = out
        planes *= np.float32(rows * cols)
        np.clip(planes.view(np.float32), -1e3, 1e3, out=planes.view(np.float32))
    child.stdin.close()
    child.wait()
    median = statistics.median
    return {
        "shape": [rows, cols], "bf_pixels": bf, "threads": threads, "rounds": rounds,
        "cpu": platform.processor() or platform.machine(), "scipy": scipy.__version__, "numpy": np.__version__,
        "load_average": os.getloadavg()[0], "about": about,
        "wall_median": {k: median(v) for k, v in wall.items()},
        "wall_min": {k: min(v) for k, v in wall.items()},
        "cpu_median": {k: median(v) for k, v in cpu.items()},
        "wall_over_scipy": {k: median(wall[k]) / median(wall["scipy"]) for k in work},
        "cpu_over_scipy": {k: median(cpu[k]) / median(cpu["scipy"]) for k in work},
        "wall_over_loss": {k: median(wall[k]) / median(wall["loss"]) for k in work},
        "cpu_over_loss": {k: median(cpu[k]) / median(cpu["loss"]) for k in work},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", action="append")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--work", default=",".join(WORK))
    parser.add_argument("--program", default="target/release/on_request")
    a = parser.parse_args()
    for text in a.shape or ["256x256:1000"]:
        shape, bf = text.split(":")
        for threads in map(int, a.threads.split(",")):
            result = measure(a.program, tuple(map(int, shape.split("x"))), int(bf), threads, a.rounds,
                             a.work.split(","))
            print(json.dumps(result))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
