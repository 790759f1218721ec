//! What a comparison of platforms measures: for every program its rows, and for every row the sizes.
//!
//! In goes a program of the list, out come [`Case`]s. A program without an entry here has a row for each variant, at
//! its own size. A row is what a reader compares: one way to write the kernel, on one kind of data, under one shape of
//! work-group.

use crate::params::Params;
use crate::program::{Program, Variant};

/// A point of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The plot's name.
    pub plot: &'static str,
    /// Which of its lines.
    pub line: String,
    /// The point's position on the axis: a number, or a word.
    pub x: String,
}

/// One thing to measure.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program's name.
    pub program: &'static str,
    /// The row: variant and what else is particular, such as `strided random`.
    pub row: String,
    /// The parameters of the program, except the number of iterations, which the measurement chooses.
    pub params: Params,
    /// It writes next to nothing: the limit is that of reading, not of copying.
    pub only_reads: bool,
    /// Its position in a plot.
    pub place: Option<Place>,
    /// It only serves a plot, and is no row of the table.
    pub only_plot: bool,
    /// It takes so long that the initial content of the caches does not matter.
    pub long: bool,
}

/// A row before its sizes are known.
#[derive(Default)]
struct Row {
    variant: &'static str,
    note: String,
    config: String,
    tile: Option<(usize, usize)>,
    sizes: &'static [(usize, usize)],
    place: Option<Place>,
    only_plot: bool,
    long: bool,
}

impl Row {
    fn of(variant: &'static str, sizes: &'static [(usize, usize)]) -> Row {
        Row { variant, sizes, ..Row::default() }
    }

    /// With knobs, and the word for them in the row's name.
    fn with(self, note: impl Into<String>, config: impl Into<String>) -> Row {
        Row { note: note.into(), config: config.into(), ..self }
    }

    fn tiled(self, w: usize, h: usize) -> Row {
        let note = if self.note.is_empty() { format!("{w}x{h}") } else { format!("{} {w}x{h}", self.note) };
        Row { note, tile: Some((w, h)), ..self }
    }

    fn at(self, plot: &'static str, line: impl Into<String>, x: impl ToString) -> Row {
        Row { place: Some(Place { plot, line: line.into(), x: x.to_string() }), ..self }
    }

    fn long(self) -> Row {
        Row { long: true, ..self }
    }

    fn only_in_plot(self) -> Row {
        Row { only_plot: true, ..self }
    }
}

/// Pictures and vectors that fit into a core's cache, into the last one, and into none.
const PICTURES: &[(usize, usize)] = &[(512, 512), (2048, 2048), (4096, 4096)];
const VECTORS: &[(usize, usize)] = &[(512, 512), (2048, 2048), (4096, 4096), (8192, 4096)];
const LARGE: &[(usize, usize)] = &[(4096, 4096)];

/// Variants that run on the host alone, or on more than the device: they say nothing of a platform.
const NOT_OF_A_PLATFORM: &[&str] =
    &["seq", "threads", "threads_lazy", "tiled", "lazy", "hybrid", "devices_fixed", "devices_adaptive", "ranks"];

fn each(program: &dyn Program, sizes: &'static [(usize, usize)]) -> Vec<Row> {
    let of_a_platform = program.variants().iter().filter(|v| !NOT_OF_A_PLATFORM.contains(&v.name));
    of_a_platform.map(|v| Row::of(v.name, sizes)).collect()
}

fn mandel() -> Vec<Row> {
    let row = || Row::of("ocl", &[(512, 512), (1024, 1024)]).with("", "max=4096,view=still").long();
    [(16, 16), (128, 1), (8, 4)].map(|(w, h)| row().tiled(w, h)).into()
}

fn mad() -> Vec<Row> {
    let k = |k: u32| Row::of("ocl", LARGE).with(format!("k={k}"), format!("k={k}")).at("mad", "flops a float", k);
    let mut rows: Vec<Row> = [3, 6, 12, 18, 24, 48, 96].map(k).into();
    rows.push(Row::of("peak", &[(1024, 1024)]));
    rows
}

fn histogram() -> Vec<Row> {
    let mut rows = vec![Row::of("alone", &[(8192, 8192)]).with("random", "input=random")];
    for variant in ["strided", "serial"] {
        for input in ["random", "uniform"] {
            rows.push(Row::of(variant, &[(2048, 2048), (8192, 8192)]).with(input, format!("input={input}")));
        }
        for items in [64, 256, 1024, 4096, 16384, 65536] {
            let config = format!("input=random,items={items}");
            let row = Row::of(variant, LARGE).with(format!("{items} items"), config);
            rows.push(row.at("histogram items", variant, items).only_in_plot());
        }
    }
    for stage in 1..=4 {
        let what = ["read", "count", "add banks", "add groups"][stage - 1];
        let row = Row::of("strided", LARGE).with(format!("stage {stage}"), format!("input=random,stage={stage}"));
        rows.push(row.at("histogram stages", "strided", what).only_in_plot());
    }
    for input in ["random", "uniform"] {
        for banks in [1, 2, 4, 8, 16] {
            let config = format!("input={input},banks={banks}");
            let row = Row::of("strided", LARGE).with(format!("{input} {banks} banks"), config);
            rows.push(row.at("histogram banks", input, banks).only_in_plot());
        }
    }
    rows
}

fn stripes() -> Vec<Row> {
    let mut rows = Vec::new();
    for variant in ["ocl", "ocl_opt"] {
        rows.push(Row::of(variant, &[(1024, 1024), (4096, 4096)]));
        rows.push(Row::of(variant, &[(1024, 1024)]).with("36 rounds", "rounds=36"));
        for bit in 0..=8 {
            let row = Row::of(variant, &[(2048, 2048)]).with(format!("bit {bit}"), format!("param={bit}"));
            rows.push(row.at("stripes", variant, bit).only_in_plot());
        }
    }
    rows
}

fn bank() -> Vec<Row> {
    let mut rows: Vec<Row> = ["strided", "permuted", "broadcast"].map(|v| Row::of(v, &[(1024, 1024)])).into();
    for stride in 1..=33 {
        let row = Row::of("strided", &[(1024, 1024)]).with(format!("stride {stride}"), format!("stride={stride}"));
        rows.push(row.at("bank", "strided", stride).only_in_plot());
    }
    rows
}

/// As many channels and pictures as the case study that these go back to, and the taps of a blur.
fn conv(program: &dyn Program) -> Vec<Row> {
    let sizes = &[(512, 512), (2048, 2048)];
    let mut rows = each(program, sizes);
    for variant in ["x_local", "y_direct", "y_rolling"] {
        for (note, config) in [("4 channels", "channels=4"), ("batch of 4", "batch=4"), ("31 taps", "taps=31")] {
            rows.push(Row::of(variant, &[(512, 512)]).with(note, config));
        }
    }
    rows
}

/// Every format with every filter.
fn sampler(program: &dyn Program) -> Vec<Row> {
    let formats = crate::programs::image::sampler::FORMATS.iter().map(|f| f.0);
    let of = |format: &str| {
        each(program, &[(2048, 2048)]).into_iter().map(|r| r.with(format, format!("format={format}"))).collect()
    };
    formats.flat_map(|format| -> Vec<Row> { of(format) }).collect()
}

fn nbody(program: &dyn Program) -> Vec<Row> {
    let mut rows = Vec::new();
    for root in ["rsqrt", "native", "divide"] {
        let of_root = |r: Row| r.with(root, format!("root={root}"));
        rows.extend(each(program, &[(4096, 1), (16384, 1)]).into_iter().map(of_root).map(Row::long));
    }
    rows
}

/// What moves is limited by memory, what comes in pairs by arithmetic.
fn particles() -> Vec<Row> {
    let mut rows: Vec<Row> = ["move_aos", "move_soa"].map(|v| Row::of(v, &[(512, 512), (2048, 2048)])).into();
    rows.extend(["pairs_aos", "pairs_soa"].map(|v| Row::of(v, &[(4096, 1), (16384, 1)]).long()));
    rows
}

fn gauss() -> Vec<Row> {
    let mut rows = vec![Row::of("direct", &[(512, 512)]).long()];
    rows.extend(["separable", "image", "recursive", "transposed"].map(|v| Row::of(v, &[(512, 512), (2048, 2048)])));
    rows
}

/// Tiles under groups of two shapes.
fn transpose(program: &dyn Program) -> Vec<Row> {
    let mut rows = each(program, &[(1024, 1024), (2047, 1023), (4096, 4096)]);
    for variant in ["ocl_naive", "ocl_naive_write", "ocl", "ocl_pad"] {
        rows.push(Row::of(variant, LARGE).tiled(32, 8));
    }
    rows
}

/// The shapes are the variants.
fn shape(program: &dyn Program) -> Vec<Row> {
    let row = |v: &Variant| Row::of(v.name, &[(1024, 1024)]).at("shape", "shape of the group", v.name);
    program.variants().iter().map(row).collect()
}

/// One flag, whose launches are short, and many.
fn cloth(program: &dyn Program) -> Vec<Row> {
    let of = |flags: u32| {
        let with = move |r: Row| r.with(format!("{flags} flags"), format!("flags={flags}"));
        each(program, &[(64, 48)]).into_iter().map(with).map(Row::long)
    };
    [1, 10, 100].into_iter().flat_map(of).collect()
}

/// HD, and both ways to overlap, to make a frame and to count.
fn video(program: &dyn Program) -> Vec<Row> {
    let mut rows = each(program, &[(1920, 1080)]);
    rows.push(Row::of("stack", &[(1920, 1080)]).with("one queue", "queues=1"));
    rows.push(Row::of("stack", &[(1920, 1080)]).with("a kernel an effect", "passes=each"));
    rows.push(Row::of("scopes", &[(1920, 1080)]).with("atomics", "counters=atomics"));
    rows.extend(["normal", "overlay"].map(|m| Row::of("blend", &[(1920, 1080)]).with(m, format!("mode={m}"))));
    rows.extend(["linear", "bob"].map(|m| Row::of("deinterlace", &[(1920, 1080)]).with(m, format!("method={m}"))));
    rows.into_iter().map(Row::long).collect()
}

/// Each spelling, at the idiom's own size.
fn idioms() -> Vec<Row> {
    let row = |(variant, note, config)| Row::of(variant, &[]).with(note, config);
    crate::idioms::spellings().map(row).collect()
}

fn rows(program: &dyn Program) -> Vec<Row> {
    match program.name() {
        "sample" => each(program, &[(1024, 1024)]),
        "mandel" => mandel(),
        "transpose" => transpose(program),
        "pixelize" => each(program, PICTURES),
        "stripes" => stripes(),
        "life" => {
            let sizes = &[(512, 512), (2048, 2048)];
            let mut rows: Vec<Row> =
                each(program, sizes).into_iter().map(|r| r.with("random", "start=random")).collect();
            rows.extend(["ocl", "ocl_lazy"].map(|v| Row::of(v, sizes).with("glider", "start=glider")));
            rows
        }
        "invert" | "rotation90" | "scrollup" | "spin" => each(program, &[(1024, 1024), (2048, 2048)]),
        "max" => each(program, &[(512, 512), (1024, 1024)]).into_iter().map(Row::long).collect(),
        "sandpile" => {
            let mut rows = each(program, &[(1024, 1024), (2048, 2048)]);
            rows.extend(["ocl", "ocl_lazy"].map(|v| Row::of(v, &[(1024, 1024)]).with("pile", "start=pile")));
            rows
        }
        "tsp" => each(program, &[]).into_iter().map(|r| r.with("12 cities", "cities=12").long()).collect(),
        "heat3d" => {
            let sizes = &[(512, 128), (1024, 512)];
            let orders = ["patches", "random"].map(|order| {
                let row = move |r: Row| r.with(order, format!("order={order}"));
                each(program, sizes).into_iter().map(row)
            });
            let mut rows: Vec<Row> = orders.into_iter().flatten().collect();
            // Where most patches can sleep.
            rows.extend(["ocl_ell", "ocl_lazy"].map(|v| Row::of(v, &[(1024, 512)]).with("cold", "start=cold")));
            rows
        }
        "histogram" => histogram(),
        "reduce" | "copy" | "scalvec" => each(program, VECTORS),
        "matvec" => {
            let mut rows = each(program, &[(1024, 1024), (4096, 4096)]);
            rows.extend([64, 256].map(|group| Row::of("scalar", LARGE).tiled(group, 1)));
            rows
        }
        "mad" => mad(),
        "bank" => bank(),
        "shape" => shape(program),
        "coalesce" => each(program, &[(2048, 1536), (8192, 4096)]),
        "conv" => conv(program),
        "gauss" => gauss(),
        "nbody" => nbody(program),
        "particles" => particles(),
        "sampler" => sampler(program),
        "resample" => each(program, &[(512, 512), (1023, 767)]),
        "wavelet" => each(program, &[(512, 512), (1024, 1024)]),
        "lu" => each(program, &[(4096, 1), (65536, 1)]),
        "lcs" => {
            let mut rows = each(program, &[(2048, 2048), (8192, 8192)]);
            for variant in ["tiles", "wavefront"] {
                let step =
                    |step: u32| Row::of(variant, &[(8192, 8192)]).with(format!("step {step}"), format!("step={step}"));
                rows.extend([128, 256].map(step));
            }
            rows.into_iter().map(Row::long).collect()
        }
        "fieldblur" => {
            let sizes = &[(512, 512), (1024, 1024)];
            let mut rows = each(program, sizes);
            // Its tiles are the device's.
            rows.push(Row::of("tiled", sizes));
            rows.into_iter().map(Row::long).collect()
        }
        // A few frames: each of them takes the same time.
        "morph" => {
            let sizes = &[(512, 512), (1024, 1024)];
            each(program, sizes).into_iter().map(|r| r.with("10 frames", "frames=10").long()).collect()
        }
        "wave" => {
            let mut rows = each(program, &[(640, 480), (1280, 960)]);
            rows.extend(program.variants().iter().map(|v| Row::of(v.name, &[(640, 480)]).with("slits", "scene=slits")));
            rows
        }
        "flow" => each(program, &[(640, 480), (1920, 1080)]).into_iter().map(Row::long).collect(),
        "cloth" => cloth(program),
        "video" => video(program),
        "idioms" => idioms(),
        _ => each(program, &[]),
    }
}

/// What there is to measure of a program.
pub fn cases(program: &'static dyn Program) -> Vec<Case> {
    let mut cases = Vec::new();
    for row in rows(program) {
        let sizes: Vec<Option<(usize, usize)>> =
            if row.sizes.is_empty() { vec![None] } else { row.sizes.iter().copied().map(Some).collect() };
        for size in sizes {
            let params = Params {
                variant: row.variant.into(),
                size,
                tile_w: row.tile.map(|t| t.0),
                tile_h: row.tile.map(|t| t.1),
                config: row.config.clone(),
                ..Params::default()
            };
            cases.push(Case {
                program: program.name(),
                row: [row.variant, &row.note].iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" "),
                only_reads: matches!(program.name(), "histogram" | "reduce" | "matvec"),
                params,
                place: row.place.clone(),
                only_plot: row.only_plot,
                long: row.long,
            });
        }
    }
    cases
}

impl Case {
    /// The same at another size.
    pub fn sized(&self, size: (usize, usize)) -> Case {
        let params = Params { size: Some(size), ..self.params.clone() };
        Case { params, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_rows_that_it_can_build() {
        for &program in crate::programs() {
            let cases = cases(program);
            assert!(cases.iter().any(|c| !c.only_plot), "{} has no row", program.name());
            for case in &cases {
                let small = case.sized((64, 64)).params;
                assert!(program.build_options(&small).is_ok(), "{} {}: {small:?}", program.name(), case.row);
            }
        }
    }

    #[test]
    fn a_row_has_one_case_a_size() {
        let copy = cases(crate::program("copy").unwrap());
        assert_eq!(copy.len(), 2 * VECTORS.len());
        assert!(copy[..VECTORS.len()].iter().all(|c| c.row == "ocl" && !c.only_reads));
        assert_eq!(copy[0].sized((10, 20)).params.size, Some((10, 20)));
        let mad = cases(crate::program("mad").unwrap());
        assert_eq!(mad[6].place.as_ref().unwrap().x, "96");
    }
}
