//! The table of what each CUDA kernel needs.

use ssb_kernels::text::RecordedKernel;

use super::occupancy::occupancy;
use super::toolkit::Usage;

/// A compiled kernel.
pub struct Row<'k> {
    pub kernel: &'k RecordedKernel,
    pub usage: Usage,
}

const HEAD: [&str; 11] = [
    "target",
    "plan",
    "kernel",
    "fused",
    "units",
    "registers",
    "spilled B",
    "stack B",
    "shared B",
    "cubes/SM",
    "occupancy",
];

/// Prints the table, columns as wide as they need to be.
pub fn print(rows: &[Row]) {
    let mut table = vec![HEAD.map(str::to_owned)];
    table.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| {
            table
                .iter()
                .map(|cells| cells[column].len())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for cells in &table {
        let line: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        println!("{}", line.join("  ").trim_end());
    }
}

fn cells(row: &Row) -> [String; HEAD.len()] {
    let (kernel, usage) = (row.kernel, row.usage);
    let units: u32 = kernel.cube_dim.iter().product();
    let shared_bytes = kernel.shared_memory_bytes + usage.shared_bytes;
    let occupancy = occupancy(
        kernel.target,
        units,
        usage.registers,
        u32::try_from(shared_bytes).unwrap_or(u32::MAX),
    );
    let (cubes, part) = occupancy.map_or(("?".to_owned(), "?".to_owned()), |o| {
        (
            o.cubes.to_string(),
            format!("{} % by {}", o.percent, o.limit),
        )
    });
    [
        kernel.target.name().to_owned(),
        kernel.plan.clone(),
        kernel.kernel.clone(),
        (if kernel.fused { "yes" } else { "no" }).to_owned(),
        units.to_string(),
        usage.registers.to_string(),
        usage.spill_bytes.to_string(),
        usage.stack_bytes.to_string(),
        shared_bytes.to_string(),
        cubes,
        part,
    ]
}
