//! What is simulated: the grid of nodes, its links in the order in which a variant relaxes them, the first state, and
//! the numbers that kernels and reference share. In come the parameters; out go the model and the build options.
//!
//! A cloth is a grid of masses. Structural links join neighbours, shear links the diagonals, bending links nodes two
//! apart (X. Provot, "Deformation constraints in a mass-spring model to describe rigid cloth behavior", 1995). Steps
//! are Verlet's and links are relaxed one after the other (T. Jakobsen, "Advanced character physics", 2001), as in the
//! Bullet library's cloth on OpenCL (2010). Links that share no node may move at once: they are coloured into batches.

use crate::error::{Error, Result};
use crate::params::Params;

/// Nodes of a cloth, and of all of them.
const MAX_NODES: usize = 1 << 20;
const MAX_IN_ALL: usize = 1 << 22;

/// How often a frame relaxes links at most.
const MAX_TURNS: u32 = 120;

pub const FRAME_TIME: f32 = 1.0 / 60.0;
pub const GRAVITY: f32 = -9.81;
/// The share of its velocity that a node keeps per step of 1/120 s.
const KEEP: f64 = 0.996;
/// Pressure of the air per metre a second, over the weight of a square metre.
pub const DRAG: f32 = 2.6;
/// The same for the air that goes along the cloth.
pub const RUB: f32 = 0.7;
pub const STIFF: [f32; 3] = [1.0, 0.6, 0.25];
/// How much more than the mean of what its links want a node does in Jacobi's way.
pub const OVER: f32 = 1.2;
pub const FRICTION: f32 = 0.6;
/// The distance that a cloth keeps from what it lies on.
pub const MARGIN: f32 = 0.012;
/// Kilograms a square metre: the fabric of a flag.
pub const DENSITY: f64 = 0.15;

/// A scene: what is pinned, what the wind is, what else is there, where the camera stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scene {
    pub name: &'static str,
    pub ground: f32,
    /// Centre and radius.
    pub sphere: Option<[f32; 4]>,
    /// Along the flag, up and down, through it, and the waves that travel along it: metres a second.
    pub wind: [f32; 4],
    pub eye: [f32; 3],
    pub target: [f32; 3],
    /// Over the height of a cell.
    pub focal: f32,
}

pub const SCENES: [Scene; 3] = [
    Scene {
        name: "flag",
        ground: -2.3,
        sphere: None,
        wind: [13.0, 1.0, 0.5, 2.4],
        eye: [0.35, -1.15, 3.6],
        target: [0.72, -0.62, 0.0],
        focal: 1.75,
    },
    Scene {
        name: "drape",
        ground: -1.35,
        sphere: None,
        wind: [0.4, 0.2, 3.2, 1.0],
        eye: [-0.3, -0.25, 3.4],
        target: [0.75, -0.62, 0.0],
        focal: 1.75,
    },
    Scene {
        name: "sphere",
        ground: -1.0,
        sphere: Some([0.75, -0.55, 0.0, 0.4]),
        wind: [0.0; 4],
        eye: [-0.5, 0.75, 2.9],
        target: [0.74, -0.50, 0.0],
        focal: 2.3,
    },
];

/// A link: its ends, its length at rest, its stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    pub a: usize,
    pub b: usize,
    pub rest: f32,
    pub stiff: f32,
}

/// A batch of the grid's own colouring: links that reach `(aside, reach)`, along rows where `across`.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    pub across: bool,
    pub aside: i32,
    pub reach: usize,
    pub phase: usize,
    kind: usize,
}

/// Every batch of a grid: each node has twelve links, so that there cannot be fewer.
pub fn grid_batches() -> Vec<Batch> {
    let kinds =
        [(true, 0, 1, 0), (false, 0, 1, 0), (false, 1, 1, 1), (false, -1, 1, 1), (true, 0, 2, 2), (false, 0, 2, 2)];
    let of = |(across, aside, reach, kind)| [0, 1].map(|phase| Batch { across, aside, reach, phase, kind });
    kinds.into_iter().flat_map(of).collect()
}

#[derive(Clone, Debug)]
pub struct Model {
    pub w: usize,
    pub h: usize,
    pub flags: usize,
    pub scene: Scene,
    pub relax: u32,
    pub steps: u32,
    pub wind: f32,
    pub greedy: bool,
    pub add_float: bool,
    pub patch: usize,
    pub picture: (usize, usize),
}

impl Model {
    pub fn new(params: &Params) -> Result<Model> {
        params.only(&["flags", "scene", "relax", "steps", "wind", "colours", "add", "patch", "picture"])?;
        let (w, h) = params.size_or(64, 48)?;
        let flags = params.number("flags", 1, 1..=100)? as usize;
        if w * h > MAX_NODES || w * h * flags > MAX_IN_ALL {
            return Err(Error::Params(format!(
                "{flags} cloths of {w}x{h} nodes: a cloth has at most {MAX_NODES} and all have \
                 {MAX_IN_ALL}; choose a smaller -s or fewer flags"
            )));
        }
        let patch = params.number("patch", 32, 4..=64)? as usize;
        if patch % 2 == 1 {
            return Err(Error::Params(format!("-c patch={patch}: give an even number")));
        }
        let (relax, steps) = (params.number("relax", 10, 1..=60)?, params.number("steps", 3, 1..=12)?);
        if relax * steps > MAX_TURNS {
            return Err(Error::Params(format!(
                "relax={relax} in each of steps={steps}: rounding errors grow too large in a frame to be told from wrong \
                 results; choose numbers whose product is at most {MAX_TURNS}"
            )));
        }
        let scene = params.choice("scene", &["flag", "drape", "sphere"])?;
        let picture = params.number("picture", 640, 64..=2560)? as usize;
        Ok(Model {
            w,
            h,
            flags,
            scene: *SCENES.iter().find(|s| s.name == scene).unwrap_or(&SCENES[0]),
            relax,
            steps,
            wind: params.number("wind", 100, 0..=300)? as f32 / 100.0,
            greedy: params.choice("colours", &["grid", "greedy"])? == "greedy",
            add_float: params.choice("add", &["fixed", "float"])? == "float",
            patch,
            picture: (picture, picture * 3 / 4),
        })
    }

    pub fn nodes(&self) -> usize {
        self.w * self.h
    }

    /// Between neighbours at rest; the cloth is a metre and a half wide, or as high as that allows.
    pub fn spacing(&self) -> f32 {
        let longest = ((self.w - 1) as f32).max((self.h - 1) as f32 * 4.0 / 3.0).max(1.0);
        1.5 / longest
    }

    pub fn step_time(&self) -> f32 {
        FRAME_TIME / self.steps as f32
    }

    pub fn keep(&self) -> f32 {
        // A step of 1 / (60 * steps) seconds is 2 / steps of the 1/120 s that KEEP is for.
        KEEP.powf(2.0 / f64::from(self.steps)) as f32
    }

    /// The wind's four parts.
    pub fn winds(&self) -> [f32; 4] {
        self.scene.wind.map(|w| w * self.wind)
    }

    /// As many as every other node, or pair of nodes, of a row or column.
    pub fn half(n: usize) -> usize {
        // Enough for either reach: every other one are n / 2, and pairs come two at a time.
        2 * n.div_ceil(4)
    }

    pub fn rest(&self, batch: &Batch) -> (f32, f32) {
        let rest = [self.spacing(), self.diagonal(), 2.0 * self.spacing()][batch.kind];
        (rest, STIFF[batch.kind])
    }

    pub fn diagonal(&self) -> f32 {
        (f64::from(self.spacing()) * 2f64.sqrt()) as f32
    }

    /// 0 for pinned nodes, 1 for others.
    pub fn inverse(&self) -> Vec<f32> {
        let pinned = |x: usize, y: usize| match self.scene.name {
            "flag" => x == 0,
            // A hand holds more than one node.
            "drape" => y == 0 && x.min(self.w - 1 - x) <= self.w / 24,
            _ => false,
        };
        (0..self.nodes()).map(|i| if pinned(i % self.w, i / self.w) { 0.0 } else { 1.0 }).collect()
    }

    fn links_of(&self, batch: &Batch) -> impl Iterator<Item = Link> + '_ {
        let (rest, stiff) = self.rest(batch);
        let (dx, dy) = if batch.across { (batch.reach as i32, 0) } else { (batch.aside, batch.reach) };
        let b = *batch;
        let starts = move |x: usize, y: usize| {
            let to = x as i64 + i64::from(dx);
            let counted = if b.across { x } else { y };
            // Links that reach two rows begin in rows 0, 1, 4, 5, … and end in rows 2, 3, 6, 7, …: no node is in two of
            // them.
            counted / b.reach % 2 == b.phase && to >= 0 && to < self.w as i64 && y + dy < self.h
        };
        (0..self.nodes()).filter(move |i| starts(i % self.w, i / self.w)).map(move |a| {
            let b = (a as i64 + i64::from(dx)) as usize + dy * self.w;
            Link { a, b, rest, stiff }
        })
    }

    /// All links in the order of their nodes, as a mesh would list them.
    pub fn links(&self) -> Vec<Link> {
        let mut links: Vec<Link> = grid_batches().iter().flat_map(|b| self.links_of(b)).collect();
        links.sort_by_key(|l| (l.a, l.b));
        links
    }

    /// The links in batches, none of which has a node twice.
    pub fn batches(&self) -> Vec<Vec<Link>> {
        if !self.greedy {
            let grid = grid_batches().into_iter().map(|b| self.links_of(&b).collect());
            return grid.filter(|b: &Vec<Link>| !b.is_empty()).collect();
        }
        // Each gets the first colour that is free at both ends: twice twelve less one suffice.
        let mut used = vec![0u32; self.nodes()];
        let mut batches: Vec<Vec<Link>> = Vec::new();
        for link in self.links() {
            // The lowest bit that is clear in both; 23 colours fit into the 32 bits.
            let colour = (used[link.a] | used[link.b]).trailing_ones() as usize;
            used[link.a] |= 1 << colour;
            used[link.b] |= 1 << colour;
            if batches.len() <= colour {
                batches.resize(colour + 1, Vec::new());
            }
            batches[colour].push(link);
        }
        batches
    }

    /// Which launch of `reduced` has a link: whether it crosses seams between patches, of columns and of rows.
    fn wave_of(&self, link: &Link) -> usize {
        let patch = |i: usize| (i % self.w / self.patch, i / self.w / self.patch);
        let (a, b) = (patch(link.a), patch(link.b));
        usize::from(a.0 != b.0) + 2 * usize::from(a.1 != b.1)
    }

    /// All links, in the order that `reduced` takes them.
    pub fn waves(&self) -> Vec<Link> {
        let mut links: Vec<Link> = grid_batches().iter().flat_map(|b| self.links_of(b)).collect();
        // The sort is stable: within a launch, links stay in the order of their batches, as the kernel takes them.
        links.sort_by_key(|l| self.wave_of(l));
        links
    }

    /// The sum of the stiffness of each node's links.
    pub fn weights(&self, links: &[Link]) -> Vec<f32> {
        let mut weights = vec![0.0; self.nodes()];
        for l in links {
            weights[l.a] += l.stiff;
            weights[l.b] += l.stiff;
        }
        weights
    }

    /// Where the nodes are at first and where they were a step before, all x, all y, all z.
    pub fn start(&self) -> [Vec<f32>; 2] {
        // Verlet's method has no velocities: the places one step ago stand for them.
        [0.0, -f64::from(self.step_time())].map(|time| {
            let total = self.nodes() * self.flags;
            let mut state = vec![0.0f32; 3 * total];
            for i in 0..total {
                let n = i % self.nodes();
                let at = self.first_place(n % self.w, n / self.w, i / self.nodes(), time);
                for k in 0..3 {
                    state[k * total + i] = at[k] as f32;
                }
            }
            state
        })
    }

    fn first_place(&self, x: usize, y: usize, flag: usize, time: f64) -> [f64; 3] {
        let s = f64::from(self.spacing());
        let (u, v) = (x as f64 * s, y as f64 * s);
        match self.scene.name {
            // A wave that travels outwards: rows keep their length, as their slope is that of an angle.
            "flag" => {
                let (mut at, steps) = ([0.0, -v - 0.02 * u * u, 0.0], 48);
                for k in 0..steps {
                    let t = u * (f64::from(k) + 0.5) / f64::from(steps);
                    let phase = 5.2 * t - 9.0 * time + 0.15 * v + 2.4 * flag as f64;
                    let angle = 0.75 * (t / 0.35).min(1.0) * phase.sin();
                    at[0] += angle.cos() * u / f64::from(steps);
                    at[2] += angle.sin() * u / f64::from(steps);
                }
                at
            }
            "drape" => {
                let fold = (u * 12.0 + flag as f64).sin() * 0.03 * (v * 3.0).min(1.0);
                [u, -v, fold]
            }
            // Level, turned a little, a hand's breadth above the sphere.
            _ => {
                let (dx, dz) = (u - 0.75, v - 0.5625);
                let turn = 0.35 + 0.4 * flag as f64;
                let wave = 0.01 * (u * 5.0).sin() * (v * 6.0).cos();
                [0.75 + dx * turn.cos() - dz * turn.sin(), 0.0 + wave + time, dx * turn.sin() + dz * turn.cos()]
            }
        }
    }

    /// The picture's cells: how many a row, and a cell's sides.
    pub fn cells(&self) -> (usize, usize, usize) {
        let columns = (1..).find(|c| c * c >= self.flags).unwrap_or(1);
        let rows = self.flags.div_ceil(columns);
        (columns, self.picture.0 / columns, self.picture.1 / rows)
    }

    pub fn triangles(&self) -> usize {
        2 * (self.w - 1) * (self.h - 1)
    }

    pub fn options(&self, links: usize, fused_local: bool) -> String {
        let mut o = format!(
            "-DW={} -DH={} -DNODES={} -DFLAGS={} -DLINKS={links} -DRELAX={} -DSTEPS={} -DPATCH={} -DHALF_COLUMNS={} \
             -DHALF_ROWS={} -DFUSED_LOCAL={} -DADD_FLOAT={} -DHAS_SPHERE={}",
            self.w,
            self.h,
            self.nodes(),
            self.flags,
            self.relax,
            self.steps,
            self.patch,
            Model::half(self.w),
            Model::half(self.h),
            u32::from(fused_local),
            u32::from(self.add_float),
            u32::from(self.scene.sphere.is_some()),
        );
        let winds = self.winds();
        let sphere = self.scene.sphere.unwrap_or_default();
        let numbers = [
            ("STEP_TIME", self.step_time()),
            ("KEEP", self.keep()),
            ("SPACING", self.spacing()),
            ("DIAGONAL", self.diagonal()),
            ("NODE_AREA", self.spacing() * self.spacing()),
            ("GRAVITY", GRAVITY),
            ("DRAG", DRAG),
            ("RUB", RUB),
            ("STRUCTURAL", STIFF[0]),
            ("SHEAR", STIFF[1]),
            ("BENDING", STIFF[2]),
            ("OVER", OVER),
            ("FRICTION", FRICTION),
            ("MARGIN", MARGIN),
            ("GROUND", self.scene.ground),
            ("WIND_X", winds[0]),
            ("WIND_Y", winds[1]),
            ("WIND_Z", winds[2]),
            ("WIND_WAVE", winds[3]),
            ("SPHERE_X", sphere[0]),
            ("SPHERE_Y", sphere[1]),
            ("SPHERE_Z", sphere[2]),
            ("SPHERE_R", sphere[3]),
        ];
        // The shortest decimal that reads back as the same float: kernels and reference compute with the same bits.
        for (name, value) in numbers {
            o += &format!(" -D{name}=({value:e}f)");
        }
        o
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(size: (usize, usize), config: &str) -> Model {
        Model::new(&Params { size: Some(size), config: config.into(), ..Params::default() }).unwrap()
    }

    fn links_of_a_grid(w: usize, h: usize) -> usize {
        let pairs = |dx: usize, dy: usize| w.saturating_sub(dx) * h.saturating_sub(dy);
        pairs(1, 0) + pairs(0, 1) + 2 * pairs(1, 1) + pairs(2, 0) + pairs(0, 2)
    }

    #[test]
    fn batches_have_every_link_once_and_no_node_twice() {
        for (w, h) in [(1, 1), (2, 1), (1, 5), (7, 3), (20, 13)] {
            for config in ["", "colours=greedy"] {
                let m = model((w, h), config);
                let batches = m.batches();
                let mut all: Vec<(usize, usize)> =
                    batches.iter().flatten().map(|l| (l.a.min(l.b), l.a.max(l.b))).collect();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), links_of_a_grid(w, h), "{w}x{h} {config}");
                assert_eq!(all.len(), batches.iter().map(Vec::len).sum::<usize>());
                for batch in &batches {
                    let mut nodes: Vec<usize> = batch.iter().flat_map(|l| [l.a, l.b]).collect();
                    nodes.sort_unstable();
                    assert!(nodes.windows(2).all(|n| n[0] != n[1]), "{w}x{h} {config}: a node twice");
                }
                assert!(batches.len() <= if m.greedy { 23 } else { 12 });
                assert_eq!(m.waves().len(), all.len());
            }
        }
    }

    #[test]
    fn the_first_flag_is_hardly_stretched() {
        let m = model((64, 48), "");
        let [p, _] = m.start();
        for l in m.batches().iter().flatten().filter(|l| l.stiff == 1.0) {
            let d2: f64 = (0..3).map(|k| f64::from(p[k * 3072 + l.a] - p[k * 3072 + l.b]).powi(2)).sum();
            assert!((d2.sqrt() / f64::from(l.rest) - 1.0).abs() < 0.08, "{l:?}: {}", d2.sqrt());
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let new =
            |size, config: &str| Model::new(&Params { size: Some(size), config: config.into(), ..Params::default() });
        assert!(new((1 << 11, 1 << 11), "").is_err());
        assert!(new((1 << 10, 1 << 10), "flags=5").is_err());
        assert!(new((8, 8), "patch=7").is_err());
        assert!(new((8, 8), "scene=curtain").is_err());
        assert!(new((8, 8), "flags=101").is_err());
        assert!(new((8, 8), "relax=60,steps=12").is_err());
    }
}
