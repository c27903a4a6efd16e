//! Bandwidth of a device, measured by a copy kernel.

use cubecl::prelude::*;
use ssb_core::Error;

use super::{Connection, DeviceArray};

/// Floats that one unit copies.
const WIDTH: usize = 4;

#[cube(launch)]
fn copy<N: Size>(from: &Array<Vector<f32, N>>, to: &mut Array<Vector<f32, N>>) {
    if ABSOLUTE_POS < to.len() {
        to[ABSOLUTE_POS] = from[ABSOLUTE_POS];
    }
}

/// Bytes a second that a plain copy moves, reads and writes both counted: the median of several
/// runs, each long enough that the launch itself does not count.
///
/// # Errors
/// [`Error::Internal`] when the device fails or copies wrongly.
pub fn copy_bandwidth<R: Runtime>(connection: &Connection<R>) -> Result<f64, Error> {
    let Connection { client, connected } = connection;
    let (limits, faults) = (&connected.limits, &connected.faults);
    let (most_bytes, launches) = if limits.software {
        (32 << 20, 1)
    } else {
        (512 << 20, 20)
    };
    let bytes = (limits.device_bytes / 8)
        .min(limits.binding_bytes)
        .min(most_bytes);
    let floats = (bytes as usize / 4 / WIDTH).max(1) * WIDTH;
    let ramp: Vec<f32> = (0..floats).map(|i| (i % 8191) as f32).collect();
    let from = DeviceArray::uploaded(client, &ramp);
    let to = DeviceArray::<f32>::reserved(client, floats);
    let units = limits.units_per_cube.clamp(1, 256);
    let cubes = (floats / WIDTH).div_ceil(units as usize) as u32;
    let rows = cubes.div_ceil(limits.cubes_per_dimension.max(1));
    let count = CubeCount::Static(cubes.div_ceil(rows), rows, 1);
    let bytes_per_s = ssb_core::copy_bandwidth((4 * floats * launches) as u64, || {
        for _ in 0..launches {
            copy::launch::<R>(
                client,
                count.clone(),
                CubeDim::new_1d(units),
                WIDTH,
                from.vectors(WIDTH),
                to.vectors(WIDTH),
            );
        }
        faults.finish(client)
    })?;
    if to.read(client, faults)? != ramp {
        return Err(Error::Internal("the copy kernel copied wrongly".into()));
    }
    drop((from, to));
    client.memory_cleanup();
    Ok(bytes_per_s)
}
