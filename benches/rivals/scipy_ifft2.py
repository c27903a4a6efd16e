#!/usr/bin/env python3
"""SciPy's bare complex64 ifft2 of (BF, rows, cols): the first bar of the exact loss.

    python scipy_ifft2.py [ROWS COLS BF WORKERS]

Prints one JSON line: seconds (min, median, max of 7) into a new array and in place.
"""
import json
import sys
import time

import numpy as np
import scipy
import scipy.fft

rows, cols, bf, workers = map(int, sys.argv[1:5]) if len(sys.argv) == 5 else (256, 256, 1000, 2)
rng = np.random.default_rng(1)
a = (rng.standard_normal((bf, rows, cols), dtype=np.float32) + 1j).astype(np.complex64)


def timed(fun):
    out = []
    for _ in range(8):
        t = time.perf_counter()
        fun()
        out.append(time.perf_counter() - t)
    out = sorted(out[1:])
    return [out[0], out[len(out) // 2], out[-1]]


new = timed(lambda: scipy.fft.ifft2(a, workers=workers))
inplace = timed(lambda: scipy.fft.ifft2(a, workers=workers, overwrite_x=True))
print(json.dumps({"rival": "scipy.fft.ifft2", "scipy": scipy.__version__, "shape": [bf, rows, cols],
                  "workers": workers, "new_array_seconds_min_median_max": new,
                  "in_place_seconds_min_median_max": inplace}))
