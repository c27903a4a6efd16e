//! dev
use ndarray::Array2;
use ssb_core::*;
fn rnd(s: &mut u64) -> f64 {
    *s = s
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    ((*s >> 11) as f64) / (1u64 << 53) as f64
}
fn problem(rows: usize, cols: usize, det: [f64; 2], rot: f64) -> Problem {
    let mut s = 42u64;
    let n = 14;
    let disk = BfDisk {
        center_px: [6.3, 6.8],
        radius_px: 6.0,
        pixels: (0..n)
            .flat_map(|r| (0..n).map(move |c| [r as u32, c as u32]))
            .filter(|p| ((p[0] as f64 - 6.3).powi(2) + (p[1] as f64 - 6.8).powi(2)) < 36.0)
            .collect(),
    };
    let src = |v: f64| Sourced::new(v, "argument");
    let cal = Calibration {
        voltage_kv: src(300.0),
        semiangle_mrad: src(25.0),
        scan_step_a: Sourced::new([0.3, 0.35], "argument"),
        det_step_mrad: Sourced::new(det, "argument"),
        rotation_deg: src(rot),
    };
    let g = Geometry::new(&cal, [rows, cols], &disk).unwrap();
    let cols_a = Array2::from_shape_fn((g.bf_pixels(), rows * cols), |(b, i)| {
        let (r, c) = (i / cols, i % cols);
        (200.0
            + 30.0 * ((r as f64 * 0.9 + b as f64).sin() + (c as f64 * 0.7 - b as f64 * 0.3).cos())
            + 40.0 * rnd(&mut s)) as u16
    });
    Problem::new(
        g,
        Evidence::new([rows, cols], Columns::U16(cols_a)).unwrap(),
    )
    .unwrap()
}
#[test]
fn quick() {
    let c = Control::default();
    for (rows, cols, det, rot) in [
        (31, 37, [4.5, 4.5], 0.0),
        (64, 64, [4.5, 4.5], 0.0),
        (60, 75, [4.5, 4.2], 27.0),
        (32, 31, [4.5, 4.5], 10.0),
        (31, 32, [4.5, 4.6], -40.0),
        (96, 96, [4.5, 4.5], 3.0),
    ] {
        let p = problem(rows, cols, det, rot);
        let mut o =
            (ssb_cpu_oracle::ORACLE.prepare)(p.clone(), &PrepareOptions::default(), &c).unwrap();
        let mut f = (ssb_cpu::CPU.prepare)(p, &PrepareOptions::default(), &c).unwrap();
        println!(
            "{rows}x{cols} active {} of {}",
            f.info().bf_active,
            f.info().bf_pixels
        );
        for json in [
            "{}",
            r#"{"C12_nm":50}"#,
            r#"{"C10_nm":15,"C12_nm":6,"phi12_rad":0.5}"#,
            r#"{"C10_nm":15,"C12_nm":6,"phi12_rad":0.5,"C21_nm":200,"phi21_rad":0.7,"C30_nm":2000,"C56_nm":664768,"phi56_rad":0.2}"#,
            r#"{"C10_nm":15,"C12_nm":6,"phi12_rad":0.5,"tilt_mrad":[3,-4],"depth_spread_nm":12}"#,
            r#"{"C10_nm":400,"rotation_deg":33}"#,
            r#"{"C10_nm":10,"C21_nm":200,"depth_spread_nm":12}"#,
        ] {
            let cand: Candidate = serde_json::from_str(json).unwrap();
            let a = o.mean_phase(&cand, &c).unwrap();
            let b = f.mean_phase(&cand, &c).unwrap();
            let mut d: Vec<f64> = a
                .phase_rad
                .iter()
                .zip(&b.phase_rad)
                .map(|(x, y)| (x - y).abs())
                .collect();
            d.sort_by(f64::total_cmp);
            let oa = o.object(&cand, 1, &c).unwrap();
            let ob = f.object(&cand, 1, &c).unwrap();
            let num: f64 = oa.iter().zip(&ob).map(|(x, y)| (x - y).norm_sqr()).sum();
            let den: f64 = oa.iter().map(|x| x.norm_sqr()).sum();
            let oa2 = o.object(&cand, 2, &c).unwrap();
            let ob2 = f.object(&cand, 2, &c).unwrap();
            let num2: f64 = oa2.iter().zip(&ob2).map(|(x, y)| (x - y).norm_sqr()).sum();
            let den2: f64 = oa2.iter().map(|x| x.norm_sqr()).sum();
            let sa = o.agreements(&[cand.clone()], &c).unwrap()[0];
            let sb = f.agreements(&[cand], &c).unwrap()[0];
            println!(
                "  loss {:.3e} rel {:+.1e} deg {:.5} {:+.1e} | phase p999 {:.1e} max {:.1e} | obj {:.1e} x2 {:.1e} | S rel {:.1e}  {json}",
                a.evaluation.loss,
                b.evaluation.loss / a.evaluation.loss - 1.0,
                a.evaluation.degenerate_fraction,
                b.evaluation.degenerate_fraction - a.evaluation.degenerate_fraction,
                d[d.len() * 999 / 1000],
                d[d.len() - 1],
                (num / den).sqrt(),
                (num2 / den2).sqrt(),
                sb / sa - 1.0
            );
        }
    }
}
