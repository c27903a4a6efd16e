#!/usr/bin/env python3
"""h5py with hdf5plugin reading bitshuffle-LZ4 counts: the rival of opening and decoding.

    python h5py_bitshuffle.py make DIR         write low.h5 and high.h5, 100 MB of uint16 each
    python h5py_bitshuffle.py time FILE [RUNS]  one JSON line: seconds (min, median, max) of opening
                                               and reading /entry/data/data in one process and in two

Needs numpy, h5py and hdf5plugin. The files hold Poisson counts in a disk, one frame of 192 x 192 a
chunk: 0.4 (low) and 30 (high) counts a pixel.
"""
import json
import multiprocessing
import sys
import time
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np

FRAMES, SIDE = 1422, 192
DATASET = "/entry/data/data"


def make(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    row, col = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    disk = np.hypot(row, col) < SIDE / 3
    for name, rate in [("low", 0.4), ("high", 30.0)]:
        with h5py.File(folder / f"{name}.h5", "w") as f:
            data = f.create_dataset(DATASET, (FRAMES, SIDE, SIDE), "<u2", chunks=(1, SIDE, SIDE),
                                    **hdf5plugin.Bitshuffle(cname="lz4"))
            data.attrs["scan_shape"] = [1, FRAMES]
            for i in range(FRAMES):
                data[i] = rng.poisson(np.where(disk, rate, rate / 100)).astype("<u2")
        print(folder / f"{name}.h5", (folder / f"{name}.h5").stat().st_size)


def read(path, part, parts):
    with h5py.File(path, "r") as f:
        data = f[DATASET]
        n = data.shape[0]
        return data[n * part // parts:n * (part + 1) // parts].nbytes


def worker(path, part, parts, start, done):
    while start.get():
        read(path, part, parts)
        done.put(part)


def spread(seconds):
    seconds = sorted(seconds[1:])
    return [seconds[0], seconds[len(seconds) // 2], seconds[-1]]


def timed(path, runs):
    one, two = [], []
    starts = [multiprocessing.Queue() for _ in range(2)]
    done = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=worker, args=(path, p, 2, starts[p], done))
               for p in range(2)]
    for w in workers:
        w.start()
    for _ in range(runs + 1):
        t = time.perf_counter()
        read(path, 0, 1)
        one.append(time.perf_counter() - t)
        t = time.perf_counter()
        for s in starts:
            s.put(True)
        for _ in workers:
            done.get()
        two.append(time.perf_counter() - t)
    for s, w in zip(starts, workers):
        s.put(False)
        w.join()
    print(json.dumps({"rival": "h5py + hdf5plugin", "h5py": h5py.__version__,
                      "hdf5plugin": hdf5plugin.version, "file": str(path),
                      "one_process_seconds_min_median_max": spread(one),
                      "two_processes_seconds_min_median_max": spread(two)}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["time"] and len(sys.argv) in (3, 4):
        timed(sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 7)
    else:
        sys.exit(__doc__)
