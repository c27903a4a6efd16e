//! TPE against Optuna 4's univariate TPESampler: same functions, budget, batches and seed counts.
//!
//! Optuna's values are in optuna/optuna_medians.json, written by the script beside it.

#![allow(clippy::unwrap_used)]

use serde_json::Value;

mod functions;
use functions::FUNCTIONS;

/// One function and batch size: Optuna's row, and our best value for each seed.
struct Row {
    what: String,
    optuna: Value,
    ours: Vec<f64>,
}

impl Row {
    fn numbers(&self, key: &str) -> Vec<f64> {
        self.optuna[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect()
    }
}

fn rows(seeds: u64) -> Vec<Row> {
    let fixture: Value = serde_json::from_str(include_str!("optuna/optuna_medians.json")).unwrap();
    assert!(fixture["optuna"].as_str().unwrap().starts_with("4."));
    assert_eq!(
        (&fixture["trials"], &fixture["seeds"]),
        (&100.into(), &100.into())
    );
    let rows = fixture["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * FUNCTIONS.len());
    let row = |optuna: &Value| {
        let name = optuna["function"].as_str().unwrap();
        let batch = optuna["batch"].as_u64().unwrap() as usize;
        let function = FUNCTIONS.iter().find(|f| f.name == name).unwrap();
        Row {
            what: format!("{name}, batch {batch}"),
            optuna: optuna.clone(),
            ours: function.best_values("tpe", 100, batch, seeds),
        }
    };
    rows.iter().map(row).collect()
}

/// The median of our 20 seeds lies between the 20 % and 80 % quantiles of Optuna's 100.
///
/// From one distribution, 10 or more of 20 values lie below its 20 % quantile with a probability of
/// 0.26 %: 0.5 % for both sides, 5 % for the ten comparisons.
#[test]
fn medians_of_20_seeds_agree_with_optuna() {
    let mut failures = Vec::new();
    for row in rows(20) {
        let median = functions::median(&row.ours);
        let of_20 = row.numbers("quartiles_20")[1];
        let mut optuna = row.numbers("best");
        optuna.sort_by(f64::total_cmp);
        let (low, high) = (optuna[20], optuna[79]);
        let line = format!(
            "{}: median of 20 seeds {median:.4}, Optuna's {of_20:.4}, its band {low:.4} to {high:.4}",
            row.what
        );
        println!("{line}");
        if !(low..=high).contains(&median) {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Over 100 seeds each, neither code ranks above the other (Mann and Whitney's rank sum).
///
/// |z| below 2.81 for each of ten comparisons is a level of 5 % for all of them.
#[test]
fn best_values_of_100_seeds_rank_like_optunas() {
    let mut failures = Vec::new();
    for row in rows(100) {
        let optuna = row.numbers("best");
        let (n, m) = (row.ours.len() as f64, optuna.len() as f64);
        // How often ours is the larger of a pair.
        let larger: usize = row
            .ours
            .iter()
            .map(|x| optuna.iter().filter(|y| x > *y).count())
            .sum();
        let z = (larger as f64 - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt();
        let (ours, theirs) = (functions::median(&row.ours), functions::median(&optuna));
        let line = format!("{}: z {z:+.2}, medians {ours:.4} and {theirs:.4}", row.what);
        println!("{line}");
        if z.abs() >= 2.81 {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn tpe_beats_random_search() {
    for function in FUNCTIONS {
        let [tpe, random] = ["tpe", "random"]
            .map(|method| functions::median(&function.best_values(method, 100, 2, 20)));
        assert!(
            tpe < random,
            "{}: tpe {tpe}, random {random}",
            function.name
        );
    }
}
