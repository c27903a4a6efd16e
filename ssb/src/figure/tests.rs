//! Whole figures: every shape and kind of data is drawn, and what is wrong is refused.

use super::*;
use ndarray::Array2;

fn trial(loss: f64, method: &str, degenerate: bool) -> Trial {
    Trial {
        loss,
        method: method.into(),
        degenerate,
        c10_c12_nm: Some([loss * 10.0, 3.0]),
    }
}

fn search(count: usize) -> Search {
    let trials = (0..count)
        .map(|i| match i {
            0 => trial(0.2, "start", false),
            _ => trial(
                0.2 / (i as f64 + 1.0),
                ["tpe", "nelder-mead", "own"][i % 3],
                i % 11 == 5,
            ),
        })
        .collect();
    Search {
        trials,
        best: count - 1,
    }
}

fn data(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f32) -> FigureData {
    let counts = Array2::from_shape_fn((24, 30), |(r, c)| {
        if (r as f32 - 11.5).hypot(c as f32 - 14.0) < 7.0 {
            9.0
        } else {
            0.2
        }
    });
    let row = |name: &str, angle_rad| AberrationRow {
        name: name.into(),
        value_nm: -12.5,
        angle_rad,
        state: TermState::Fitted,
        angle_state: None,
        range_nm: Some([-40.0, 40.0]),
        truth_nm: Some(-12.0),
        truth_angle_rad: angle_rad,
    };
    FigureData {
        title: "scan".into(),
        subtitle: "cpu".into(),
        phase: Array2::from_shape_fn((rows, cols), |(r, c)| value(r, c)),
        phase_kind: PhaseKind::OfMeanObject,
        pixel_step_a: [0.4, 0.31],
        semiangle_per_a: 0.6,
        amplitude: None,
        pattern: MeanPattern {
            counts,
            masked: vec![[0, 0], [11, 14]],
            bf_center_px: [11.5, 14.0],
            bf_radius_px: 7.0,
            bf_pixels: 153,
            bf_active: 140,
            det_step_mrad: [2.0, 2.5],
        },
        search: Some(search(40)),
        aberrations: vec![row("C10", None), row("C12", Some(0.4))],
        facts: vec![("beam".into(), "300 kV".into())],
        warnings: vec!["the rotation is unknown".into()],
        display: Display::default(),
    }
}

fn texture(row: usize, col: usize) -> f32 {
    ((row * 7 + col * 5) % 13) as f32 * 0.02 - 0.1
}

/// True when some pixel below the headline is not paper.
fn has_ink(image: &RgbImage) -> bool {
    image.pixels.len() == image.width * image.height * 3
        && image.pixels.chunks(3).any(|pixel| pixel != [255; 3])
}

#[test]
fn figures_of_every_shape_are_drawn() {
    let shapes = [
        (8, 8),
        (31, 37),
        (1, 1),
        (1, 40),
        (300, 3),
        (3, 1200),
        (128, 128),
    ];
    for (rows, cols) in shapes {
        for amplitude in [false, true] {
            let mut data = data(rows, cols, texture);
            data.amplitude = amplitude.then(|| data.phase.clone());
            data.display.log_pattern = amplitude;
            let image = render_figure(&data).unwrap();
            assert_eq!(image.width, 1800);
            assert!(
                (600..1700).contains(&image.height),
                "{rows} x {cols}: {}",
                image.height
            );
            assert!(has_ink(&image));
            for panel in Panel::ALL {
                match render_panel(&data, panel) {
                    Ok(image) => assert!(has_ink(&image), "{panel} {rows} x {cols}"),
                    Err(FigureError::Unavailable {
                        panel: Panel::Amplitude,
                        ..
                    }) => {
                        assert!(!amplitude);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

#[test]
fn figures_of_degenerate_content_are_drawn() {
    for constant in [0.0f32, 0.3, -1e-30, 1e30] {
        render_figure(&data(16, 16, |_, _| constant)).unwrap();
    }
    let mut data = data(16, 16, texture);
    data.pattern.counts.fill(0.0);
    data.display.log_pattern = true;
    render_figure(&data).unwrap();
    data.pattern.masked = (0..24)
        .flat_map(|row| (0..30).map(move |col| [row, col]))
        .collect();
    data.pattern.counts.fill(f32::NAN);
    render_figure(&data).unwrap();
    data.pattern.bf_radius_px = 500.0;
    data.pattern.bf_center_px = [-80.0, 1e6];
    render_figure(&data).unwrap();
    for count in [1, 2, 3, 5000] {
        data.search = Some(search(count));
        render_figure(&data).unwrap();
    }
    for loss in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e-300, 1e300] {
        data.search = Some(Search {
            trials: vec![trial(loss, "start", false); 3],
            best: 1,
        });
        render_figure(&data).unwrap();
    }
    data.search = Some(Search {
        trials: vec![trial(0.1, "start", true); 3],
        best: 1,
    });
    render_figure(&data).unwrap();
}

#[test]
fn long_texts_wrap_inside_the_figure() {
    let mut data = data(16, 16, texture);
    let heights: Vec<usize> = [1, 60]
        .map(|count| {
            data.title = "a_name_without_any_space_".repeat(count);
            data.warnings = vec!["a warning of some length".repeat(count); 3];
            data.facts = vec![("name".repeat(count), "value ".repeat(count)); 9];
            let image = render_figure(&data).unwrap();
            let paper = |row: usize, col: usize| image.pixel(row, col) == Some([255; 3]);
            // margins stay free: nothing runs over an edge
            for row in 0..image.height {
                assert!((0..30).all(|col| paper(row, col)), "left margin, row {row}");
                assert!(
                    (1775..1800).all(|col| paper(row, col)),
                    "right margin, row {row}"
                );
            }
            for row in (0..10).chain(image.height - 10..image.height) {
                assert!((0..1800).all(|col| paper(row, col)), "row {row}");
            }
            image.height
        })
        .into();
    assert!(heights[1] > heights[0]);
}

#[test]
fn panels_are_found_by_name() {
    for panel in Panel::ALL {
        assert_eq!(panel.name().parse::<Panel>().unwrap(), panel);
    }
    let message = "fft".parse::<Panel>().unwrap_err().to_string();
    assert!(
        message.contains("\"fft\"") && message.contains("spectrum"),
        "{message}"
    );
}

#[test]
fn a_figure_without_search_says_so_and_offers_no_scatter() {
    let mut data = data(16, 16, texture);
    data.search = None;
    let unsearched = render_panel(&data, Panel::Loss).unwrap();
    assert!(unsearched.height < 200 && has_ink(&unsearched));
    assert!(matches!(
        render_panel(&data, Panel::Scatter),
        Err(FigureError::Unavailable {
            panel: Panel::Scatter,
            ..
        })
    ));
    render_figure(&data).unwrap();
}

#[test]
fn wrong_data_are_refused() {
    type Spoil = fn(&mut FigureData);
    let spoils: [(&str, Spoil); 10] = [
        ("phase holds 1 values", |d| d.phase[(3, 4)] = f32::NAN),
        ("amplitude has shape 0 x 5", |d| {
            d.amplitude = Some(Array2::zeros((0, 5)))
        }),
        ("mean pattern holds 1 values", |d| {
            d.pattern.counts[(5, 5)] = f32::INFINITY
        }),
        ("masked pixel (row 24, col 0)", |d| {
            d.pattern.masked.push([24, 0])
        }),
        ("pixel step along columns", |d| d.pixel_step_a[1] = 0.0),
        ("detector step along rows", |d| {
            d.pattern.det_step_mrad[0] = f64::NAN
        }),
        ("semi-angle", |d| d.semiangle_per_a = -1.0),
        ("angle of C12", |d| {
            d.aberrations[1].angle_rad = Some(f64::NAN)
        }),
        ("number 40 (from 0)", |d| {
            d.search = Some(Search {
                best: 40,
                ..search(40)
            })
        }),
        ("percentiles", |d| d.display.contrast_percent = [99.0, 1.0]),
    ];
    for (expected, spoil) in spoils {
        let mut data = data(8, 8, texture);
        spoil(&mut data);
        let message = render_figure(&data).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(render_panel(&data, Panel::Table).is_err());
    }
}
