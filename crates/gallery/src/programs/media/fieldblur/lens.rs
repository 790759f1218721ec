//! What blurs: the pins, the aperture and how bright pixels are weighted, from the knobs to the macros of the kernels.
//!
//! The radius between the pins is D. Shepard's interpolation ("A two-dimensional interpolation function for
//! irregularly-spaced data", 1968) with the fourth power of the distance, which is smooth and flat around each pin. The
//! aperture is a polygon or a disc, as the blades of a lens make it.

use crate::error::{Error, Result};
use crate::params::Params;
use std::f64::consts::PI;

/// The largest radius: the sum of a row of the aperture must fit into 31 bits, with [`MAX_LIGHT`].
const MAX_RADIUS: f64 = 64.0;
/// White weighs one more than this.
const MAX_LIGHT: u32 = 14;
const MAX_PINS: usize = 16;
/// Linear light of a white channel.
pub const WHITE: u32 = 1 << 14;
/// The weight of a pixel that is not bright.
pub const WEIGHT: u32 = 64;
/// The lantern of the scene is sharp, what lies behind and before it is not.
const PINS: &str = "395:400:0;395:520:0;395:680:0;395:810:0;585:340:13;205:340:13;605:600:12;185:600:12;80:80:24;700:60:22;\
                    950:280:26;930:660:18;640:960:14";

/// A place of the picture and the radius there, in pixels. All are numbers that a float holds, so that the kernels and
/// the reference start from the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pin {
    pub x: f64,
    pub y: f64,
    pub r: f64,
}

/// What blurs a picture of one size.
#[derive(Clone, Debug)]
pub struct Lens {
    pub pins: Vec<Pin>,
    /// Per mille of the longer side in a pixel.
    pub scale: f64,
    /// The corners of the aperture of radius 1, in the order of their angles; none of a disc.
    pub corners: Vec<(f64, f64)>,
    /// From which brightness on pixels weigh more, of [`WHITE`].
    pub bright: u32,
    /// How much more white weighs.
    pub light: u32,
    turn: f64,
}

impl Lens {
    pub const KNOBS: &'static [&'static str] = &["pins", "blades", "turn", "bright", "light"];

    pub fn new(params: &Params, (w, h): (usize, usize)) -> Result<Lens> {
        let blades = params.number("blades", 6, 0..=12)?;
        if matches!(blades, 1 | 2) {
            return Err(Error::Params(format!("-c blades={blades}: give 3 to 12, or 0 for a round aperture")));
        }
        let turn = f64::from(params.number("turn", 10, 0..=359)?) * PI / 180.0;
        let n = f64::from(blades);
        let corner = |k: u32| (turn + 2.0 * PI * f64::from(k) / n).sin_cos();
        Ok(Lens {
            pins: pins(params.text("pins").unwrap_or(PINS), w, h)?,
            scale: f64::from((1000.0 / w.max(h) as f64) as f32),
            corners: (0..blades).map(corner).map(|(sin, cos)| (cos, sin)).collect(),
            bright: params.number("bright", 65, 0..=99)? * WHITE / 100,
            light: params.number("light", 12, 0..=MAX_LIGHT)?,
            turn,
        })
    }

    /// How many pixels around a pixel its result may depend on, with one to spare for rounding.
    pub fn halo(&self) -> usize {
        self.pins.iter().fold(0.5, |most: f64, p| most.max(p.r)).ceil() as usize + 2
    }

    /// The sides of the aperture of radius 1 as (at, slope): x = at - y * slope; those to the right or to the left.
    fn sides(&self, right: bool) -> Vec<(f64, f64)> {
        let n = self.corners.len() as f64;
        // A side that is level crosses no row at one place: the ends of its row are those of its neighbours.
        let normal = |k: usize| (self.turn + PI * (2.0 * k as f64 + 1.0) / n).sin_cos();
        let sides =
            (0..self.corners.len()).map(normal).filter(|(_, cos)| if right { *cos > 1e-6 } else { *cos < -1e-6 });
        sides.map(|(sin, cos)| ((PI / n).cos() / cos, sin / cos)).collect()
    }

    /// By how much a rounding of y is amplified at the ends of a row.
    pub fn steepest(&self) -> f64 {
        [true, false].iter().flat_map(|&right| self.sides(right)).fold(1.0, |most, (_, slope)| most.max(slope.abs()))
    }

    /// The macros of the kernels.
    pub fn options(&self) -> String {
        let list = |values: &mut dyn Iterator<Item = f64>| -> String {
            values.map(|v| format!("{:e}f", v as f32)).collect::<Vec<_>>().join(",")
        };
        let of_pins = |get: fn(&Pin) -> f64| list(&mut self.pins.iter().map(get));
        let bound = |from: f64, pick: fn(f64, f64) -> f64| self.corners.iter().fold(from, |b, c| pick(b, c.1));
        let (low, high) =
            if self.corners.is_empty() { (-1.0, 1.0) } else { (bound(1.0, f64::min), bound(-1.0, f64::max)) };
        let mut options = format!(
            "-DPINS={} -DPIN_X={} -DPIN_Y={} -DPIN_R={} -DSCALE={:e}f -DHALO={} -DBRIGHT={} -DLIGHT={} -DBLADES={} \
             -DLOW={:e}f -DHIGH={:e}f",
            self.pins.len(),
            of_pins(|p| p.x),
            of_pins(|p| p.y),
            of_pins(|p| p.r),
            self.scale as f32,
            self.halo(),
            self.bright,
            self.light,
            self.corners.len(),
            low as f32,
            high as f32,
        );
        for (name, right) in [("RIGHT", true), ("LEFT", false)] {
            let sides = self.sides(right);
            if !sides.is_empty() {
                let (at, slope) = (list(&mut sides.iter().map(|s| s.0)), list(&mut sides.iter().map(|s| s.1)));
                options += &format!(" -D{name}={} -D{name}_AT={at} -D{name}_SLOPE={slope}", sides.len());
            }
        }
        options
    }
}

fn pins(text: &str, w: usize, h: usize) -> Result<Vec<Pin>> {
    let bad = |why: &str| {
        Error::Params(format!("-c pins={text}: {why}; give x:y:radius;x:y:radius, such as 500:500:0;0:0:20"))
    };
    let single = |side: usize, v: f64| f64::from((v / 1000.0 * side as f64) as f32);
    let mut places = Vec::new();
    let mut pins = Vec::new();
    for pin in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
        let numbers: Vec<f64> = pin.split(':').map_while(|n| n.trim().parse().ok()).collect();
        let (&[x, y, r], 3) = (&*numbers, pin.split(':').count()) else {
            return Err(bad(&format!("`{pin}` is not three numbers")));
        };
        if !(0.0..=1000.0).contains(&x) || !(0.0..=1000.0).contains(&y) {
            return Err(bad("places are per mille of the picture, from 0 to 1000"));
        }
        if !(0.0..=MAX_RADIUS).contains(&r) {
            return Err(bad(&format!("radii are from 0 to {MAX_RADIUS} pixels")));
        }
        if places.iter().any(|&(px, py): &(f64, f64)| (px - x).abs() + (py - y).abs() < 0.5) {
            return Err(bad("two pins are at the same place"));
        }
        places.push((x, y));
        pins.push(Pin { x: single(w, x), y: single(h, y), r: f64::from(r as f32) });
    }
    if pins.is_empty() || pins.len() > MAX_PINS {
        return Err(bad(&format!("{} pins, and there are 1 to {MAX_PINS}", pins.len())));
    }
    Ok(pins)
}

/// Linear light of an sRGB byte, of [`WHITE`].
pub fn linear() -> Vec<u32> {
    let light = |e: f64| if e <= 0.04045 { e / 12.92 } else { ((e + 0.055) / 1.055).powf(2.4) };
    (0..256).map(|i| (light(f64::from(i) / 255.0) * f64::from(WHITE)).round() as u32).collect()
}

/// An sRGB byte, not yet rounded, of linear light from 0 to 1.
pub fn encoded(c: f64) -> f64 {
    let e = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    e.clamp(0.0, 1.0) * 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(config: &str) -> Params {
        Params { config: config.into(), ..Params::default() }
    }

    #[test]
    fn what_is_no_lens_is_refused() {
        for config in [
            "blades=2",
            "blades=13",
            "light=15",
            "pins=",
            "pins=1:2",
            "pins=1:2:3:4",
            "pins=1:2:x",
            "pins=1:2:65",
            "pins=1:2:NaN",
            "pins=-1:2:3",
            "pins=5:5:1;5:5:2",
            "pins=1001:2:3",
        ] {
            assert!(matches!(Lens::new(&with(config), (9, 9)), Err(Error::Params(_))), "{config}");
        }
        let lens = Lens::new(&with("pins=500:250:3.5;0:1000:64,blades=0"), (200, 100)).unwrap();
        assert_eq!(lens.pins, [Pin { x: 100.0, y: 25.0, r: 3.5 }, Pin { x: 0.0, y: 100.0, r: 64.0 }]);
        assert_eq!(lens.halo(), 66);
        assert_eq!((linear()[0], linear()[255]), (0, WHITE));
        assert_eq!((encoded(0.0), encoded(1.0).round()), (0.0, 255.0));
    }
}
