//! `matvec`: a row-major matrix times a vector, compared with native Rust on one thread and on all. With denormal
//! numbers as input and `-cl-denorms-are-zero` it shows whether a platform becomes much slower on them.

use crate::args;
use crate::cl::{Arg, Session, round_up};
use crate::common::threads;
use crate::error::Result;
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Work, close};
use crate::random::Random;
use std::time::Instant;

pub struct Matvec;

const SOURCE: &str = include_str!("../../../kernels/matvec.cl");

fn native(a: &[f32], x: &[f32], threads: usize) -> Vec<f32> {
    let mut y = vec![0.0; a.len() / x.len()];
    threads::rows(&mut y, 1, threads, |r, out| {
        out[0] = a[r * x.len()..][..x.len()].iter().zip(x).map(|(a, x)| a * x).sum();
    });
    y
}

fn denormal(params: &Params) -> Result<bool> {
    Ok(params.choice("input", &["normal", "denormal"])? == "denormal")
}

/// The matrix and the vector.
pub(crate) fn input(params: &Params) -> Result<(Vec<f32>, Vec<f32>)> {
    let (columns, rows) = params.size_or(4096, 4096)?;
    let mut random = Random::new(4096);
    // Every number of the matrix is denormal then, and so are most products.
    let scale = if denormal(params)? { 1e-39 } else { 1.0 };
    let a = (0..columns * rows).map(|_| random.signed() * scale).collect();
    let x = (0..columns).map(|_| random.signed()).collect();
    Ok((a, x))
}

impl Program for Matvec {
    fn name(&self) -> &'static str {
        "matvec"
    }

    fn about(&self) -> &'static str {
        "a matrix times a vector"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "scalar", about: "one work-item a row, number by number" },
            Variant { name: "float4", about: "one work-item a row, four numbers at once" },
            Variant { name: "float16", about: "one work-item a row, sixteen numbers at once" },
            Variant { name: "team", about: "one group a row, four numbers at once" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["input=normal|denormal: the numbers", "denorms=keep|zero: zero builds with -cl-denorms-are-zero"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        params.only(&["input", "denorms"])?;
        let zero = params.choice("denorms", &["keep", "zero"])? == "zero";
        let options = if zero { "-cl-denorms-are-zero" } else { "" };
        Ok((options.into(), format!("matvec_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let denormal = denormal(params)?;
        let (columns, rows) = params.size_or(4096, 4096)?;
        let (a, x) = input(params)?;

        let built = session.build("matvec", SOURCE, &options)?;
        let kernel = built.kernel(&name)?;
        let (a_buffer, x_buffer) = (session.upload(&a)?, session.upload(&x)?);
        let y = session.zeroed::<f32>(rows)?;
        let group = params.group_or(if variant == "team" { 128 } else { 16 })?;
        let times = session.measure(params.iterations, |_| {
            let (columns, count) = (columns as u32, rows as u32);
            if variant == "team" {
                let args = args![&a_buffer, &x_buffer, &y, columns, count, Arg::Local(group * 4)];
                session.launch(&kernel, args, &[rows * group], &[group])?;
            } else {
                let args = args![&a_buffer, &x_buffer, &y, columns, count];
                session.launch(&kernel, args, &[round_up(rows, group)], &[group])?;
            }
            Ok(true)
        })?;
        let got = session.read(&y)?;

        let (mut want, mut limits) = (vec![0.0f64; rows], vec![0.0f64; rows]);
        for r in 0..rows {
            for (a, x) in a[r * columns..][..columns].iter().zip(&x) {
                let product = f64::from(*a) * f64::from(*x);
                want[r] += product;
                limits[r] += product.abs();
            }
            // The bound of any order of summation; where denormals may count as zero, each product may be lost.
            limits[r] *= (columns + 2) as f64 * f64::from(f32::EPSILON);
            limits[r] += columns as f64 * if denormal { f64::from(f32::MIN_POSITIVE) } else { 1e-45 };
        }
        let mut notes = Vec::new();
        for threads in [1, threads::count()] {
            let start = Instant::now();
            // The sum is printed so that the compiler cannot leave the product out.
            let sum: f32 = native(&a, &x, threads).iter().sum();
            notes.push(format!(
                "native Rust on {threads} thread{}: {:.3} ms (sum {sum:.3e})",
                if threads == 1 { "" } else { "s" },
                start.elapsed().as_secs_f64() * 1e3
            ));
        }
        Ok(Outcome {
            variant,
            size: format!("{rows} rows of {columns}, groups of {group}"),
            build: built.time,
            times,
            work: Some(Work::of_flops((columns * rows * 2) as f64).moving((columns * rows + columns + rows) * 4)),
            verdict: close(&got, &want, |i| limits[i], "rows"),
            answer: Answer::close(got, |i| limits[i]),
            picture: None,
            chart: None,
            notes,
        })
    }
}
