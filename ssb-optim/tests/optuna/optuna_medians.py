"""Writes optuna_medians.json: what Optuna's univariate TPESampler reaches on standard functions.

For each function (the same as in tests/functions/mod.rs) and batch size: the best of 100 trials
for each of 100 seeds, in the order of the seeds, the quartiles of them all and of the first 20.
A batch is asked before any of it is told, constant_liar is off.
Run with Optuna 4 and NumPy installed: python optuna_medians.py
"""

import json
import math
import pathlib

import numpy as np
import optuna

TRIALS = 100
SEEDS = 100


def sphere(p):
    return sum(x * x for x in p)


def rosenbrock(p):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(p, p[1:]))


def rastrigin(p):
    return sum(10 + x * x - 10 * math.cos(2 * math.pi * x) for x in p)


def branin(p):
    x, y = p
    bent = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return bent**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def himmelblau(p):
    x, y = p
    return (x * x + y - 11) ** 2 + (x + y * y - 7) ** 2


FUNCTIONS = {
    "sphere": (sphere, [(-5.0, 10.0)] * 3),
    "rosenbrock": (rosenbrock, [(-2.0, 3.0)] * 2),
    "rastrigin": (rastrigin, [(-5.12, 3.12)] * 2),
    "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)]),
    "himmelblau": (himmelblau, [(-5.0, 5.0)] * 2),
}


def best(function, bounds, batch, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    space = {f"x{i}": optuna.distributions.FloatDistribution(*b) for i, b in enumerate(bounds)}
    while len(study.trials) < TRIALS:
        asked = [study.ask(space) for _ in range(batch)]
        for trial in asked:
            study.tell(trial, function(list(trial.params.values())))
    return study.best_value


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows = []
    for name, (function, bounds) in FUNCTIONS.items():
        for batch in (1, 2):
            values = [float(f"{best(function, bounds, batch, seed):.6g}") for seed in range(SEEDS)]
            row = {"function": name, "batch": batch, "best": values}
            row["quartiles"] = np.percentile(values, [25, 50, 75]).tolist()
            row["quartiles_20"] = np.percentile(values[:20], [25, 50, 75]).tolist()
            rows.append(row)
            print(name, batch, row["quartiles"], row["quartiles_20"], flush=True)
    result = {"optuna": optuna.__version__, "trials": TRIALS, "seeds": SEEDS, "rows": rows}
    text = json.dumps(result, separators=(",", ":")).replace("},{", "},\n{")
    pathlib.Path(__file__).with_suffix(".json").write_text(text + "\n")


main()
