"""Writes parzen_values.json: Optuna's own Parzen estimators and truncated normal quantiles.

Each case holds fixed observations of one dimension and what Optuna's univariate TPESampler builds
of them by default: weights, centres, widths, and the logarithm of the density at some points.
Run with Optuna 4 and NumPy installed: python parzen_values.py
"""

import json
import pathlib

import numpy as np
import optuna
from optuna.distributions import FloatDistribution
from optuna.samplers._tpe import _truncnorm
from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator, _ParzenEstimatorParameters
from optuna.samplers._tpe.sampler import default_weights

DEFAULTS = _ParzenEstimatorParameters(
    prior_weight=1.0,
    consider_magic_clip=True,
    consider_endpoints=False,
    weights=default_weights,
    multivariate=False,
    categorical_distance_func={},
)


def case(observations, low, high):
    estimator = _ParzenEstimator(
        {"x": np.array(observations)}, {"x": FloatDistribution(low, high)}, DEFAULTS
    )
    mixture = estimator._mixture_distribution
    xs = np.concatenate([np.linspace(low, high, 9), observations[:3]])
    return {
        "low": low,
        "high": high,
        "observations": list(observations),
        "weights": mixture.weights.tolist(),
        "mus": mixture.distributions[0].mu.tolist(),
        "sigmas": mixture.distributions[0].sigma.tolist(),
        "xs": xs.tolist(),
        "log_pdf": estimator.log_pdf({"x": xs}).tolist(),
    }


def main():
    rng = np.random.default_rng(1)
    cases = [case(rng.uniform(-40, 40, n).tolist(), -40.0, 40.0) for n in (0, 1, 2, 3, 9, 24, 25, 26, 27, 60, 180)]
    cases.append(case([0.0, 10.0], 0.0, 10.0))  # both on the bounds
    cases.append(case([3.0, 3.0], 0.0, 10.0))  # equal ones: the smallest width
    cases.append(case((1.5 + 1e-3 * rng.normal(size=30)).tolist(), -1.5707963, 1.5707963))
    quantiles = []
    for a, b in [(-0.5, 0.5), (-1.0, 0.0), (0.0, 1.0), (-100.0, 0.0), (-3.0, 97.0), (-50.0, 50.0), (-0.1, 5.0)]:
        for q in [1e-12, 1e-3, 0.1, 0.37, 0.5, 0.8, 0.99, 1 - 1e-9]:
            x = _truncnorm.ppf(np.array([q]), np.array([a]), np.array([b]))[0]
            quantiles.append([q, a, b, float(x)])
    result = {"optuna": optuna.__version__, "numpy": np.__version__, "cases": cases, "quantiles": quantiles}
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(result, indent=None, separators=(",", ":")).replace("},{", "},\n{") + "\n")


main()
