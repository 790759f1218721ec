//! `idioms`: what most kernels are made of, such as saxpy, a gather, a tree in local memory, a stencil, sparse rows.
//! Each is written as people write it, in several *spellings*: the type of its indices and what else people write
//! differently.
//!
//! In come size, spelling and group; out come arguments, range and the wanted result ([`Problem`]), computed by plain
//! Rust. One runner uploads, launches and compares. A compiler should make the same code of all spellings of an idiom:
//! `cloom bench -k idioms` compares platforms on them, `cloom bench --self-check` compares widths of vectors.
//!
//! | file | idioms |
//! |---|---|
//! | `memory.rs` | saxpy, strided copy, gather, scatter, transpose, vectors of three floats, records |
//! | `groups.rs` | reduction, histograms, scan, bitonic sort, matrix product: local memory and atomics |
//! | `rows.rs` | a row a work-item: matrix times vector, sparse rows, texts |
//! | `pictures.rs` | stencil, convolution, life, bilinear, grey, Mandelbrot |
//! | `numbers.rs` | table, Black-Scholes, n-body |

mod groups;
mod memory;
mod numbers;
mod pictures;
mod rows;
mod run;

use crate::cl::Session;
use crate::error::Result;
use crate::params::Params;
use crate::program::{Outcome, Program, Variant, Work};

/// The types of indices, as the kernels' `INDEX` names them.
const INDICES: [&str; 3] = ["int", "uint", "size_t"];

/// A way to write an idiom.
struct Form {
    name: &'static str,
    options: &'static str,
}

/// The form of an idiom that has one.
const PLAIN: &[Form] = &[Form { name: "plain", options: "" }];

/// An idiom.
struct Idiom {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    /// The kernel's name; that of the idiom where it is no word of OpenCL C.
    kernel: &'static str,
    forms: &'static [Form],
    /// The size where none is given: the kernel takes milliseconds then.
    size: (usize, usize),
    /// The work-group where none is given.
    group: (usize, usize),
    /// Groups are squares, and `TILE` is their side.
    tiled: bool,
    problem: fn(&Ask) -> Problem,
}

/// What a problem is made for.
struct Ask {
    w: usize,
    h: usize,
    tw: usize,
    th: usize,
    form: &'static str,
}

impl Ask {
    /// Elements of an idiom with one dimension.
    fn n(&self) -> usize {
        self.w * self.h
    }

    /// Work-items of a group with one dimension.
    fn group(&self) -> usize {
        self.tw * self.th
    }

    /// The same for a kernel that halves its group until one is left.
    fn group_of_two_to_the(&self) -> usize {
        1 << self.group().ilog2()
    }

    fn is(&self, form: &str) -> bool {
        self.form == form
    }
}

/// Contents of a buffer.
enum Data {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
    Floats(Vec<f32>),
    /// Elements of the type `COUNT`.
    Indices(Vec<usize>),
}

/// What a buffer must hold after a launch.
enum Want {
    /// Bytes; each may be off by so many.
    Bytes(Vec<u8>, u8),
    /// Exactly these words.
    Words(Vec<u32>),
    /// Floats; each may be off by the tolerance beside it.
    Floats(Vec<f64>, Vec<f64>),
}

/// An argument of the kernel.
enum Argument {
    /// A buffer that is only read.
    In(Data),
    /// A buffer that holds the first before each launch, and the second after it.
    Update(Data, Want),
    /// A buffer that is written.
    Out(Want),
    /// A number of the type `COUNT`.
    Count(usize),
    U32(u32),
    F32(f32),
    /// Bytes of local memory.
    Local(usize),
}

/// A launch and what must come of it.
struct Problem {
    args: Vec<Argument>,
    global: Vec<usize>,
    local: Vec<usize>,
    work: Work,
}

impl Problem {
    /// One dimension: `n` work-items, rounded up to whole groups.
    fn line(n: usize, group: usize, work: Work, args: Vec<Argument>) -> Problem {
        Problem { args, global: vec![n.next_multiple_of(group)], local: vec![group], work }
    }

    /// Two dimensions: `w` by `h` work-items, rounded up to whole groups.
    fn plane((w, h): (usize, usize), ask: &Ask, work: Work, args: Vec<Argument>) -> Problem {
        let global = vec![w.next_multiple_of(ask.tw), h.next_multiple_of(ask.th)];
        Problem { args, global, local: vec![ask.tw, ask.th], work }
    }
}

/// All idioms, in the order of the files.
fn all() -> impl Iterator<Item = &'static Idiom> {
    [memory::ALL, groups::ALL, rows::ALL, pictures::ALL, numbers::ALL].into_iter().flatten()
}

/// Every spelling: the idiom, the spelling's name in a row, the knobs that choose it.
pub(crate) fn spellings() -> impl Iterator<Item = (&'static str, String, String)> {
    let of = |idiom: &'static Idiom| {
        idiom.forms.iter().flat_map(move |form| {
            INDICES.map(|index| {
                let note = if form.name == "plain" { index.to_owned() } else { format!("{} {index}", form.name) };
                (idiom.name, note, format!("index={index},form={}", form.name))
            })
        })
    };
    all().flat_map(of)
}

/// A spelling that was asked for.
struct Spelling {
    idiom: &'static Idiom,
    index: &'static str,
    form: &'static Form,
}

impl Spelling {
    fn of(params: &Params) -> Result<Spelling> {
        let name = Idioms.variant(params)?;
        params.only(&["index", "form"])?;
        // The name is one of the list.
        let idiom = all().find(|i| i.name == name).unwrap_or(&memory::ALL[0]);
        let forms: Vec<&str> = idiom.forms.iter().map(|f| f.name).collect();
        let form = params.choice("form", &forms)?;
        let form = idiom.forms.iter().find(|f| f.name == form).unwrap_or(&idiom.forms[0]);
        let index = params.choice("index", &INDICES)?;
        Ok(Spelling { idiom, index, form })
    }

    /// Bytes of a `COUNT`.
    fn count_bytes(&self) -> usize {
        if self.index == "size_t" { 8 } else { 4 }
    }

    fn ask(&self, params: &Params) -> Result<Ask> {
        let (w, h) = params.size_or(self.idiom.size.0, self.idiom.size.1)?;
        let (tw, th) = params.tile_or(self.idiom.group.0, self.idiom.group.1)?;
        // `TILE` is one number: the kernel's local array is a square.
        let th = if self.idiom.tiled { tw } else { th };
        Ok(Ask { w, h, tw, th, form: self.form.name })
    }

    fn options(&self, params: &Params) -> Result<String> {
        // A kernel has no argument of the type size_t.
        let count = if self.index == "size_t" { "ulong" } else { self.index };
        let mut options = format!("-DINDEX={} -DCOUNT={count}", self.index);
        if self.idiom.tiled {
            options += &format!(" -DTILE={}", self.ask(params)?.tw);
        }
        if !self.form.options.is_empty() {
            options += " ";
            options += self.form.options;
        }
        Ok(options)
    }
}

/// The program of all idioms; a variant is an idiom.
pub(crate) struct Idioms;

/// The variants, made of the list of idioms at compile time.
const COUNT: usize = memory::ALL.len() + groups::ALL.len() + rows::ALL.len() + pictures::ALL.len() + numbers::ALL.len();
const VARIANTS: [Variant; COUNT] = {
    let files = [memory::ALL, groups::ALL, rows::ALL, pictures::ALL, numbers::ALL];
    let mut variants = [Variant { name: "", about: "" }; COUNT];
    let (mut file, mut at) = (0, 0);
    while file < files.len() {
        let mut i = 0;
        while i < files[file].len() {
            variants[at] = Variant { name: files[file][i].name, about: files[file][i].about };
            at += 1;
            i += 1;
        }
        file += 1;
    }
    variants
};

impl Program for Idioms {
    fn name(&self) -> &'static str {
        "idioms"
    }

    fn about(&self) -> &'static str {
        "what kernels are made of, in several spellings"
    }

    fn variants(&self) -> &'static [Variant] {
        &VARIANTS
    }

    fn knobs(&self) -> &'static [&'static str] {
        &[
            "index=int|uint|size_t: the type of the indices",
            "form=plain|…: another way to write it; a wrong one lists those of the variant",
        ]
    }

    fn source(&self, params: &Params) -> &'static str {
        let wanted = all().find(|i| i.name == params.variant);
        wanted.unwrap_or(&memory::ALL[0]).source
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let spelling = Spelling::of(params)?;
        Ok((spelling.options(params)?, spelling.idiom.kernel.into()))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        run::run(session, params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_has_the_options_of_its_index_its_form_and_its_tile() {
        let options = |variant: &str, config: &str| {
            let params = Params { variant: variant.into(), config: config.into(), ..Params::default() };
            Idioms.build_options(&params).map(|(options, kernel)| format!("{kernel} {options}"))
        };
        assert_eq!(options("gather", "").unwrap(), "gather -DINDEX=int -DCOUNT=int");
        assert_eq!(
            options("saxpy", "index=size_t,form=compound").unwrap(),
            "saxpy -DINDEX=size_t -DCOUNT=ulong -DCOMPOUND"
        );
        assert_eq!(
            options("matmul", "index=uint,form=flat").unwrap(),
            "matmul -DINDEX=uint -DCOUNT=uint -DTILE=16 -DFLAT"
        );
        assert!(options("saxpy", "index=long").is_err());
        assert!(options("saxpy", "form=flat").unwrap_err().to_string().contains("compound"));
    }

    #[test]
    fn every_spelling_is_one_that_can_be_asked_for() {
        let spellings: Vec<_> = spellings().collect();
        assert!(spellings.len() > 100, "{}", spellings.len());
        for (variant, _, config) in spellings {
            let params = Params { variant: variant.into(), config, ..Params::default() };
            assert!(Spelling::of(&params).is_ok_and(|s| s.idiom.name == variant), "{params:?}");
            assert!(Idioms.source(&params).contains(&format!("{}(", Spelling::of(&params).unwrap().idiom.kernel)));
        }
    }
}
