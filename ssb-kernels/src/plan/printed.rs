//! A plan in words.

use std::fmt;

use super::{Arrangement, LineShape};

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let scan = self.request.scan;
        let line = |shape: &LineShape| {
            let plan = &shape.line;
            let radices: Vec<_> = plan.radices.iter().map(ToString::to_string).collect();
            format!(
                "{} points as {} of {} ({:?}{}), {} units a line, {} lines a cube",
                plan.n,
                radices.join("."),
                plan.length,
                plan.method,
                if plan.split { ", parts in turn" } else { "" },
                plan.units,
                shape.lines
            )
        };
        writeln!(
            f,
            "{}: {} x {} scan, {} BF pixels in {} packs of {}",
            self.topology,
            scan.rows,
            scan.cols,
            self.request.stored,
            self.packs(),
            self.pack
        )?;
        writeln!(
            f,
            "  columns: {}; {} slots",
            line(&self.columns),
            self.slots[0]
        )?;
        writeln!(f, "  rows: {}; {} slots", line(&self.rows), self.slots[1])?;
        writeln!(
            f,
            "  G {} in buffers of {} BF pixels: {} MiB; tables {}, intermediate {} ({}), sums {}, upload {} MiB",
            if self.resident {
                "resident"
            } else {
                "streamed"
            },
            self.store,
            mib(self.bytes.g),
            mib(self.bytes.tables),
            mib(self.bytes.intermediate),
            if self.intermediate_moves {
                "moved"
            } else {
                "in cache"
            },
            mib(self.bytes.sums),
            mib(self.bytes.upload)
        )?;
        write!(
            f,
            "  moved: loss {} MiB, pair {} MiB, object {} MiB",
            mib(self.loss_bytes(1)),
            mib(self.loss_bytes(2)),
            mib(self.object_bytes())
        )
    }
}
