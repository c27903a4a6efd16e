//! The places of a grid of blocks.

/// Every place of a grid in C order.
pub(crate) struct Grid {
    extents: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Grid {
    pub(crate) fn new(extents: &[usize]) -> Self {
        Self {
            next: (!extents.contains(&0)).then(|| vec![0; extents.len()]),
            extents: extents.to_vec(),
        }
    }
}

impl Iterator for Grid {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let here = self.next.take()?;
        let mut following = here.clone();
        for d in (0..following.len()).rev() {
            following[d] += 1;
            if following[d] < self.extents[d] {
                self.next = Some(following);
                break;
            }
            following[d] = 0;
        }
        Some(here)
    }
}
