//! A program of the gallery, and the outcome of a run.

use crate::chart::Chart;
use crate::cl::{Session, Times};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::picture::Picture;
use std::time::Duration;

/// One way to write a program's kernel.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What is particular about it.
    pub about: &'static str,
}

/// The work of an iteration, to compute rates and fractions of the machine's limits.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// How many of the unit.
    pub amount: f64,
    /// Such as `byte`, `pixel`, `flop`.
    pub unit: &'static str,
    /// The bytes of global memory that it cannot do without: what each pass reads and writes, every element counted
    /// once.
    pub bytes: f64,
    /// Additions and multiplications of floats, one each; comparisons, conversions and integers do not count.
    pub flops: f64,
}

impl Work {
    /// So many of a unit, of which neither bytes nor operations count.
    pub fn new(amount: f64, unit: &'static str) -> Work {
        Work { amount, unit, bytes: 0.0, flops: 0.0 }
    }

    /// Bytes are the unit.
    pub fn of_bytes(bytes: usize) -> Work {
        Work::new(bytes as f64, "byte").moving(bytes)
    }

    /// Floating-point operations are the unit.
    pub fn of_flops(flops: f64) -> Work {
        Work::new(flops, "flop").computing(flops)
    }

    /// The same, which moves so many bytes.
    pub fn moving(self, bytes: usize) -> Work {
        Work { bytes: bytes as f64, ..self }
    }

    /// The same, which does so many floating-point operations.
    pub fn computing(self, flops: f64) -> Work {
        Work { flops, ..self }
    }
}

/// The verdict of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It agrees; the text says with what and how closely.
    Passed(String),
    /// It does not; the text says where and what was expected.
    Failed(String),
}

/// The result of a run, in a form that does not depend on the number of groups or threads: devices are compared by it.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Every bit counts.
    Exact(Vec<u32>),
    /// Rounding may differ from device to device.
    Close {
        /// The numbers.
        values: Vec<f32>,
        /// By how much each may differ.
        tolerance: Vec<f32>,
    },
}

impl Answer {
    /// Numbers with a tolerance for each.
    pub fn close(values: Vec<f32>, tolerance: impl Fn(usize) -> f64) -> Answer {
        let tolerance = (0..values.len()).map(|i| tolerance(i) as f32).collect();
        Answer::Close { values, tolerance }
    }

    /// How this answer and another one to the same question compare.
    pub fn compare(&self, other: &Answer) -> Verdict {
        match (self, other) {
            (Answer::Exact(a), Answer::Exact(b)) if a.len() != b.len() => {
                Verdict::Failed(format!("{} words and {}", a.len(), b.len()))
            }
            (Answer::Exact(a), Answer::Exact(b)) => match (0..a.len()).find(|&i| a[i] != b[i]) {
                None => Verdict::Passed("bit for bit".into()),
                Some(i) => Verdict::Failed(format!("word {i} of {}: {:#x} and {:#x}", a.len(), a[i], b[i])),
            },
            (Answer::Close { values: a, tolerance }, Answer::Close { values: b, .. }) => {
                // By bits first: two results with the same not-a-number are equal, though it is close to nothing.
                if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()) {
                    return Verdict::Passed("bit for bit".into());
                }
                let wanted: Vec<f64> = b.iter().map(|&v| f64::from(v)).collect();
                close(a, &wanted, |i| f64::from(tolerance[i]), "number")
            }
            _ => Verdict::Failed("answers of different kinds".into()),
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The variant that ran.
    pub variant: &'static str,
    /// The size, as the program names it.
    pub size: String,
    /// How long building the kernels took.
    pub build: Duration,
    /// How long each iteration took.
    pub times: Times,
    /// What an iteration did.
    pub work: Option<Work>,
    /// What the reference says.
    pub verdict: Verdict,
    /// The result itself, to compare devices by.
    pub answer: Answer,
    /// The result as a picture.
    pub picture: Option<Picture>,
    /// The result as a plot.
    pub chart: Option<Chart>,
    /// Further notes, a line each.
    pub notes: Vec<String>,
}

/// A program of the gallery.
pub trait Program: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// What it does, in a line.
    fn about(&self) -> &'static str;
    /// The ways to write its kernel; the first one is the default.
    fn variants(&self) -> &'static [Variant];
    /// The knobs of `-c`, a line each: `key=values: meaning`.
    fn knobs(&self) -> &'static [&'static str] {
        &[]
    }
    /// The source of the kernels that these parameters use.
    fn source(&self, params: &Params) -> &'static str;
    /// The build options and the kernel's name that a run with these parameters would use, for tools that only compile.
    fn build_options(&self, params: &Params) -> Result<(String, String)>;
    /// Runs it and checks the result.
    fn run(&self, session: &Session, params: &Params) -> Result<Outcome>;

    /// The variant asked for.
    fn variant(&self, params: &Params) -> Result<&'static str> {
        let all = self.variants();
        if params.variant.is_empty() {
            return Ok(all[0].name);
        }
        all.iter().find(|v| v.name == params.variant).map(|v| v.name).ok_or_else(|| Error::NotFound {
            what: "variant",
            wanted: params.variant.clone(),
            have: all.iter().map(|v| v.name.to_owned()).collect(),
        })
    }
}

/// Compares exactly.
pub fn same<T: PartialEq + std::fmt::Debug>(got: &[T], want: &[T], what: &str) -> Verdict {
    if got.len() != want.len() {
        return Verdict::Failed(format!("{} {what}, expected {}", got.len(), want.len()));
    }
    let wrong = got.iter().zip(want).filter(|(a, b)| a != b).count();
    match got.iter().zip(want).position(|(a, b)| a != b) {
        // What they are is known in the plural.
        None if got.len() == 1 => Verdict::Passed("the result equals the reference".into()),
        None => Verdict::Passed(format!("all {} {what} equal the reference", got.len())),
        Some(i) => Verdict::Failed(format!(
            "{wrong} of {} {what} differ from the reference; the first at {i}: {:?}, expected {:?}",
            got.len(),
            got[i],
            want[i]
        )),
    }
}

/// Compares pictures exactly; says where they differ.
pub fn same_picture(got: &Picture, want: &Picture) -> Verdict {
    let Some(i) = got.pixels.iter().zip(&want.pixels).position(|(a, b)| a != b) else {
        return same(&got.pixels, &want.pixels, "pixels");
    };
    let wrong = got.pixels.iter().zip(&want.pixels).filter(|(a, b)| a != b).count();
    Verdict::Failed(format!(
        "{wrong} of {} pixels differ from the reference; the first at ({}, {}): {:#010x}, expected {:#010x}",
        got.pixels.len(),
        i % got.width,
        i / got.width,
        got.pixels[i],
        want.pixels[i]
    ))
}

/// Compares within a tolerance for each element; not-a-number is never close to anything.
pub fn close(got: &[f32], want: &[f64], tolerance: impl Fn(usize) -> f64, what: &str) -> Verdict {
    if got.len() != want.len() {
        return Verdict::Failed(format!("{} {what}, expected {}", got.len(), want.len()));
    }
    let mut worst = 0.0f64;
    for (i, (&g, &w)) in got.iter().zip(want).enumerate() {
        let (error, limit) = ((f64::from(g) - w).abs(), tolerance(i));
        if error.is_nan() || error > limit {
            return Verdict::Failed(format!("{what} {i}: {g:e}, expected {w:e} within {limit:e}"));
        }
        worst = worst.max(if limit > 0.0 { error / limit } else { 0.0 });
    }
    Verdict::Passed(match got.len() {
        1 => format!("the result is within the tolerance; its error is {worst:.3} of it"),
        n => format!("all {n} {what} within the tolerance; the largest error is {worst:.3} of it"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparing_finds_one_wrong_element_and_not_a_number() {
        assert_eq!(same(&[1, 2, 3], &[1, 2, 3], "sums"), Verdict::Passed("all 3 sums equal the reference".into()));
        assert_eq!(same(&[1], &[1], "sums"), Verdict::Passed("the result equals the reference".into()));
        assert!(matches!(same(&[1, 2, 3], &[1, 2, 4], "x"), Verdict::Failed(_)));
        assert!(matches!(same(&[1, 2], &[1, 2, 4], "x"), Verdict::Failed(_)));
        let near = Verdict::Passed("the result is within the tolerance; its error is 0.000 of it".into());
        assert_eq!(close(&[1.0], &[1.0], |_| 1e-6, "x"), near);
        assert!(matches!(close(&[1.0], &[1.0 + 1e-7], |_| 1e-6, "x"), Verdict::Passed(_)));
        assert!(matches!(close(&[1.0], &[1.1], |_| 1e-6, "x"), Verdict::Failed(_)));
        assert!(matches!(close(&[f32::NAN], &[1.0], |_| 1.0, "x"), Verdict::Failed(_)));
    }

    #[test]
    fn answers_are_compared_by_bits_or_within_their_tolerance() {
        let exact = |v: &[u32]| Answer::Exact(v.to_vec());
        let about = |v: &[f32]| Answer::close(v.to_vec(), |i| if i == 0 { 0.5 } else { 0.0 });
        assert_eq!(exact(&[1, 2]).compare(&exact(&[1, 2])), Verdict::Passed("bit for bit".into()));
        assert_eq!(exact(&[1, 2]).compare(&exact(&[1, 3])), Verdict::Failed("word 1 of 2: 0x2 and 0x3".into()));
        assert!(matches!(exact(&[1, 2]).compare(&exact(&[1])), Verdict::Failed(_)));
        assert_eq!(about(&[1.0, 2.0]).compare(&about(&[1.0, 2.0])), Verdict::Passed("bit for bit".into()));
        assert!(matches!(about(&[1.0, 2.0]).compare(&about(&[1.25, 2.0])), Verdict::Passed(_)));
        assert!(matches!(about(&[1.0, 2.0]).compare(&about(&[1.0, 2.25])), Verdict::Failed(_)));
        assert!(matches!(about(&[1.0]).compare(&about(&[f32::NAN])), Verdict::Failed(_)));
        assert!(matches!(about(&[1.0]).compare(&exact(&[1])), Verdict::Failed(_)));
    }
}
