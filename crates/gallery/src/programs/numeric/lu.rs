//! `lu`: LU decomposition with partial pivoting of many 6×6 matrices. One work-item or a team of six a matrix; loops,
//! masked loops or a generated kernel with every step written out. The product of the factors is compared with every
//! matrix.

use crate::args;
use crate::cl::Session;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Program, Variant, Verdict, Work};
use crate::random::Random;
use std::fmt::Write;

pub struct Lu;

const SOURCE: &str = include_str!("../../../kernels/lu.cl");
const N: usize = 6;

/// The kernel with every step written out: no loop, no index, each element a variable.
fn unrolled() -> String {
    let mut s = String::from(
        "__kernel void lu_unrolled(__global float *matrices, __global int *pivots, unsigned count)\n{\n\
         if (get_global_id(0) >= count)\nreturn;\n\
         __global float *m = matrices + get_global_id(0) * 36;\n__global int *p = pivots + get_global_id(0) * 6;\n\
         float most, t, f;\nint best;\n",
    );
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(s, "{text}");
    };
    for i in 0..N {
        for j in 0..N {
            line(format!("float a{i}{j} = m[{}];", i * N + j));
        }
    }
    for k in 0..N {
        line(format!("best = {k}; most = fabs(a{k}{k});"));
        for i in k + 1..N {
            line(format!("if (fabs(a{i}{k}) > most) {{ best = {i}; most = fabs(a{i}{k}); }}"));
        }
        line(format!("p[{k}] = best;"));
        for i in k + 1..N {
            for j in 0..N {
                line(format!(
                    "t = a{k}{j}; a{k}{j} = best == {i} ? a{i}{j} : a{k}{j}; a{i}{j} = best == {i} ? t : a{i}{j};"
                ));
            }
        }
        for i in k + 1..N {
            line(format!("f = a{i}{k} / a{k}{k}; a{i}{k} = f;"));
            for j in k + 1..N {
                line(format!("a{i}{j} -= f * a{k}{j};"));
            }
        }
    }
    for i in 0..N {
        for j in 0..N {
            line(format!("m[{}] = a{i}{j};", i * N + j));
        }
    }
    s.push_str("}\n");
    s
}

/// The largest difference to the original, relative to its largest element, that rounding may leave.
const RESIDUAL: f64 = 1e-5;

/// Multiplies the factors, undoes the pivots' row exchanges and compares with the matrix. Returns the product and the
/// residual.
fn check(original: &[f32], factors: &[f32], pivots: &[i32]) -> std::result::Result<([f32; N * N], f64), String> {
    let mut rows: Vec<usize> = (0..N).collect();
    for (k, &p) in pivots.iter().enumerate() {
        let p = usize::try_from(p).ok().filter(|p| (k..N).contains(p)).ok_or(format!("pivot {k} is row {p}"))?;
        // The exchanges in the order in which the kernel made them: each acts on rows that earlier ones have moved.
        rows.swap(k, p);
    }
    let at = |m: &[f32], i: usize, j: usize| f64::from(m[i * N + j]);
    let largest = largest(original);
    let mut back = [0.0; N * N];
    let mut residual = 0.0f64;
    for (i, &row) in rows.iter().enumerate() {
        for j in 0..N {
            let size = at(factors, i, j).abs();
            // With the largest pivot, no factor below the diagonal exceeds one. Without this test, a kernel that does
            // not pivot would pass on harmless matrices.
            if i > j && (size.is_nan() || size > 1.0 + 1e-6) {
                return Err(format!("factor {i},{j} is {}: the pivot was not the largest", at(factors, i, j)));
            }
            let product: f64 = (0..=i.min(j))
                // The lower factor's diagonal is one, and is not stored.
                .map(|k| if k == i { at(factors, k, j) } else { at(factors, i, k) * at(factors, k, j) })
                .sum();
            back[row * N + j] = product as f32;
            let error = (product - at(original, row, j)).abs();
            if error.is_nan() {
                return Err("not a number".into());
            }
            residual = residual.max(error / largest);
        }
    }
    Ok((back, residual))
}

fn largest(matrix: &[f32]) -> f64 {
    matrix.iter().fold(0.0f64, |m, v| m.max(f64::from(v.abs())))
}

/// Columns of a row-major matrix one after another.
fn transposed<T: Copy>(m: &[T], width: usize) -> Vec<T> {
    let height = m.len() / width;
    (0..m.len()).map(|i| m[i % height * width + i / height]).collect()
}

impl Lu {
    fn teams(params: &Params) -> Result<u32> {
        params.only(&["teams"])?;
        params.number("teams", 32, 1..=1024)
    }
}

impl Program for Lu {
    fn name(&self) -> &'static str {
        "lu"
    }

    fn about(&self) -> &'static str {
        "LU decomposition of many 6x6 matrices"
    }

    fn variants(&self) -> &'static [Variant] {
        &[
            Variant { name: "global", about: "one work-item a matrix, in global memory" },
            Variant { name: "private", about: "one work-item a matrix, on a private copy" },
            Variant { name: "soa", about: "the same, element by element of all matrices in memory" },
            Variant { name: "team", about: "six work-items a matrix, in local memory" },
            Variant { name: "masked", about: "a team, loops of one length under masks" },
            Variant { name: "unrolled", about: "one work-item a matrix, every step written out by a generator" },
        ]
    }

    fn knobs(&self) -> &'static [&'static str] {
        &["teams=32: matrices a group of team and masked"]
    }

    fn source(&self, _: &Params) -> &'static str {
        SOURCE
    }

    fn build_options(&self, params: &Params) -> Result<(String, String)> {
        let teams = Lu::teams(params)?;
        Ok((format!("-DN={N} -DTEAMS={teams}"), format!("lu_{}", self.variant(params)?)))
    }

    fn run(&self, session: &Session, params: &Params) -> Result<Outcome> {
        let variant = self.variant(params)?;
        let (options, name) = self.build_options(params)?;
        let teams = Lu::teams(params)? as usize;
        let (count, _) = params.size_or(4096, 4096)?;
        if count > 1 << 22 {
            return Err(Error::Params("at most 4 M matrices: choose a smaller -s".into()));
        }
        let mut random = Random::new(6);
        let mut data: Vec<f32> = (0..count * N * N).map(|_| random.signed()).collect();
        // Some matrices start with a zero where elimination would divide by it.
        data.chunks_mut(N * N * 7).for_each(|m| m[0] = 0.0);

        let source = if variant == "unrolled" { unrolled() } else { SOURCE.to_owned() };
        let built = session.build("lu", &source, &options)?;
        let kernel = built.kernel(&name)?;
        // The layout of the variant, and back.
        let soa = variant == "soa";
        let laid = if soa { transposed(&data, N * N) } else { data.clone() };
        let matrices = session.upload(&laid)?;
        let pivots = session.zeroed::<i32>(count * N)?;
        let (items, group) = match variant {
            "team" | "masked" => (count.div_ceil(teams) * teams * N, teams * N),
            _ => {
                let group = params.group_or(64)?;
                (count.div_ceil(group) * group, group)
            }
        };
        let times = session.measure(params.iterations, |i| {
            if i > 0 {
                // In place: the next iteration needs the matrices again. The device's clock leaves this out.
                session.write(&matrices, &laid)?;
            }
            session.launch(&kernel, args![&matrices, &pivots, count as u32], &[items], &[group])?;
            Ok(true)
        })?;

        let (mut factors, mut pivots) = (session.read(&matrices)?, session.read(&pivots)?);
        if soa {
            (factors, pivots) = (transposed(&factors, count), transposed(&pivots, count));
        }
        let mut worst = 0.0f64;
        let mut verdict = None;
        // Factors may differ where a pivot was a close call; what they multiply to may not.
        let mut products = Vec::with_capacity(data.len());
        for m in 0..count {
            let range = m * N * N..(m + 1) * N * N;
            match check(&data[range.clone()], &factors[range], &pivots[m * N..(m + 1) * N]) {
                Ok((back, residual)) if residual <= RESIDUAL => {
                    worst = worst.max(residual);
                    products.extend(back);
                }
                Ok((_, residual)) => {
                    verdict = Some(Verdict::Failed(format!("matrix {m}: P A and L U differ by {residual:e}")));
                    break;
                }
                Err(why) => {
                    verdict = Some(Verdict::Failed(format!("matrix {m}: {why}")));
                    break;
                }
            }
        }
        let limits: Vec<f64> = data.chunks_exact(N * N).map(largest).collect();
        let passed =
            || Verdict::Passed(format!("P A = L U for all {count} matrices; the largest residual is {worst:.1e}"));
        Ok(Outcome {
            variant,
            size: format!("{count} matrices, groups of {group}"),
            build: built.time,
            times,
            work: Some(
                // Both ways a matrix, and its pivots. Elimination: a division a row, then a product and a difference an
                // element.
                Work::new(count as f64, "matrix")
                    .moving(count * (2 * N * N + N) * 4)
                    .computing((count * (1..N).map(|k| k + 2 * k * k).sum::<usize>()) as f64),
            ),
            verdict: verdict.unwrap_or_else(passed),
            answer: Answer::close(products, |i| RESIDUAL * limits[i / (N * N)]),
            picture: None,
            chart: None,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_knows_right_factors_from_wrong_ones() {
        // The identity, and the same with one element off.
        let mut identity = [0.0f32; 36];
        (0..N).for_each(|i| identity[i * N + i] = 1.0);
        let pivots = [0, 1, 2, 3, 4, 5];
        assert_eq!(check(&identity, &identity, &pivots), Ok((identity, 0.0)));
        let mut wrong = identity;
        wrong[7] = 1.5;
        assert!(check(&identity, &wrong, &pivots).unwrap().1 > 0.1);
        assert!(check(&identity, &identity, &[0, 0, 2, 3, 4, 5]).is_err());
        assert!(check(&identity, &identity, &[1, 1, 2, 3, 4, 5]).unwrap().1 > 0.1);
        wrong[7] = f32::NAN;
        assert!(check(&identity, &wrong, &pivots).is_err());
    }
}
