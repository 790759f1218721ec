//! The two pictures that are morphed where the user names none: faces of different proportions, drawn by arithmetic.
//!
//! In comes a size, out come two pictures. Contours are clear, so that edges are found; what differs is mostly the
//! width of things, because a row of the one is matched with the same row of the other.

use crate::picture::{Picture, rgb};

type Colour = [f32; 3];

struct Face {
    /// Above and below the horizon of the background.
    back: [Colour; 2],
    skin: Colour,
    hair: Colour,
    lips: Colour,
    iris: Colour,
    cloth: Colour,
    /// Half the width and height of the head, and how much narrower the jaw is.
    head: [f32; 2],
    jaw: f32,
    /// Half the width and height of the hair behind the head, and how far down its centre is.
    mane: [f32; 3],
    /// How far the fringe comes down, and to which side it is parted.
    fringe: [f32; 2],
    eye_at: f32,
    eye: [f32; 2],
    brow: f32,
    nose: f32,
    mouth: [f32; 2],
    neck: f32,
    shoulders: f32,
}

const FIRST: Face = Face {
    back: [[0.36, 0.56, 0.72], [0.80, 0.87, 0.88]],
    skin: [0.93, 0.72, 0.55],
    hair: [0.20, 0.13, 0.10],
    lips: [0.72, 0.38, 0.33],
    iris: [0.25, 0.40, 0.30],
    cloth: [0.16, 0.27, 0.42],
    head: [0.50, 0.64],
    jaw: 0.20,
    mane: [0.72, 0.84, -0.01],
    fringe: [-0.40, 0.12],
    eye_at: 0.230,
    eye: [0.096, 0.048],
    brow: 0.027,
    nose: 0.115,
    mouth: [0.20, 0.048],
    neck: 0.26,
    shoulders: 0.96,
};

const SECOND: Face = Face {
    back: [[0.93, 0.72, 0.48], [0.98, 0.90, 0.76]],
    skin: [0.98, 0.82, 0.70],
    hair: [0.62, 0.22, 0.10],
    lips: [0.80, 0.20, 0.26],
    iris: [0.20, 0.38, 0.62],
    cloth: [0.30, 0.48, 0.36],
    head: [0.40, 0.62],
    jaw: 0.32,
    mane: [0.57, 0.92, 0.07],
    fringe: [-0.37, -0.06],
    eye_at: 0.178,
    eye: [0.086, 0.057],
    brow: 0.020,
    nose: 0.065,
    mouth: [0.135, 0.060],
    neck: 0.18,
    shoulders: 0.72,
};

/// Both, at a size.
pub fn pair(w: usize, h: usize) -> [Picture; 2] {
    [&FIRST, &SECOND].map(|face| {
        let unit = w.min(h).max(2) as f32 / 2.0;
        Picture::from_fn(w, h, |px, py| {
            let at = |p: usize, n: usize| (p as f32 + 0.5 - n as f32 / 2.0) / unit;
            let [r, g, b] = face.at(at(px, w), at(py, h), 1.5 / unit).map(|v| (v.clamp(0.0, 1.0) * 255.0) as u8);
            rgb(r, g, b)
        })
    })
}

fn smooth(from: f32, to: f32, v: f32) -> f32 {
    let t = ((v - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

fn scale(a: Colour, by: f32) -> Colour {
    a.map(|v| v * by)
}

/// How much of a pixel an ellipse about the origin covers.
fn ellipse(x: f32, y: f32, a: f32, b: f32, soft: f32) -> f32 {
    let r = ((x / a).powi(2) + (y / b).powi(2)).sqrt();
    1.0 - smooth(-soft, soft, (r - 1.0) * a.min(b))
}

/// The light on a ball at (x, y) of its disc, from the upper left.
fn light(x: f32, y: f32) -> f32 {
    let z = (1.0 - x * x - y * y).max(0.0).sqrt();
    0.62 + 0.46 * (-0.42 * x - 0.38 * y + 0.82 * z).max(0.0)
}

impl Face {
    fn at(&self, x: f32, y: f32, soft: f32) -> Colour {
        let side = x.abs();
        let mut c = mix(self.back[0], self.back[1], smooth(-1.0, 0.9, y - 0.25 * x));
        // Hair behind the head, in strands.
        let [mane_w, mane_h, mane_y] = self.mane;
        let strands = 0.06 * (x * 46.0 + 5.0 * (y * 2.2).sin()).sin();
        let hair = scale(self.hair, 0.75 + light(x / mane_w, (y - mane_y) / mane_h) * 0.55 + strands);
        c = mix(c, scale(hair, 0.82), ellipse(x, y - mane_y, mane_w, mane_h, soft));
        // Shoulders and neck.
        let cloth = scale(self.cloth, 0.55 + 0.75 * light(x / self.shoulders, (y - 1.15) / 0.45));
        let shoulders = ellipse(x, y - 1.15, self.shoulders, 0.42, soft);
        let neck = (1.0 - smooth(-soft, soft, side - self.neck)) * smooth(0.0, 0.02, y) * (1.0 - smooth(0.78, 0.80, y));
        let shade = 0.62 + 0.25 * smooth(0.52, 0.85, y) - 0.18 * x / self.neck;
        c = mix(c, cloth, shoulders);
        let collar = ellipse(x, y - 0.76, self.neck + 0.07, 0.14, soft);
        c = mix(c, scale(self.skin, shade), neck.max(collar * shoulders));
        // The head, narrower towards the chin; hair hides the ears.
        let [head_w, head_h] = self.head;
        let width = head_w * (1.0 - self.jaw * smooth(0.02, head_h, y));
        let on_head = ellipse(x, y, width, head_h, soft);
        let (hx, hy) = (x / width, y / head_h);
        let mut skin = scale(self.skin, light(hx * 0.92, hy * 0.92));
        let cheek = (-((side - self.eye_at * 1.15) / 0.13).powi(2) - ((y - 0.17) / 0.10).powi(2)).exp();
        skin = mix(skin, [0.90, 0.42, 0.36], 0.26 * cheek);
        c = mix(c, skin, on_head);
        c = self.features(c, x, y, soft);
        // The fringe lies over all of it.
        let [low, part] = self.fringe;
        let line = low + 0.30 * (x - part).abs().powf(1.7) + 0.012 * (x * 30.0).sin();
        let over = (1.0 - smooth(-soft, soft, y - line)) * ellipse(x, y, head_w * 1.04, head_h * 1.05, soft);
        mix(c, hair, over)
    }

    /// Brows, eyes, nose and mouth.
    fn features(&self, mut c: Colour, x: f32, y: f32, soft: f32) -> Colour {
        let side = x.abs();
        let from_eye = side - self.eye_at;
        let brow = ellipse(from_eye, y + 0.20 - 1.6 * from_eye * from_eye, self.eye[0] * 1.3, self.brow, soft);
        c = mix(c, scale(self.hair, 0.9), brow);
        let [eye_w, eye_h] = self.eye;
        let socket = (-(from_eye / (eye_w * 1.5)).powi(2) - ((y + 0.09) / (eye_h * 2.2)).powi(2)).exp();
        c = mix(c, scale(self.skin, 0.55), 0.45 * socket);
        c = mix(c, [0.15, 0.08, 0.07], ellipse(from_eye, y + 0.088, eye_w * 1.10, eye_h * 1.22, soft));
        let white = ellipse(from_eye, y + 0.08, eye_w, eye_h, soft);
        c = mix(c, [0.96, 0.95, 0.93], white);
        c = mix(c, self.iris, white * ellipse(from_eye, y + 0.08, eye_h * 0.92, eye_h * 0.92, soft));
        c = mix(c, [0.03, 0.03, 0.04], white * ellipse(from_eye, y + 0.08, eye_h * 0.45, eye_h * 0.45, soft));
        // One light for both eyes: it does not change sides with the eye.
        let glint = (x - self.eye_at * x.signum() + eye_h * 0.3, y + 0.08 + eye_h * 0.3);
        c = mix(c, [1.0; 3], white * ellipse(glint.0, glint.1, eye_h * 0.22, eye_h * 0.22, soft));
        // The nose: a shadow on its right, its tip, two nostrils.
        let ridge = self.nose * (0.35 + 0.65 * smooth(-0.10, 0.16, y));
        let along = smooth(-0.12, 0.02, y) * (1.0 - smooth(0.16, 0.20, y));
        c = mix(c, scale(self.skin, 0.66), 0.75 * along * (-((x - ridge) / 0.028).powi(2)).exp());
        c = mix(c, scale(self.skin, 1.12), 0.5 * along * (-(x / 0.03).powi(2)).exp());
        c = mix(c, scale(self.skin, 0.42), ellipse(side - self.nose * 0.55, y - 0.185, self.nose * 0.32, 0.018, soft));
        // The mouth: two lips and the line between them.
        let [mouth_w, mouth_h] = self.mouth;
        let bend = y - 0.375 + 0.5 * x * x;
        let taper = (1.0 - (x / mouth_w).powi(2)).max(0.0).sqrt();
        let bow = 1.0 - 0.35 * (-(x / 0.03).powi(2)).exp();
        let upper = smooth(0.0, soft, mouth_h * taper * bow + bend) * (1.0 - smooth(-soft, soft, bend));
        let lower = smooth(0.0, soft, 1.25 * mouth_h * taper - bend) * smooth(-soft, soft, bend);
        let inside = 1.0 - smooth(-soft, soft, side - mouth_w);
        c = mix(c, scale(self.lips, 0.82), upper * inside);
        c = mix(c, scale(self.lips, 1.10), lower * inside);
        let gap = (1.0 - smooth(0.006, 0.006 + soft, bend.abs())) * inside;
        c = mix(c, scale(self.lips, 0.35), gap);
        let chin = (-(x / 0.12).powi(2) - ((y - 0.505) / 0.025).powi(2)).exp();
        mix(c, scale(self.skin, 0.7), 0.35 * chin)
    }
}
