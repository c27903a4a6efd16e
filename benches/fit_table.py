"""Guided search against TPE with Nelder-Mead on 50 simulated specimens, from cold.

Writes the table of docs/fit-table.md: for each specimen the truth, what both methods found, exact evaluations,
the loss of guided over that of TPE, and the seconds of both fits (run one after the other, alternating who is first).

    python3 benches/fit_table.py PATH_OF_SSB [--specimens N] [--threads N] > docs/fit-table.md

Needs nothing but Python 3. Specimens are those of `ssb simulate` (detector pixels integrated, Poisson noise).
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile


def recipe(number):
    """Specimen `number`: every fifth has a disk of 30 pixels and C10 up to 100 nm."""
    draw = random.Random(1000 + number)
    if number % 5 == 4:
        semiangle, disk, scan, step = 15.0, 30, (128, 128), 0.5
    else:
        semiangle = draw.choice([20.0, 25.0, 30.0])
        disk = draw.choice([12, 16, 20])
        scan = draw.choice([(64, 64), (80, 64), (72, 100), (96, 96)])
        step = {20.0: 0.4, 25.0: 0.35, 30.0: 0.3}[semiangle]
    det_step = 2 * semiangle / disk
    field = min(scan) * step
    # Å / (1e-3 rad) are 1e-1 um: in nm.
    limit = min(100.0 / det_step, 100.0 * field / (4 * semiangle))
    c12 = draw.uniform(0, limit / 3)
    c10 = draw.choice([-1, 1]) * draw.uniform(0, limit - c12)
    return {
        "object": "lattice" if number % 3 == 2 else "atoms",
        "semiangle": semiangle,
        "disk": disk,
        "scan": scan,
        "step": step,
        "det_step": det_step,
        "limit": limit,
        "dose": round(300 * (100 ** draw.random())),
        "C10": c10,
        "C12": c12,
        "phi12": draw.uniform(-math.pi / 2, math.pi / 2),
    }


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    program = sys.argv[1]
    option = lambda name, default: sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default
    specimens = int(option("--specimens", 50))
    threads = option("--threads", str(os.cpu_count()))
    print("| # | object | scan | disk px | e/pattern | limit nm | C10, C12 nm, phi12 rad | guided C10, C12, phi12 | exact, S | TPE C10, C12, phi12 | exact | loss / TPE's | S / highest | s, s | basin |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    tally = {"guided": 0, "tpe": 0, "loss": 0, "evaluations": 0}
    seconds = {"guided": 0.0, "tpe": 0.0}
    ratios = []
    for number in range(specimens):
        r = recipe(number)
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data.h5")
            side = r["disk"] * 3 // 2
            run(program, "simulate", data, "--json", "--quiet", "--object", r["object"], "--scan-shape", "%dx%d" % r["scan"],
                "--det-shape", f"{side}x{side}", "--dose-e-per-pattern", str(r["dose"]), "--seed", str(number),
                "--semiangle-mrad", str(r["semiangle"]), "--scan-step-a", str(r["step"]), "--det-step-mrad", str(r["det_step"]),
                "--aberration", f"C10={r['C10']}nm", "--aberration", f"C12={r['C12']}nm", "--aberration", f"phi12={r['phi12']}rad")
            found = {}
            for method in ("guided", "tpe") if number % 2 else ("tpe", "guided"):
                found[method] = run(
                    program, "fit", data, "-o", os.path.join(folder, method + ".h5"), "--method", method, "--json", "--quiet",
                    "--backend", "cpu", "--threads", threads, "--search", f"C10={-r['limit']}nm:{r['limit']}nm",
                    "--search", f"C12=0nm:{r['limit'] / 2}nm")
        def pair(c12, phi):
            return c12 * math.cos(2 * phi), c12 * math.sin(2 * phi)
        true = (r["C10"], *pair(r["C12"], r["phi12"]))
        there = {}
        for method, f in found.items():
            b = f["best"]
            got = (b["C10_nm"], *pair(b["C12_nm"], b["phi12_rad"]))
            there[method] = max(abs(a - t) for a, t in zip(got, true)) <= 1.0
            tally[method] += there[method]
            seconds[method] += f["seconds"]["fit"]
        ratio = found["guided"]["loss"] / found["tpe"]["loss"]
        ratios.append(ratio)
        tally["loss"] += ratio <= 1.001
        tally["evaluations"] += found["guided"]["evaluations"] <= 30
        show = lambda b: f"{b['C10_nm']:.2f}, {b['C12_nm']:.2f}, {b['phi12_rad']:.2f}"
        g, t = found["guided"], found["tpe"]
        word = {(True, True): "both", (True, False): "guided", (False, True): "TPE", (False, False): "none"}[there["guided"], there["tpe"]]
        print(f"| {number} | {r['object']} | {r['scan'][0]}x{r['scan'][1]} | {r['disk']} | {r['dose']} | {r['limit']:.1f} "
              f"| {r['C10']:.2f}, {r['C12']:.2f}, {r['phi12']:.2f} | {show(g['best'])} | {g['evaluations']}, {g['agreement_evaluations']} "
              f"| {show(t['best'])} | {t['evaluations']} | {ratio:.5f} | {g['agreement'] / g['agreement_best']['agreement']:.4f} | {g['seconds']['fit']:.2f}, {t['seconds']['fit']:.2f} | {word} |", flush=True)
    ratios.sort()
    print(f"\nWithin 1 nm of the truth in C10 and both components of C12: guided {tally['guided']} of {specimens}, "
          f"TPE with Nelder-Mead {tally['tpe']}. At most 30 exact evaluations: {tally['evaluations']}. "
          f"Loss at most 1.001 of TPE's: {tally['loss']} (median {ratios[len(ratios) // 2]:.5f}, largest {ratios[-1]:.5f}). "
          f"Seconds of all fits: {seconds['guided']:.1f} against {seconds['tpe']:.1f} ({seconds['guided'] / seconds['tpe']:.3f}), {threads} threads.")


main()
