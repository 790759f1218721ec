//! Draws the picture and writes the text that the gallery ships, from arithmetic alone, so that they have the project's
//! licence: `cargo run -p cloom-gallery --example draw_assets -- crates/gallery/assets`.

use cloom_gallery::Picture;
use std::path::Path;

const SIDE: usize = 512;

fn hash(x: i32, y: i32, seed: u32) -> f32 {
    let mut h = seed ^ (x as u32).wrapping_mul(0x27d4_eb2d) ^ (y as u32).wrapping_mul(0x1656_67b1);
    h = (h ^ (h >> 15)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    ((h ^ (h >> 16)) >> 8) as f32 / (1 << 24) as f32
}

/// Smooth noise with one value at each point of the integer grid.
fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let (xi, yi) = (x.floor(), y.floor());
    let (fx, fy) = (x - xi, y - yi);
    let (sx, sy) = (fx * fx * (3.0 - 2.0 * fx), fy * fy * (3.0 - 2.0 * fy));
    let at = |dx, dy| hash(xi as i32 + dx, yi as i32 + dy, seed);
    let top = at(0, 0) + (at(1, 0) - at(0, 0)) * sx;
    let bottom = at(0, 1) + (at(1, 1) - at(0, 1)) * sx;
    top + (bottom - top) * sy
}

/// Octaves of noise, each half as strong and twice as fine.
fn fractal(x: f32, y: f32, octaves: u32, seed: u32) -> f32 {
    (0..octaves).map(|o| noise(x * (1 << o) as f32, y * (1 << o) as f32, seed + o) / (2 << o) as f32).sum()
}

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    let t = t.clamp(0.0, 1.0);
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

/// Sky with clouds and a low sun.
fn sky(x: f32, y: f32) -> [f32; 3] {
    let base = mix([0.26, 0.44, 0.74], [0.98, 0.80, 0.62], y * 1.5);
    let sun = (-((x - 0.72).powi(2) + (y - 0.36).powi(2)) * 90.0).exp();
    let cloud = ((fractal(x * 5.0, y * 14.0, 6, 40) - 0.48) * 4.0).clamp(0.0, 0.9);
    mix(mix(base, [1.0, 0.97, 0.93], cloud), [1.0, 0.95, 0.75], sun)
}

/// The colour of a land point, before water.
fn land(x: f32, y: f32) -> [f32; 3] {
    let mut colour = sky(x, y);
    for layer in 0..4u32 {
        let l = layer as f32;
        let ridge = 0.34 + 0.075 * l - (0.27 - 0.05 * l) * (fractal(x * (2.2 + l), 3.0 * l, 8, 7 + layer * 20) - 0.35);
        if y > ridge {
            let slope = fractal(x * 30.0 + 0.7, y * 30.0, 5, 90 + layer) - fractal(x * 30.0, y * 30.0, 5, 90 + layer);
            let rock = mix([0.42, 0.45, 0.58], [0.13, 0.24, 0.13], l / 3.0);
            let texture = fractal(x * 60.0, y * 60.0, 5, 200 + layer) - 0.5;
            let snow = if layer < 2 && y - ridge < 0.035 + 0.05 * texture { 0.8 } else { 0.0 };
            let lit = mix(rock, [0.95, 0.95, 1.0], snow);
            colour = lit.map(|c| (c * (1.0 + 0.7 * texture) + slope * 0.45).clamp(0.0, 1.0));
        }
    }
    colour
}

fn pixel(px: usize, py: usize) -> u32 {
    let (x, y) = (px as f32 / SIDE as f32, py as f32 / SIDE as f32);
    let shore = 0.66 + 0.02 * (fractal(x * 8.0, 0.0, 4, 300) - 0.5);
    let colour = if y < shore {
        land(x, y)
    } else {
        let depth = (y - shore) / (1.0 - shore);
        let wave = fractal(x * 18.0, y * 160.0 / (0.3 + depth), 4, 400) - 0.5;
        let mirrored =
            land((x + wave * 0.03 * (0.3 + depth)).clamp(0.0, 1.0), shore - (y - shore) * 0.95 + wave * 0.02);
        mix(mirrored, [0.05, 0.13, 0.2], 0.25 + 0.45 * depth + wave * 0.25)
    };
    let grain = (hash(px as i32, py as i32, 999) - 0.5) * 0.03;
    let [r, g, b] = colour.map(|c| ((c + grain).clamp(0.0, 1.0) * 255.0) as u8);
    u32::from_le_bytes([r, g, b, 255])
}

const SUBJECTS: &str = "the river,an old engineer,the machine,our neighbour,a student,the northern wind,the committee,\
    a small boat,the library,every traveller,the gardener,his sister,a patient teacher,the market,the second group,\
    an open window,the clerk,a long queue,the compiler,the harbour,my grandfather,the orchestra,a tired horse,the village";
const VERBS: &str = "carried,measured,forgot,repaired,followed,described,crossed,counted,opened,remembered,answered,\
    watched,divided,painted,gathered,ordered,lifted,questioned,found,left behind,returned to,looked after,wrote about";
const OBJECTS: &str = "the broken bridge,seven letters,a map of the coast,the evening train,an unfinished sentence,\
    the heavy stones,a basket of apples,the first result,the empty street,a promise,the light of the tower,three songs,\
    the cold water,an exact copy,the narrow path,a list of names,the other side,the last page,a row of houses,the lesson";
const ENDS: &str = "before the rain began,without a word,in the early morning,for almost an hour,as it had always done,\
    while nobody was looking,with great care,at the edge of the forest,on the third day,because the clock had stopped,\
    after a long silence,in spite of the noise,and so the day was over,until the lamps were lit,under a grey sky";
const LINKS: &str = "Then,Later,Still,Meanwhile,In the end,Of course,Once more,Nevertheless,At noon,Nearby";

/// Sentences of a small grammar: repetitive and irregular in the way of prose.
fn text(bytes: usize) -> String {
    let lists: [Vec<&str>; 5] = [SUBJECTS, VERBS, OBJECTS, ENDS, LINKS].map(|l| l.split(',').map(str::trim).collect());
    let mut step = 0i32;
    let mut draw = |n: usize| {
        step += 1;
        // The square prefers the front of a list, as prose prefers some words.
        let u = hash(step, 17, 4711);
        ((u * u * n as f32) as usize).min(n - 1)
    };
    let (mut out, mut line) = (String::new(), 0);
    while out.len() < bytes {
        let mut pick = |i: usize| lists[i][draw(lists[i].len())];
        let mut sentence = format!("{} {} {}", pick(0), pick(1), pick(2));
        if pick(4).len() > 6 {
            sentence = format!("{}, {sentence}", pick(4));
        }
        if pick(3).len() > 20 {
            sentence = format!("{sentence} {}", pick(3));
        }
        let capital = sentence[..1].to_uppercase();
        for word in format!("{capital}{}.", &sentence[1..]).split(' ') {
            out.push_str(word);
            line += word.len() + 1;
            out.push(if line > 90 { '\n' } else { ' ' });
            line = if line > 90 { 0 } else { line };
        }
    }
    out.truncate(bytes);
    out
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder to write to")?;
    let folder = Path::new(&folder);
    Picture::from_fn(SIDE, SIDE, pixel).save(&folder.join("lake.png"))?;
    std::fs::write(folder.join("prose.txt"), text(100_000))?;
    Ok(())
}
