//! Where the two sidebands reach a block of columns: rows in stretches of one kind, in closed form.

use crate::layout::Layout;

/// What the two apertures are over a stretch of a block's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Both 0: `S` is exactly 0.
    None,
    /// `A(k-q)` is 1, `A(k+q)` 0 in every lane.
    Minus,
    /// `A(k+q)` is 1, `A(k-q)` 0 in every lane.
    Plus,
    /// Both 1 in every lane.
    Both,
    /// Anything else.
    Edge,
}

/// Rows `first..last` in transform order, of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub first: usize,
    pub last: usize,
    pub kind: Kind,
}

/// Most breakpoints: two circles of two disks cut a block at eight rows; the ends, DC and the sign.
const MOST: usize = 16;

/// The stretches of one block, in rising signed order.
pub struct Stretches {
    list: [Stretch; MOST],
    count: usize,
}

impl Stretches {
    #[inline(always)]
    pub fn as_slice(&self) -> &[Stretch] {
        &self.list[..self.count]
    }
}

/// The circles around `+-k` within which an aperture is 1, and beyond which it is 0; 1/Å.
#[derive(Debug, Clone, Copy)]
pub struct Disks {
    pub k: [f64; 2],
    pub inner_per_a: f64,
    pub outer_per_a: f64,
    /// `|q|` beyond which nothing is wanted.
    pub limit_per_a: f64,
}

/// Rows, ends in, as signed indices; empty when `lo > hi`.
type Rows = (i64, i64);

const EMPTY: Rows = (0, -1);

#[inline(always)]
fn contains(rows: Rows, i: i64) -> bool {
    rows.0 <= i && i <= rows.1
}

#[inline(always)]
fn chord(center: f64, half2: f64, spacing: f64) -> Rows {
    if half2 < 0.0 {
        return EMPTY;
    }
    let half = half2.sqrt();
    let lo = ((center - half) / spacing).ceil() as i64;
    let hi = ((center + half) / spacing).floor() as i64;
    (lo, hi)
}

/// Rows at which the circle around `center` reaches any of the columns `q` (least and greatest).
#[inline(always)]
fn reached(center: [f64; 2], radius: f64, q: [f64; 2], spacing: f64) -> Rows {
    let distance = (q[0] - center[1]).max(center[1] - q[1]).max(0.0);
    chord(center[0], radius * radius - distance * distance, spacing)
}

/// Rows at which the circle around `center` holds every one of the columns `q`.
#[inline(always)]
fn held(center: [f64; 2], radius: f64, q: [f64; 2], spacing: f64) -> Rows {
    if radius <= 0.0 {
        return EMPTY;
    }
    let distance = (center[1] - q[0]).max(q[1] - center[1]);
    chord(center[0], radius * radius - distance * distance, spacing)
}

impl Disks {
    /// The largest `|q|` along an axis at which a sideband is wanted, in 1/Å.
    #[inline(always)]
    pub fn reach(&self, axis: usize) -> f64 {
        (self.outer_per_a + self.k[axis].abs()).min(self.limit_per_a)
    }

    /// Columns that the sidebands reach, in blocks.
    #[inline(always)]
    pub fn occupied_blocks(&self, layout: &Layout, spacing_col: f64) -> usize {
        let reach = self.reach(1);
        let columns = ((reach / spacing_col).floor() as usize + 1).min(layout.plane_cols);
        columns.div_ceil(layout.lanes)
    }

    /// The stretches of one block; together they cover every row but the Nyquist row. `edges_only` makes
    /// every stretch that is reached an edge.
    #[inline(always)]
    pub fn stretches(
        &self,
        layout: &Layout,
        block: usize,
        spacing: [f64; 2],
        edges_only: bool,
    ) -> Stretches {
        let q =
            [block * layout.lanes, (block + 1) * layout.lanes - 1].map(|c| c as f64 * spacing[1]);
        let minus = [-self.k[0], -self.k[1]];
        let around = |center| {
            [
                reached(center, self.outer_per_a, q, spacing[0]),
                held(center, self.inner_per_a, q, spacing[0]),
            ]
        };
        let ([m_out, m_in], [p_out, p_in]) = (around(self.k), around(minus));
        let (mut lo, mut hi) = (
            -((layout.rows as i64 - 1) / 2),
            (layout.rows as i64 - 1) / 2,
        );
        let wanted = if self.limit_per_a.is_finite() {
            let rows = reached([0.0; 2], self.limit_per_a, q, spacing[0]);
            (rows.0.max(lo), rows.1.min(hi))
        } else {
            (lo, hi)
        };
        // Rows before which something changes.
        let mut cuts = [lo; MOST];
        let mut count = 1;
        let mut cut = |at: i64| {
            if at > lo && at <= hi {
                cuts[count] = at;
                count += 1;
            }
        };
        for rows in [m_out, m_in, p_out, p_in, wanted] {
            if rows.0 <= rows.1 {
                cut(rows.0);
                cut(rows.1 + 1);
            }
        }
        cut(0);
        if block == 0 {
            cut(1);
        }
        let cuts = &mut cuts[..count];
        cuts.sort_unstable();
        let mut found = Stretches {
            list: [Stretch {
                first: 0,
                last: 0,
                kind: Kind::None,
            }; MOST],
            count: 0,
        };
        hi += 1;
        for i in 0..count {
            lo = cuts[i];
            let end = if i + 1 < count { cuts[i + 1] } else { hi };
            if lo == end {
                continue;
            }
            let minus = (contains(m_out, lo), contains(m_in, lo));
            let plus = (contains(p_out, lo), contains(p_in, lo));
            let kind = match (minus, plus) {
                _ if !contains(wanted, lo) => Kind::None,
                ((false, _), (false, _)) => Kind::None,
                // Gamma(0) is exactly 0 and counted as degenerate.
                _ if edges_only || (block == 0 && lo == 0) => Kind::Edge,
                ((_, true), (_, true)) => Kind::Both,
                ((_, true), (false, _)) => Kind::Minus,
                ((false, _), (_, true)) => Kind::Plus,
                _ => Kind::Edge,
            };
            let wrap = if lo < 0 { layout.rows as i64 } else { 0 };
            let stretch = Stretch {
                first: (lo + wrap) as usize,
                last: (end + wrap) as usize,
                kind,
            };
            let before = &mut found.list[found.count.saturating_sub(1)];
            if found.count > 0 && before.kind == kind && before.last == stretch.first {
                before.last = stretch.last;
            } else {
                found.list[found.count] = stretch;
                found.count += 1;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_kind_of_its_points() {
        let spacing = [0.031, 0.027];
        let mut kinds = [0; 5];
        for (shape, k) in [
            ([64, 64], [0.3, -0.5]),
            ([33, 35], [0.0, 0.0]),
            ([40, 27], [-0.6, 0.1]),
        ] {
            let layout = Layout::new(shape, 4);
            let disks = Disks {
                k,
                inner_per_a: 0.61,
                outer_per_a: 0.64,
                limit_per_a: f64::INFINITY,
            };
            for block in 0..layout.blocks {
                let mut seen = vec![0; shape[0]];
                for s in disks.stretches(&layout, block, spacing, false).as_slice() {
                    for (row, seen) in seen.iter_mut().enumerate().take(s.last).skip(s.first) {
                        *seen += 1;
                        let signed = if row > (shape[0] - 1) / 2 {
                            row as f64 - shape[0] as f64
                        } else {
                            row as f64
                        };
                        let mut inside = [[true; 2], [false; 2]];
                        for lane in 0..4 {
                            let q = [signed * spacing[0], (block * 4 + lane) as f64 * spacing[1]];
                            for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
                                let u = (q[0] - sign * k[0]).hypot(q[1] - sign * k[1]);
                                inside[0][i] &= u <= 0.61;
                                inside[1][i] |= u <= 0.64;
                            }
                        }
                        let [all, any] = inside;
                        kinds[s.kind as usize] += 1;
                        match s.kind {
                            Kind::None => assert_eq!(any, [false, false]),
                            Kind::Minus => assert!(all[0] && !any[1]),
                            Kind::Plus => assert!(all[1] && !any[0]),
                            Kind::Both => assert!(all[0] && all[1]),
                            Kind::Edge => {}
                        }
                    }
                }
                if let Some(nyquist) = layout.nyquist_row() {
                    assert_eq!(seen.remove(nyquist), 0);
                }
                assert!(seen.iter().all(|n| *n == 1), "{seen:?}");
            }
        }
        assert!(kinds.iter().all(|n| *n > 0), "{kinds:?}");
    }
}
