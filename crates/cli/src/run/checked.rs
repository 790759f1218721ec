//! One launch under the checker, in the reference interpreter.

use super::argument::Value;
use super::kernel::{Compiled, Job};
use super::launch::Launch;
use crate::outcome::Failure;
use cloom_check::interpreted::SPEED;
use cloom_check::interpreted::images::Image;
use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Finding, Kinds, Sources, Subject};
use cloom_interp as interp;
use cloom_ir::ParamKind;

/// What one launch has shown.
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub accesses: u64,
    /// Why it was not run to its end, unless a finding says so.
    pub unfinished: Option<String>,
    /// The bytes of each buffer and image afterwards, in the order of the parameters.
    pub memory: Vec<Vec<u8>>,
}

/// Runs a launch that may take so many seconds. `tell` is told how many groups have begun, and how many there are.
pub fn check(
    job: &Job,
    sources: &Sources,
    kinds: &Kinds,
    seconds: u64,
    mut tell: impl FnMut(u64, u64),
) -> Result<Outcome, Failure> {
    let launch = Launch::new(job)?;
    let bytes: u64 = job.values.iter().map(|v| v.memory().map_or(0, <[u8]>::len) as u64).sum();
    let options = interp::Options {
        memory: (bytes + (1 << 30)).saturating_mul(2),
        fuel: seconds.saturating_mul(SPEED),
        // A loop counts as endless if one work-item takes half of the time between two barriers.
        turn: seconds.saturating_mul(SPEED / 2),
        denorms_are_zero: job.program.options().denorms_are_zero,
        ..interp::Options::default()
    };
    let full = |e: interp::FaultKind| {
        Failure::wrong(format!("the reference interpreter cannot hold these buffers: {e}; choose smaller ones"))
    };
    let mut ready = launch.ready(options).map_err(full)?;
    let subject = Subject { module: &launch.code.module, kernel: launch.func, range: launch.range, sources };
    let groups = launch.range.groups().iter().product();
    let mut on_group = |begun: u64| tell(begun, groups);
    let mut checker = Checker::new(subject, kinds.clone());
    checker.on_group(&mut on_group);
    for ((value, param), arg) in job.values.iter().zip(&job.meta.params).zip(&ready.args) {
        if let (Value::Image(image), interp::Arg::Buffer(address)) = (value, arg) {
            let d = image.descriptor(0);
            let size = [d.width, d.height, d.depth].map(u64::from);
            let (name, layers) = (param.name.clone(), u64::from(d.array_size));
            checker.add_image(*address, Image { name, size, layers, channel_type: d.channel_type });
        }
    }
    let values = job.values.iter().zip(&job.meta.params).filter(|(value, _)| value.memory().is_some());
    for ((value, param), &(address, size)) in values.zip(&ready.memory) {
        let is_image = matches!(value, Value::Image(_));
        let element = Some(value.element_bytes() as u64);
        checker.add_object(address, Region { element, is_image, ..Region::buffer(param, size) });
        if param.kind == ParamKind::Constant {
            ready.machine.memory.guard(address);
        }
    }
    checker.add_globals(&ready.machine);
    let result = ready.machine.run_kernel(launch.func, &launch.range, &ready.args, &mut checker);
    let accesses = checker.accesses();
    let (findings, fault) = checker.finish(result);
    let unfinished = match fault {
        None => None,
        Some(fault) => match fault.kind {
            interp::FaultKind::BadLaunch(why) => return Err(Failure::wrong(format!("{}: {why}", job.kernel))),
            interp::FaultKind::Fuel => {
                Some("the launch takes longer than --time-limit; choose a smaller --global".to_owned())
            }
            kind => Some(kind.to_string()),
        },
    };
    let read = |&(address, len): &(u64, u64)| ready.machine.memory.read(address, len).map(|(bytes, _)| bytes.to_vec());
    let memory = ready.memory.iter().map(read).collect::<Result<_, _>>().map_err(full)?;
    Ok(Outcome { findings, accesses, unfinished, memory })
}

/// The text of the files that the kernels come from: the source, and what it includes.
pub fn sources(compiled: &Compiled) -> Sources {
    let mut sources = Sources::default();
    let text = compiled.text();
    for file in &compiled.program.module().files {
        let read = match *file == text.name {
            true => Some(String::from_utf8_lossy(&text.bytes).into_owned()),
            // A header. Without its text a finding there has no excerpt.
            false => std::fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        if let Some(read) = read {
            sources.add(file.clone(), read);
        }
    }
    sources
}
