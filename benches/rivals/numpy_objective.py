#!/usr/bin/env python3
"""The plain NumPy complex64 objective: what a careful script does for one exact loss and mean phase.

    python numpy_objective.py [ROWS COLS BF]

One JSON line: seconds of the best of three (NumPy runs these on one thread).
"""
import json
import math
import sys
import time

import numpy as np

rows, cols, bf = map(int, sys.argv[1:4]) if len(sys.argv) == 4 else (256, 256, 1000)
wavelength_a, semiangle_rad, scan_step_a = 0.019687489, 21.4e-3, 0.25
radius = math.sqrt(bf / math.pi)
step_rad = semiangle_rad / radius
side = math.ceil(radius) + 2
y, x = np.mgrid[-side:side + 1, -side:side + 1]
order = np.argsort(np.hypot(y + 0.3, x - 0.2), axis=None)[:bf]
k = np.stack([(y.ravel()[order] + 0.3), (x.ravel()[order] - 0.2)]) * step_rad / wavelength_a
rng = np.random.default_rng(1)
counts = rng.integers(14, 26, (bf, rows, cols), dtype=np.uint8)
g = np.fft.fft2(counts).astype(np.complex64)
dc = np.complex64(g[:, 0, 0].mean())
q_row = np.fft.fftfreq(rows, scan_step_a).astype(np.float32)[:, None]
q_col = np.fft.fftfreq(cols, scan_step_a).astype(np.float32)[None, :]
c10_a, c12_a, phi12 = 125.0, 30.0, 0.25


def probe(u_row, u_col):
    u2 = u_row * u_row + u_col * u_col
    alpha = wavelength_a * np.sqrt(u2)
    aperture = np.clip((semiangle_rad - alpha) / step_rad + 0.5, 0, 1)
    c, s = c12_a * math.cos(2 * phi12), c12_a * math.sin(2 * phi12)
    chi = np.float32(math.pi * wavelength_a) * (
        c10_a * u2 + c * (u_row * u_row - u_col * u_col) + 2 * s * u_row * u_col)
    return aperture * np.exp(-1j * chi)


def once():
    mean, squares = np.zeros((rows, cols)), 0.0
    for b in range(bf):
        kr, kc = np.float32(k[0, b]), np.float32(k[1, b])
        p = probe(np.full((1, 1), kr), np.full((1, 1), kc)).astype(np.complex64)[0, 0]
        gamma = probe(kr - q_row, kc - q_col) * np.conj(p) - np.conj(probe(kr + q_row, kc + q_col)) * p
        c = g[b] * np.conj(gamma) / np.maximum(np.abs(gamma), 1e-8)
        c[0, 0] = dc
        phase = np.angle(np.fft.ifft2(c))
        mean += phase
        squares += float((phase * phase).mean())
    mean /= bf
    return squares / bf - float((mean * mean).mean())


wall = []
for _ in range(3):
    t = time.perf_counter()
    loss = once()
    wall.append(time.perf_counter() - t)
print(json.dumps({"rival": "numpy", "version": np.__version__, "shape": [rows, cols], "bf_pixels": bf,
                  "wall_best": min(wall), "loss": loss}))
