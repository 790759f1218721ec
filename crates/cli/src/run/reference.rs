//! The result of a kernel of a file by the reference interpreter, for `--verify`.
//!
//! In come the compiled program and the arguments; out come the bytes of each buffer and image after one launch, or a
//! failure that names line and work-item if the kernel accesses memory out of bounds. This happens before the kernel
//! runs on the device, so a kernel that would corrupt the process is not run.
//!
//! A result that depends on unwritten memory (a private variable, local memory) has no defined value. Fresh memory of
//! the interpreter holds a fill byte. If a run reads such a byte, a second run with the complement of the fill byte
//! follows; what differs between the two results depends on it.

use super::argument::Value;
use super::kernel::{Job, elements};
use super::picture_argument;
use super::shape::Sizes;
use crate::outcome::Failure;
use cloom_interp as interp;
use cloom_ir::{FuncRef, KernelMeta, Span};

/// The interpreter's results.
pub struct Reference {
    /// The bytes of each buffer and image after the launch, in the order of the parameters.
    pub memory: Vec<Vec<u8>>,
    /// Which bytes have no defined value, if any.
    pub undefined: Option<Undefined>,
}

/// The part of a result that depends on unwritten memory.
pub struct Undefined {
    /// One flag for each byte of each buffer and image.
    pub bytes: Vec<Vec<bool>>,
    /// Where the kernel first reads such memory: file, line, column, work-item.
    pub place: String,
}

/// Fresh memory of the first run, and of the second.
const FILLS: [u8; 2] = [0xa5, 0x5a];

/// Runs the kernel.
pub fn run(job: &Job) -> Result<Reference, Failure> {
    let launch = Launch::new(job)?;
    // The second run is needed only if some access has read fresh memory; other kernels cannot give another result.
    let (memory, unwritten) = launch.run(FILLS[0])?;
    let Some(access) = unwritten else { return Ok(Reference { memory, undefined: None }) };
    let place = format!("{}, work-item {:?}", launch.place(access.at.span), access.at.item);
    let (others, _) = launch.run(FILLS[1])?;
    let differ = |(a, b): (&Vec<u8>, &Vec<u8>)| a.iter().zip(b).map(|(x, y)| x != y).collect();
    let bytes: Vec<Vec<bool>> = memory.iter().zip(&others).map(differ).collect();
    let any = bytes.iter().flatten().any(|&b| b);
    Ok(Reference { memory, undefined: any.then_some(Undefined { bytes, place }) })
}

/// The range of the launch, in three dimensions.
fn range(meta: &KernelMeta, global: &Sizes, local: Option<&Sizes>) -> interp::NdRange {
    let padded = |sizes: &[usize]| -> [u64; 3] { std::array::from_fn(|d| sizes.get(d).map_or(1, |&n| n as u64)) };
    let local = match (local, meta.reqd_group_size) {
        (Some(l), _) => padded(&l.0),
        // `reqd_work_group_size` leaves one local size only, so the platform has no choice.
        (None, Some(required)) => required.map(u64::from),
        // The platform's choice must not matter. This one has several groups, where the size allows it, and no partial
        // one.
        (None, None) => padded(&[global.0.first().map_or(1, |&n| (1..=64).rev().find(|d| n % d == 0).unwrap_or(1))]),
    };
    interp::NdRange { work_dim: global.0.len() as u32, offset: [0; 3], global: padded(&global.0), local }
}

/// A launch that can be repeated.
pub struct Launch<'a> {
    job: &'a Job,
    /// The kernel with what it calls.
    pub code: interp::Program,
    pub func: FuncRef,
    pub range: interp::NdRange,
}

/// A machine that is ready to run the kernel.
pub struct Ready<'a> {
    pub machine: interp::Machine<'a>,
    pub args: Vec<interp::Arg>,
    /// Address and size of the bytes of each buffer and image.
    pub memory: Vec<(u64, u64)>,
}

/// Keeps the first read of unwritten memory.
#[derive(Default)]
struct FirstUnwritten(Option<interp::Access>);

impl interp::Observer for FirstUnwritten {
    fn uninitialised(&mut self, access: &interp::Access) {
        self.0.get_or_insert(*access);
    }
}

impl<'a> Launch<'a> {
    /// The launch of a kernel of a file.
    pub fn new(job: &'a Job) -> Result<Launch<'a>, Failure> {
        let kernel = &job.kernel;
        let linked = job.compiler.linked(&job.program, kernel);
        let module = linked.map_err(|e| Failure::finding(format!("{kernel}: {e}")))?;
        let func = module.find(kernel).ok_or_else(|| Failure::wrong(format!("there is no kernel `{kernel}`")))?;
        let code = interp::Program::new(module).map_err(|e| {
            let first = e.first().map_or_else(String::new, ToString::to_string);
            Failure::finding(format!("{kernel}: the front end produced invalid IR, a bug of Cloom: {first}"))
        })?;
        Ok(Launch { job, code, func, range: range(&job.meta, &job.global, job.local.as_ref()) })
    }

    /// A fresh machine.
    pub fn ready(&self, options: interp::Options) -> Result<Ready<'_>, interp::FaultKind> {
        let mut machine = interp::Machine::new(&self.code, options)?;
        let (mut memory, mut args) = (Vec::new(), Vec::new());
        for value in &self.job.values {
            let mut upload = |bytes: &[u8], machine: &mut interp::Machine<'_>| {
                let address = machine.buffer(bytes)?;
                memory.push((address, bytes.len() as u64));
                Ok(address)
            };
            args.push(match value {
                Value::Buffer { bytes, .. } => interp::Arg::Buffer(upload(bytes, &mut machine)?),
                Value::Image(image) => {
                    let elements = upload(&image.pixels, &mut machine)?;
                    interp::Arg::Buffer(machine.image(&image.descriptor(elements))?)
                }
                Value::Sampler(state) => {
                    interp::Arg::Bytes(picture_argument::sampler_word(*state).to_le_bytes().to_vec())
                }
                Value::Local(bytes) => interp::Arg::Local(*bytes as u64),
                Value::Bytes(bytes) => interp::Arg::Bytes(bytes.clone()),
            });
        }
        Ok(Ready { machine, args, memory })
    }

    /// Runs it for so many instructions, whatever comes of it.
    pub fn watch(&self, fuel: u64, observer: &mut impl interp::Observer) -> Result<(), interp::Fault> {
        let Ready { mut machine, args, .. } = self.ready(interp::Options { fuel, ..interp::Options::default() })?;
        machine.run_kernel(self.func, &self.range, &args, observer)
    }

    /// Runs it once. Returns the memory, and the first read of unwritten memory.
    fn run(&self, fill: u8) -> Result<(Vec<Vec<u8>>, Option<interp::Access>), Failure> {
        let sizes = self.job.values.iter().map(|v| v.memory().map_or(0, <[u8]>::len));
        let limit = (sizes.sum::<usize>() as u64 + (1 << 30)).saturating_mul(2);
        let full = |e: interp::FaultKind| {
            Failure::wrong(format!("the reference interpreter cannot hold these buffers: {e}; choose smaller ones"))
        };
        let options = interp::Options { memory: limit, canary: fill, ..interp::Options::default() };
        let Ready { mut machine, args, memory } = self.ready(options).map_err(full)?;
        let mut seen = FirstUnwritten::default();
        machine
            .run_kernel(self.func, &self.range, &args, &mut seen)
            .map_err(|fault| self.failure(&fault, seen.0.as_ref(), &memory))?;
        let read = |&(address, len): &(u64, u64)| machine.memory.read(address, len).map(|(bytes, _)| bytes.to_vec());
        let memory: Result<Vec<Vec<u8>>, _> = memory.iter().map(read).collect();
        Ok((memory.map_err(full)?, seen.0))
    }

    /// The message for a launch that was aborted.
    fn failure(&self, fault: &interp::Fault, unwritten: Option<&interp::Access>, memory: &[(u64, u64)]) -> Failure {
        match &fault.kind {
            interp::FaultKind::Fuel | interp::FaultKind::Memory => Failure::wrong(format!(
                "too much for the reference interpreter: {}; choose a smaller --global, or leave --verify out",
                fault.kind
            )),
            interp::FaultKind::BadLaunch(why) => Failure::wrong(format!("{}: {why}", self.job.kernel)),
            _ => {
                let file =
                    if fault.span == Span::NONE { String::new() } else { format!("in {}, ", self.file(fault.span)) };
                let before = unwritten.map_or_else(String::new, |a| {
                    format!("; before that it read memory that nothing has written, {}", self.place(a.at.span))
                });
                let which = self.which(fault, memory).map_or_else(String::new, |which| format!("; {which}"));
                Failure::finding(format!(
                    "kernel `{}`: {file}{fault}{which}{before}; the kernel was not run on the device",
                    self.job.kernel
                ))
            }
        }
    }

    /// The buffer whose end an access passes, and the element.
    fn which(&self, fault: &interp::Fault, memory: &[(u64, u64)]) -> Option<String> {
        let interp::FaultKind::OutOfBounds { offset, base, .. } = fault.kind else { return None };
        let index = memory.iter().position(|&(address, _)| address == base)?;
        let (name, value, bytes) = self.job.memory().nth(index)?;
        let Value::Buffer { layout, .. } = value else { return None };
        let size = layout.bytes() as i64;
        Some(format!(
            "that is element {} of `{name}`, which has {}",
            offset.div_euclid(size),
            elements(bytes.len() / size as usize)
        ))
    }

    fn file(&self, span: Span) -> &str {
        self.code.module.files.get(usize::from(span.file)).map_or("", String::as_str)
    }

    fn place(&self, span: Span) -> String {
        match span == Span::NONE {
            true => format!("in {}", self.job.kernel),
            false => format!("in {}, line {} column {}", self.file(span), span.line, span.col),
        }
    }
}
