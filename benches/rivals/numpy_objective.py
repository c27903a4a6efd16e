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
import scipy.fft

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
g = scipy.fft.fft2(counts.astype(np.float32), overwrite_x=True)
dc = np.complex64(g[:, 0, 0].mean())
q_row = np.fft.fftfreq(rows, scan_step_a).astype(np.float32)[:, None]
q_col = np.fft.fftfreq(cols, scan_step_a).astype(np.float32)[None, :]
c10_a, c12_a, phi12 = 125.0, 30.0, 0.25


f = np.float32


def probe(u_row, u_col):
    """P(u) in complex64: every array stays in single precision."""
    u2 = u_row * u_row + u_col * u_col
    aperture = np.clip((f(semiangle_rad) - f(wavelength_a) * np.sqrt(u2)) / f(step_rad) + f(0.5), f(0), f(1))
    c, s = f(c12_a * math.cos(2 * phi12)), f(c12_a * math.sin(2 * phi12))
    chi = f(math.pi * wavelength_a) * (f(c10_a) * u2 + c * (u_row * u_row - u_col * u_col) + f(2) * s * u_row * u_col)
    out = np.empty(u2.shape, np.complex64)
    out.real = aperture * np.cos(chi)
    out.imag = -aperture * np.sin(chi)
    return out


def once():
    mean, squares = np.zeros((rows, cols)), 0.0
    for b in range(bf):
        kr, kc = np.float32(k[0, b]), np.float32(k[1, b])
        p = probe(np.full((1, 1), kr), np.full((1, 1), kc))[0, 0]
        gamma = probe(kr - q_row, kc - q_col) * np.conj(p) - np.conj(probe(kr + q_row, kc + q_col)) * p
        c = g[b] * np.conj(gamma) / np.maximum(np.abs(gamma), f(1e-8))
        c[0, 0] = dc
        phase = np.angle(scipy.fft.ifft2(c, overwrite_x=True))
        mean += phase
        squares += float((phase * phase).mean())
    mean /= bf
    return squares / bf - float((mean * mean).mean())


wall, cpu = [], []
for _ in range(3):
    t, c = time.perf_counter(), time.process_time()
    loss = once()
    wall.append(time.perf_counter() - t)
    cpu.append(time.process_time() - c)
print(json.dumps({"rival": "numpy", "version": np.__version__, "shape": [rows, cols], "bf_pixels": bf,
                  "wall_best": min(wall), "cpu_best": min(cpu), "loss": loss}))
