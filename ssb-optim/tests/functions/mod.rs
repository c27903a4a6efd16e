//! Standard functions, the same as in `optuna/optuna_medians.py`, with their spaces.

// Each test program uses a part of it.
#![allow(dead_code)]

use std::f64::consts::PI;

use ssb_optim::{Dim, OptimError, Score, Space, Study, sampler};

/// A function to minimise, its bounds and its minima.
pub struct Function {
    pub name: &'static str,
    pub value: fn(&[f64]) -> f64,
    pub bounds: &'static [(f64, f64)],
    pub minima: &'static [&'static [f64]],
}

impl Function {
    pub fn space(&self) -> Space {
        let dims = self.bounds.iter().enumerate();
        Space::new(
            dims.map(|(i, &(low, high))| Dim::new(format!("x{i}"), low, high))
                .collect(),
        )
        .unwrap()
    }

    /// The study after `trials` trials asked in batches.
    pub fn run(&self, method: &str, trials: usize, batch: usize, seed: u64) -> Study {
        let mut study = Study::new(self.space(), sampler(method).unwrap(), trials, seed);
        loop {
            let asked = study.ask(batch);
            if asked.is_empty() {
                return study;
            }
            study
                .settle(&asked, |points| Ok::<_, OptimError>(self.scores(points)))
                .unwrap();
        }
    }

    pub fn scores(&self, points: &[Vec<f64>]) -> Vec<Score> {
        points
            .iter()
            .map(|point| Score::new((self.value)(point)))
            .collect()
    }

    /// Best value for each seed from 0.
    pub fn best_values(&self, method: &str, trials: usize, batch: usize, seeds: u64) -> Vec<f64> {
        let best = |seed| {
            let study = self.run(method, trials, batch, seed);
            study.best().unwrap().score.unwrap().value
        };
        (0..seeds).map(best).collect()
    }
}

pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

pub fn sphere(p: &[f64]) -> f64 {
    p.iter().map(|x| x * x).sum()
}

pub fn rosenbrock(p: &[f64]) -> f64 {
    p.windows(2)
        .map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2))
        .sum()
}

pub fn rastrigin(p: &[f64]) -> f64 {
    p.iter()
        .map(|x| 10.0 + x * x - 10.0 * (2.0 * PI * x).cos())
        .sum()
}

pub fn branin(p: &[f64]) -> f64 {
    let (x, y) = (p[0], p[1]);
    let bent = y - 5.1 / (4.0 * PI * PI) * x * x + 5.0 / PI * x - 6.0;
    bent * bent + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x.cos() + 10.0
}

pub fn himmelblau(p: &[f64]) -> f64 {
    let (x, y) = (p[0], p[1]);
    (x * x + y - 11.0).powi(2) + (x + y * y - 7.0).powi(2)
}

pub static FUNCTIONS: &[Function] = &[
    Function {
        name: "sphere",
        value: sphere,
        bounds: &[(-5.0, 10.0), (-5.0, 10.0), (-5.0, 10.0)],
        minima: &[&[0.0, 0.0, 0.0]],
    },
    Function {
        name: "rosenbrock",
        value: rosenbrock,
        bounds: &[(-2.0, 3.0), (-2.0, 3.0)],
        minima: &[&[1.0, 1.0]],
    },
    Function {
        name: "rastrigin",
        value: rastrigin,
        bounds: &[(-5.12, 3.12), (-5.12, 3.12)],
        minima: &[&[0.0, 0.0]],
    },
    Function {
        name: "branin",
        value: branin,
        bounds: &[(-5.0, 10.0), (0.0, 15.0)],
        minima: &[&[-PI, 12.275], &[PI, 2.275], &[9.424_777_960_769_38, 2.475]],
    },
    Function {
        name: "himmelblau",
        value: himmelblau,
        bounds: &[(-5.0, 5.0), (-5.0, 5.0)],
        minima: &[
            &[3.0, 2.0],
            &[-2.805_118_086_952_745, 3.131_312_518_250_573],
            &[-3.779_310_253_377_747, -3.283_185_991_286_17],
            &[3.584_428_340_330_492, -1.848_126_526_964_404],
        ],
    },
];
