//! Runs an idiom: uploads a problem's buffers, launches its kernel and compares every output with what is wanted.

use super::{Argument, Data, Problem, Spelling, Want};
use crate::cl::{Arg, Buffer, Session};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::program::{Answer, Outcome, Verdict, close};

/// A buffer on the device, by the type of its elements.
enum Held {
    Bytes(Buffer<u8>),
    Words(Buffer<u32>),
    Floats(Buffer<f32>),
}

impl Held {
    fn upload(session: &Session, data: &Data, count_bytes: usize) -> Result<Held> {
        Ok(match data {
            Data::Bytes(v) => Held::Bytes(session.upload(v)?),
            Data::Words(v) => Held::Words(session.upload(v)?),
            Data::Floats(v) => Held::Floats(session.upload(v)?),
            // A count of eight bytes is two words, the lower one first.
            Data::Indices(v) if count_bytes == 8 => {
                let words: Vec<u32> = v.iter().flat_map(|&i| [i as u32, (i as u64 >> 32) as u32]).collect();
                Held::Words(session.upload(&words)?)
            }
            Data::Indices(v) => Held::Words(session.upload(&v.iter().map(|&i| i as u32).collect::<Vec<_>>())?),
        })
    }

    /// A buffer of zeros for an output.
    fn zeroed(session: &Session, want: &Want) -> Result<Held> {
        Ok(match want {
            Want::Bytes(v, _) => Held::Bytes(session.zeroed(v.len())?),
            Want::Words(v) => Held::Words(session.zeroed(v.len())?),
            Want::Floats(v, _) => Held::Floats(session.zeroed(v.len())?),
        })
    }

    fn write(&self, session: &Session, data: &Data) -> Result<()> {
        match (self, data) {
            (Held::Bytes(b), Data::Bytes(v)) => session.write(b, v),
            (Held::Words(b), Data::Words(v)) => session.write(b, v),
            (Held::Floats(b), Data::Floats(v)) => session.write(b, v),
            _ => Err(Error::Params("a buffer of another type than its contents".into())),
        }
    }

    fn arg(&self) -> Arg {
        match self {
            Held::Bytes(b) => Arg::from(b),
            Held::Words(b) => Arg::from(b),
            Held::Floats(b) => Arg::from(b),
        }
    }
}

/// An output as numbers, each with the wanted one and the tolerance, and whether they are exact.
struct Compared {
    verdict: Verdict,
    exact: Option<Vec<u32>>,
    floats: Vec<f32>,
    tolerance: Vec<f64>,
}

fn compare(session: &Session, held: &Held, want: &Want) -> Result<Compared> {
    let (got, want, tolerance, exact) = match (held, want) {
        (Held::Bytes(b), Want::Bytes(want, within)) => {
            let got = session.read(b)?;
            let exact = (*within == 0).then(|| got.iter().map(|&v| u32::from(v)).collect());
            let tolerance = vec![f64::from(*within); want.len()];
            (got.into_iter().map(f32::from).collect(), want.iter().map(|&v| f64::from(v)).collect(), tolerance, exact)
        }
        (Held::Words(b), Want::Words(want)) => {
            let got = session.read(b)?;
            let verdict = crate::program::same(&got, want, "words");
            return Ok(Compared { verdict, exact: Some(got), floats: Vec::new(), tolerance: Vec::new() });
        }
        (Held::Floats(b), Want::Floats(want, tolerance)) => (session.read(b)?, want.clone(), tolerance.clone(), None),
        _ => return Err(Error::Params("an output of another type than what is wanted".into())),
    };
    let verdict = close(&got, &want, |i| tolerance[i], "numbers");
    Ok(Compared { verdict, exact, floats: got, tolerance })
}

/// One answer of all outputs; exact if each of them is.
fn answer(outputs: Vec<Compared>) -> Answer {
    if outputs.iter().all(|o| o.exact.is_some()) {
        return Answer::Exact(outputs.into_iter().flat_map(|o| o.exact.unwrap_or_default()).collect());
    }
    let (mut values, mut tolerance) = (Vec::new(), Vec::new());
    for output in outputs {
        values.extend(output.floats);
        tolerance.extend(output.tolerance);
    }
    Answer::close(values, |i| tolerance[i])
}

pub(super) fn run(session: &Session, params: &Params) -> Result<Outcome> {
    let spelling = Spelling::of(params)?;
    let idiom = spelling.idiom;
    let count_bytes = spelling.count_bytes();
    let ask = spelling.ask(params)?;
    let Problem { args, global, local, work } = (idiom.problem)(&ask);
    let built = session.build(idiom.name, idiom.source, &spelling.options(params)?)?;
    let kernel = built.kernel(idiom.kernel)?;

    let mut held = Vec::new();
    for arg in &args {
        held.push(match arg {
            Argument::In(data) | Argument::Update(data, _) => Some(Held::upload(session, data, count_bytes)?),
            Argument::Out(want) => Some(Held::zeroed(session, want)?),
            _ => None,
        });
    }
    let values: Vec<Arg> = args
        .iter()
        .zip(&held)
        .map(|(arg, held)| match (arg, held) {
            (_, Some(held)) => held.arg(),
            (Argument::Count(n), _) if count_bytes == 8 => {
                let mut bytes = [0; Arg::LARGEST];
                bytes[..8].copy_from_slice(&(*n as u64).to_le_bytes());
                Arg::Value { bytes, len: 8 }
            }
            (Argument::Count(n), _) => Arg::U32(*n as u32),
            (Argument::F32(v), _) => Arg::F32(*v),
            (Argument::Local(bytes), _) => Arg::Local(*bytes),
            (Argument::U32(v), _) => Arg::U32(*v),
            (Argument::In(_) | Argument::Update(..) | Argument::Out(_), None) => Arg::U32(0),
        })
        .collect();
    let times = session.measure(params.iterations, |_| {
        for (arg, held) in args.iter().zip(&held) {
            // A kernel that works in place must not start from its own result. This upload is in the wall time, not in
            // the device's.
            if let (Argument::Update(data, _), Some(held)) = (arg, held) {
                held.write(session, data)?;
            }
        }
        session.launch(&kernel, &values, &global, &local)?;
        Ok(true)
    })?;

    let mut outputs = Vec::new();
    for (arg, held) in args.iter().zip(&held) {
        if let (Argument::Update(_, want) | Argument::Out(want), Some(held)) = (arg, held) {
            outputs.push(compare(session, held, want)?);
        }
    }
    let failed = outputs.iter().find(|o| matches!(o.verdict, Verdict::Failed(_)));
    let verdict = failed.or(outputs.last()).map(|o| o.verdict.clone());
    Ok(Outcome {
        variant: idiom.name,
        size: format!("{}x{}, {global:?} in groups of {local:?}", ask.w, ask.h),
        build: built.time,
        times,
        work: Some(work),
        verdict: verdict.unwrap_or_else(|| Verdict::Failed("the idiom has no output".into())),
        answer: answer(outputs),
        picture: None,
        chart: None,
        notes: Vec::new(),
    })
}
