//! Perceptually even colour maps.
//!
//! Viridis and inferno are matplotlib's (released into the public domain, CC0); the tables hold every eighth entry and
//! colours between are interpolated linearly, which stays within two steps of 255 of the full tables.

/// Red, green, blue.
pub(super) type Rgb = [u8; 3];

/// A map from 0..1 to a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColourMap {
    Gray,
    Viridis,
    Inferno,
}

const VIRIDIS: [u32; 33] = [
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b,
    0x375a8d, 0x33638d, 0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b,
    0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b, 0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c,
    0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725,
];
const INFERNO: [u32; 33] = [
    0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d,
    0x63146e, 0x70196e, 0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d,
    0xd14644, 0xdb4f3b, 0xe35932, 0xeb6528, 0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f,
    0xfbba1f, 0xf9ca32, 0xf5d949, 0xf2e865, 0xf3f586, 0xfcffa4,
];

impl ColourMap {
    /// Colour at `position`, clamped to 0..1.
    pub fn colour(self, position: f32) -> Rgb {
        let position = position.clamp(0.0, 1.0);
        let table: &[u32; 33] = match self {
            ColourMap::Gray => return [(position * 255.0).round() as u8; 3],
            ColourMap::Viridis => &VIRIDIS,
            ColourMap::Inferno => &INFERNO,
        };
        let place = position * 32.0;
        let below = (place as usize).min(31);
        let part = place - below as f32;
        let channel = |shift: u32| {
            let (a, b) = (
                (table[below] >> shift) & 0xff,
                (table[below + 1] >> shift) & 0xff,
            );
            (a as f32 + part * (b as f32 - a as f32)).round() as u8
        };
        [channel(16), channel(8), channel(0)]
    }
}

/// Every map with its name, as 256 colours of six hexadecimal digits each.
#[cfg(feature = "view")]
pub(crate) fn tables() -> [(&'static str, String); 3] {
    let maps = [
        ("gray", ColourMap::Gray),
        ("viridis", ColourMap::Viridis),
        ("inferno", ColourMap::Inferno),
    ];
    maps.map(|(name, map)| {
        let colours = (0..256).map(|i| {
            let [r, g, b] = map.colour(i as f32 / 255.0);
            format!("{r:02x}{g:02x}{b:02x}")
        });
        (name, colours.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of an sRGB colour (IEC 61966-2-1).
    fn luminance(colour: Rgb) -> f64 {
        let linear = colour.map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn maps_brighten_from_end_to_end() {
        for map in [ColourMap::Gray, ColourMap::Viridis, ColourMap::Inferno] {
            let light: Vec<f64> = (0..=64)
                .map(|i| luminance(map.colour(i as f32 / 64.0)))
                .collect();
            assert!(light.windows(2).all(|pair| pair[1] > pair[0]), "{map:?}");
        }
    }

    #[test]
    fn positions_outside_are_clamped() {
        assert_eq!(ColourMap::Viridis.colour(-3.0), [0x44, 0x01, 0x54]);
        assert_eq!(ColourMap::Viridis.colour(2.0), [0xfd, 0xe7, 0x25]);
        assert_eq!(ColourMap::Gray.colour(1.0), [255; 3]);
    }
}
