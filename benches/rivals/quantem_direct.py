#!/usr/bin/env python3
"""quantem's direct ptychography on the CPU: one single-sideband reconstruction and its loss.

    pip install torch==2.7.1 torchvision==0.22.1 quantem==0.1.10      # or quantem==0.1.8
    python quantem_direct.py [ROWS COLS BF THREADS [REPETITIONS]]

The same work as one exact loss here: all BF pixels deconvolved for one set of aberrations, mean image, and the
variance or residual that the package offers (`variance_loss` in 0.1.8, `residual_loss` in 0.1.10). Counts are
random: the time does not depend on them. One JSON line: seconds of the best of the repetitions, wall clock and CPU.
"""
import json
import math
import sys
import time
from importlib.metadata import version

import numpy as np
import torch

rows, cols, bf, threads = map(int, sys.argv[1:5]) if len(sys.argv) >= 5 else (256, 256, 1000, 2)
repetitions = int(sys.argv[5]) if len(sys.argv) > 5 else 3
torch.set_num_threads(threads)
import quantem.diffractive_imaging.direct_ptychography as dp  # noqa: E402
from quantem.core.datastructures import Dataset2d, Dataset3d  # noqa: E402

radius = math.sqrt(bf / math.pi)
side = 2 * (math.ceil(radius) + 2)
y, x = np.mgrid[:side, :side]
order = np.argsort(np.hypot((y + side // 2) % side - side // 2, (x + side // 2) % side - side // 2), axis=None,
                   kind="stable")
mask = np.zeros(side * side, bool)
mask[order[:bf]] = True
mask = mask.reshape(side, side)
rng = np.random.default_rng(1)
stack = rng.integers(14, 26, (bf, rows, cols)).astype(np.float32)
stack /= stack.mean((1, 2), keepdims=True)
step = 21.4 / radius
q = dp.DirectPtychography.from_virtual_bfs(
    Dataset3d.from_array(stack, sampling=(1, 0.25, 0.25), units=("index", "A", "A")),
    Dataset2d.from_array(mask, sampling=(step, step), units=("mrad", "mrad")),
    energy=300e3, rotation_angle=0.0, semiangle_cutoff=21.4,
    aberration_coefs={"C10": 125.0, "C12": 30.0, "phi12": 0.25},
    device="cpu", verbose=0, **({"crop_bf_mask": False} if version("quantem") != "0.1.8" else {}))


def once():
    if version("quantem") == "0.1.8":
        q.reconstruct(deconvolution_kernel="ssb", max_batch_size=64, verbose=0)
        return float(q.variance_loss())
    q.reconstruct(deconvolution_kernel="ssb", verbose=False)
    return float(q.residual_loss())


wall, cpu = [], []
for _ in range(repetitions):
    t, c = time.perf_counter(), time.process_time()
    value = once()
    wall.append(time.perf_counter() - t)
    cpu.append(time.process_time() - c)
print(json.dumps({"rival": "quantem", "version": version("quantem"), "torch": torch.__version__,
                  "shape": [rows, cols], "bf_pixels": bf, "threads": threads, "wall_best": min(wall),
                  "cpu_best": min(cpu), "value": value}))
