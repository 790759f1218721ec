//! How many operations of a class the machine executes in a second: loops of nothing but those operations.
//!
//! In comes a [`Port`], a loop in OpenCL C; out come the times of launches. Which operations the machine code of the
//! loop has, and how many, the compiler's own counts say: nothing here must know what becomes of the source. So all
//! classes are measured in one way, by the code that the compiler makes of them, on any machine. (The other way, a
//! loop with `pulp`, has no gathers, divisions and permutations of all widths.)
//!
//! A rate is the highest one that any of the loops reached: a loop that another resource limits does no harm.

use crate::args;
use crate::cl::Session;
use crate::error::{Error, Result};
use crate::program::{Answer, Outcome, Verdict};

/// What stands for these loops where a program's name is expected.
pub const NAME: &str = "ports";

const SOURCE: &str = include_str!("../kernels/ports.cl");

/// A loop.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name: kernel, types and chains.
    pub name: String,
    kernel: &'static str,
    options: String,
    /// Work-items of a group.
    group: usize,
    /// Repetitions that take some tens of microseconds.
    pub repeat: u32,
}

/// Kernels that are measured on vectors of floats, with their repetitions.
const VECTORS: &[(&str, u32)] = &[
    ("fma", 2000),
    ("add", 2000),
    ("divide", 200),
    ("root", 200),
    ("integer", 2000),
    ("multiply", 1000),
    ("fma_add", 2000),
    ("fma_integer", 2000),
    ("shuffle", 2000),
    ("load", 2000),
    ("store", 2000),
    ("all", 2000),
];

/// Those that are also measured one work-item at a time, and those of general registers.
const SCALARS: &[(&str, u32)] = &[
    ("fma", 8000),
    ("add", 8000),
    ("divide", 2000),
    ("root", 2000),
    ("scalar", 8000),
    ("scalar_divide", 1000),
    ("load_scalar", 8000),
    ("store", 8000),
    ("fma_scalar", 8000),
    ("all", 8000),
];

/// Work-items of a group of vectors.
const GROUP: usize = 64;

impl Port {
    fn new(kernel: &'static str, (t, i): (&str, &str), chains: u32, group: usize, repeat: u32) -> Port {
        let shape = if group == 1 { " -DSELF" } else { "" };
        Port {
            name: format!("{kernel} {t} {chains}{shape}"),
            kernel,
            options: format!("-DT={t} -DI={i} -DEACH=EACH{chains}{shape}"),
            group,
            repeat,
        }
    }
}

/// All loops.
pub fn all() -> Vec<Port> {
    let (single, double) = (("float", "int"), ("double", "long"));
    let mut list = Vec::new();
    for chains in [3, 6] {
        list.extend(VECTORS.iter().map(|&(kernel, repeat)| Port::new(kernel, single, chains, GROUP, repeat)));
    }
    for (kernel, group) in [("divide", GROUP), ("root", GROUP), ("divide", 1)] {
        list.push(Port::new(kernel, double, 6, group, 200));
    }
    for chains in [6, 12] {
        list.extend(SCALARS.iter().map(|&(kernel, repeat)| Port::new(kernel, single, chains, 1, repeat)));
    }
    for (kernel, repeat) in [("gather", 200), ("scatter", 200), ("atomic", 50)] {
        list.push(Port::new(kernel, single, 3, GROUP, repeat));
    }
    list
}

/// An empty kernel: what a launch costs.
pub fn empty() -> Port {
    Port::new("empty", ("float", "int"), 3, GROUP, 1)
}

/// The loop of that name.
pub fn named(name: &str) -> Result<Port> {
    all().into_iter().chain([empty()]).find(|p| p.name == name).ok_or_else(|| Error::NotFound {
        what: "loop",
        wanted: name.to_owned(),
        have: all().into_iter().map(|p| p.name).collect(),
    })
}

/// Runs a loop in so many groups, with so many repetitions. The result is not compared with anything; chains of
/// divisions and roots come to 1, and no number is one that makes an operation slower than others.
pub fn run(session: &Session, port: &Port, groups: usize, repeat: u32, iterations: u32) -> Result<Outcome> {
    let built = session.build(NAME, SOURCE, &port.options)?;
    let kernel = built.kernel(&format!("{}_", port.kernel))?;
    let floats: Vec<f32> = (0..4096).map(|i| 1.0 + (i % 7) as f32 / 8.0).collect();
    // As bits, of which a double has two halves.
    let bits: Vec<u32> = match port.name.contains("double") {
        true => floats.iter().map(|&f| f64::from(f).to_bits()).flat_map(|b| [b as u32, (b >> 32) as u32]).collect(),
        false => floats.iter().map(|f| f.to_bits()).collect(),
    };
    let numbers: Vec<u32> = (0..4096).map(|i| u32::wrapping_mul(i, 2_654_435_769)).collect();
    let (input, more) = (session.upload(&bits)?, session.upload(&numbers)?);
    let out = session.zeroed::<u32>(groups * 4096)?;
    let times = session.measure(iterations, |_| {
        let arguments = args![&out, &input, &more, &more, repeat as i32];
        session.launch(&kernel, arguments, &[groups * port.group], &[port.group])?;
        Ok(true)
    })?;
    Ok(Outcome {
        variant: port.kernel,
        size: format!("{groups} groups"),
        build: built.time,
        times,
        work: None,
        verdict: Verdict::Passed("not compared".into()),
        answer: Answer::Exact(Vec::new()),
        picture: None,
        chart: None,
        notes: Vec::new(),
    })
}
