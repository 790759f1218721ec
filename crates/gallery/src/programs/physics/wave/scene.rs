//! The basins of `wave`: where walls are, how fast waves run, and what the edges do.
//!
//! Speeds are squares of the fraction of a cell that a wave covers in a step. The explicit scheme is stable up to one
//! half (Courant, Friedrichs and Lewy, 1928); the deepest water has 0.36.

pub struct Scene {
    pub w: usize,
    pub h: usize,
    /// 1: wall, 0: water.
    pub kind: Vec<u8>,
    pub speed: Vec<f32>,
    /// How much of its motion a cell keeps in a step.
    pub keep: f32,
    /// The edges swallow waves; otherwise they reflect them.
    pub absorb: bool,
    /// The left edge makes waves.
    pub drive: bool,
}

const DEEP: f32 = 0.36;
const SHALLOW: f32 = 0.07;

impl Scene {
    pub fn new(name: &str, w: usize, h: usize) -> Scene {
        let (fw, fh) = (w as f32, h as f32);
        let unit = fw.min(fh);
        // Distance from a place, both as fractions of the sides, in fractions of the smaller side.
        let from = |x: f32, y: f32, cx: f32, cy: f32| (x - cx * fw).hypot(y - cy * fh) / unit;
        let depth = |t: f32| SHALLOW + (DEEP - SHALLOW) * t.clamp(0.0, 1.0);
        let cell = |i: usize| -> (bool, f32) {
            let (x, y) = ((i % w) as f32 + 0.5, (i / w) as f32 + 0.5);
            let (u, v) = (x / fw, y / fh);
            match name {
                // A pillar, and an island with a shoal around it.
                "pond" => {
                    let (pillar, island) = (from(x, y, 0.72, 0.30), from(x, y, 0.30, 0.64));
                    (pillar < 0.055 || island < 0.08, depth((island - 0.08) / 0.20))
                }
                // A breakwater with an opening, and a beach behind it.
                "harbour" => {
                    let across = u - 0.42 + 0.10 * (v - 0.5);
                    let breakwater = across.abs() * fw < (unit / 60.0).max(1.0) && (v - 0.56).abs() > 0.09;
                    let mole = (v - 0.25).abs() * fh < (unit / 80.0).max(1.0) && (0.62..0.86).contains(&u);
                    (breakwater || mole, depth((1.0 - u) / 0.35))
                }
                // Young's two slits.
                _ => {
                    let wall = (u - 0.34).abs() * fw < (unit / 80.0).max(0.6);
                    let open = ((v - 0.5).abs() - 0.11).abs() < 0.025;
                    (wall && !open, DEEP)
                }
            }
        };
        let (kind, speed) = (0..w * h).map(cell).map(|(wall, speed)| (u8::from(wall), speed)).unzip();
        // Rain in a pond must calm down; waves from an edge are to go far.
        let driven = name != "pond";
        Scene { w, h, kind, speed, keep: if driven { 0.9995 } else { 0.997 }, absorb: driven, drive: driven }
    }

    /// How high the left edge is in a step: it rises slowly at first, lest the first wave be a shock.
    pub fn edge(&self, step: u32) -> f32 {
        if !self.drive {
            return 0.0;
        }
        let rise = (f64::from(step) / 120.0).min(1.0);
        (0.45 * rise * (f64::from(step) * 0.19).sin()) as f32
    }
}
