//! Native Rust for comparison with OpenCL: the same work on the same inputs.
//!
//! In goes the name of a program with its parameters, out comes an [`Outcome`] whose times are those of the host's
//! clock. Two styles: plain loops on one thread, and loops written for vectors on all threads. Vectors come from
//! `pulp`, which chooses the machine's best instructions at run time and needs no unsafe code here; threads from
//! `rayon`. The verdict is left open: the answer is there to be compared with one that a reference has confirmed.

mod mandel;
mod simple;
mod strands;

use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Verdict};
use crate::round_robin::{RoundRobinSlot, measured};
use std::time::Duration;

/// How it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Plain loops, one thread.
    Scalar,
    /// Vectors, all threads.
    Vector,
}

/// Measures what it is given.
pub(crate) struct Clock<'a> {
    slot: Option<&'a RoundRobinSlot>,
    iterations: u32,
    times: crate::cl::Times,
}

impl Clock<'_> {
    fn measure(&mut self, body: impl FnMut()) {
        self.times = measured(self.slot, self.iterations, body);
    }
}

type Body = fn(&Params, Style, &mut Clock<'_>) -> Result<Answer>;

/// What there is, by the programs' names.
const ALL: &[(&str, Body)] = &[
    ("copy", simple::copy),
    ("scalvec", simple::scalvec),
    ("mad", simple::mad),
    ("matvec", simple::matvec),
    ("reduce", simple::reduce),
    ("histogram", simple::histogram),
    ("transpose", simple::transpose),
    ("mandel", mandel::run),
    ("lcs", strands::run),
];

/// Whether there is a native version of a program that answers what it does with these parameters.
fn body(program: &str, params: &Params) -> Option<Body> {
    // Only where the native version computes what the variant does: another view, table or sum would compare two tasks.
    let asks_the_same = match program {
        "mandel" => params.variant == "ocl" && params.text("view") == Some("still"),
        "lcs" => params.text("problem") != Some("edit") && strands::has_step(params),
        "histogram" => params.text("stage").is_none() && params.text("sweep").is_none(),
        "reduce" => !crate::programs::numeric::reduce::FLOATS.contains(&params.variant.as_str()),
        "mad" => params.variant == "ocl" && params.text("k").is_some(),
        _ => true,
    };
    ALL.iter().find(|(name, _)| *name == program && asks_the_same).map(|(_, body)| *body)
}

/// Whether there is a native version of a program with these parameters.
pub fn has_native(program: &str, params: &Params) -> bool {
    body(program, params).is_some()
}

/// Runs the native version of a program, if there is one; `slot` is dropped when it has measured.
pub fn native(program: &str, params: &Params, style: Style, slot: Option<RoundRobinSlot>) -> Option<Result<Outcome>> {
    let body = body(program, params)?;
    let mut clock = Clock { slot: slot.as_ref(), iterations: params.iterations, times: crate::cl::Times::default() };
    Some(body(params, style, &mut clock).map(|answer| Outcome {
        variant: match style {
            Style::Scalar => "scalar",
            Style::Vector => "vector",
        },
        size: String::new(),
        build: Duration::ZERO,
        times: clock.times,
        work: None,
        verdict: Verdict::Passed("not yet compared".into()),
        answer,
        picture: None,
        chart: None,
        notes: Vec::new(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(program: &str, variant: &str, size: (usize, usize), config: &str) -> [Answer; 2] {
        let params = Params { variant: variant.into(), size: Some(size), config: config.into(), ..Params::default() };
        [Style::Scalar, Style::Vector].map(|style| native(program, &params, style, None).unwrap().unwrap().answer)
    }

    #[test]
    fn both_styles_give_the_same_at_odd_sizes() {
        for (program, variant, config) in [
            ("copy", "ocl", ""),
            ("scalvec", "one", ""),
            ("reduce", "tile", ""),
            ("histogram", "serial", "input=random"),
            ("transpose", "ocl", ""),
            ("mandel", "ocl", "max=200,view=still"),
            ("lcs", "tiles", ""),
            ("lcs", "tiles", "step=128"),
        ] {
            for size in [(1, 1), (67, 41), (203, 517)] {
                let [scalar, vector] = answers(program, variant, size, config);
                let Answer::Exact(numbers) = &scalar else { panic!("{program}") };
                assert!(!numbers.is_empty());
                assert_eq!(scalar.compare(&vector), Verdict::Passed("bit for bit".into()), "{program} {size:?}");
            }
        }
    }

    #[test]
    fn sums_in_another_order_are_close() {
        for (program, variant, config) in [("mad", "ocl", "k=19"), ("matvec", "scalar", "")] {
            let [Answer::Close { values: a, .. }, Answer::Close { values: b, .. }] =
                answers(program, variant, (301, 77), config)
            else {
                panic!("{program}")
            };
            let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4 * (1.0 + a.abs());
            assert!(a.len() == b.len() && a.len() >= 77 && a.iter().zip(&b).all(close), "{program}");
        }
    }

    #[test]
    fn what_asks_something_else_has_no_native_version() {
        let asks = |program: &str, variant: &str, config: &str| {
            body(program, &Params { variant: variant.into(), config: config.into(), ..Params::default() }).is_some()
        };
        assert!(asks("reduce", "tile", "") && !asks("reduce", "twopass", ""));
        assert!(
            asks("mandel", "ocl", "view=still")
                && !asks("mandel", "ocl", "")
                && !asks("mandel", "threads", "view=still")
        );
        assert!(!asks("lcs", "tiles", "problem=edit") && !asks("lcs", "tiles", "step=96") && !asks("life", "ocl", ""));
        assert!(!asks("histogram", "strided", "stage=2"));
    }
}
