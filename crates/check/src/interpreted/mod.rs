//! Checks a launch while the interpreter runs it.
//!
//! In come the events of the launch ([`cloom_interp::Observer`]); out come [`Finding`]s. What is found here by executing
//! the IR is the reference for checks in compiled code: they must find the same, at the same lines.
//!
//! * [`objects`]: the memory that a launch can access, by name.
//! * [`points`]: positions in the source, seen from the user's code: a finding in a built-in function is one of the
//!   line that calls it.
//! * `wording`: the sentences.
//!
//! After a finding the run goes on, with zeros for what cannot be loaded. What is found of an object afterwards may be
//! a consequence, and says so.

pub mod objects;
pub mod points;
mod wording;

use crate::finding::{self, Event, Finding, Object};
use crate::kind::{Kind, Kinds, Severity};
use crate::races::{Race, RaceDetector};
use crate::source::Sources;
use cloom_interp::{
    Access, AccessKind, Arithmetic, Divergence, Fault, FaultKind, NdRange, Observer, Point, Printed, Use,
};
use cloom_ir::{BarrierMemory, FuncRef, KernelMeta, Module, Order, ParamKind, Scope, Space, Span};
use objects::{Objects, Region};
use points::Points;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Findings of one launch that are kept.
const MAX_FINDINGS: usize = 1000;

/// What is launched.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The kernel with all that it calls, before any pass.
    pub module: &'a Module,
    /// The kernel.
    pub kernel: FuncRef,
    /// Its range.
    pub range: NdRange,
    /// The text of the source files.
    pub sources: &'a Sources,
}

impl Subject<'_> {
    fn meta(&self) -> Option<&KernelMeta> {
        self.module.funcs[self.kernel].kernel.as_deref()
    }
}

/// What tells findings apart: one bug is one finding, however often it is seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    places: [Span; 2],
}

/// Where a value that nothing has written was read.
struct UnwrittenRead {
    region: Option<Region>,
    offset: i64,
    at: Point,
}

/// Watches a launch.
pub struct Checker<'a> {
    subject: Subject<'a>,
    kinds: Kinds,
    races: Option<RaceDetector>,
    objects: Objects,
    points: Points<'a>,
    unwritten: Vec<UnwrittenRead>,
    /// The numbers of the reads by object, offset and place.
    unwritten_by_place: FxHashMap<(u64, i64, Span, u32), u32>,
    findings: Vec<Finding>,
    by_key: FxHashMap<Key, usize>,
    /// The group that runs.
    group: [u64; 3],
    /// The last group in which each finding was seen.
    last_groups: Vec<[u64; 3]>,
    accesses: u64,
}

impl<'a> Checker<'a> {
    /// A checker for one launch.
    pub fn new(subject: Subject<'a>, kinds: Kinds) -> Checker<'a> {
        let races = kinds.has_group(crate::kind::Group::Races) || kinds.has(Kind::AsyncNotWaited);
        Checker {
            subject,
            races: races.then(|| RaceDetector::new(subject.range)),
            kinds,
            objects: Objects::default(),
            points: Points::new(subject),
            unwritten: Vec::new(),
            unwritten_by_place: FxHashMap::default(),
            findings: Vec::new(),
            by_key: FxHashMap::default(),
            group: [0; 3],
            last_groups: Vec::new(),
            accesses: 0,
        }
    }

    /// Memory that exists before the launch: a buffer, an image, a variable of the program.
    pub fn add_object(&mut self, address: u64, region: Region) {
        self.objects.begin(address, region);
    }

    /// How many accesses were seen.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The findings, when the launch has ended with this result. An error is what ended it early and is no finding:
    /// the limits of the interpreter.
    pub fn finish(mut self, result: Result<(), Fault>) -> (Vec<Finding>, Option<Fault>) {
        let mut unfinished = None;
        if let Err(fault) = result {
            match fault.kind {
                FaultKind::Endless { head, rounds } => self.endless(&fault, head, rounds),
                // All others that are findings were told when they happened.
                _ => unfinished = Some(fault),
            }
        }
        if let Some(mut detector) = self.races.take() {
            for copy in detector.not_waited().to_vec() {
                self.async_not_waited(&copy.at);
            }
            for race in detector.races() {
                self.race(race);
            }
        }
        (self.findings, unfinished)
    }

    /// Keeps a finding, or counts one that is known. `make` gives it when it is new.
    fn found(&mut self, kind: Kind, places: [Span; 2], make: impl FnOnce(&Self) -> Finding) {
        if !self.kinds.has(kind) {
            return;
        }
        let key = Key { kind, places: places.map(Span::place) };
        if let Some(&n) = self.by_key.get(&key) {
            self.findings[n].count += 1;
            if self.last_groups[n] != self.group {
                self.last_groups[n] = self.group;
                self.findings[n].groups += 1;
            }
        } else if self.findings.len() < MAX_FINDINGS {
            let mut finding = make(self);
            finding.follows = self.follows(&finding);
            self.by_key.insert(key, self.findings.len());
            self.last_groups.push(self.group);
            self.findings.push(finding);
        }
    }

    /// An access that was dropped leaves its object without what it should have written: later findings may come
    /// from that.
    fn follows(&self, finding: &Finding) -> Option<String> {
        let name = finding.object.as_ref().filter(|o| !o.name.is_empty()).map(|o| &o.name);
        let drops = |f: &&Finding| f.kind.group() == crate::kind::Group::Bounds && f.kind != Kind::ArrayIndex;
        let same = |f: &&Finding| f.object.as_ref().map(|o| &o.name) == name && f.kernel == finding.kernel;
        let earlier = self.findings.iter().filter(drops).find(|f| name.is_some() && same(f))?;
        (finding.kind == Kind::Uninitialised).then(|| earlier.id.clone())
    }

    /// A finding without its sentences.
    fn finding(&self, kind: Kind, events: Vec<Event>, object: Option<Object>) -> Finding {
        let kernel = self.subject.module.funcs[self.subject.kernel].name.clone();
        let place = events.iter().find_map(|e| e.place.as_ref());
        let (file, line) = place.map_or(("", 0), |p| (p.file.as_str(), p.line));
        let text = self.subject.sources.line(file, line).unwrap_or_default();
        let same =
            |f: &&Finding| f.kind == kind && f.place().map(|p| (&p.file, p.line)) == place.map(|p| (&p.file, p.line));
        let number = self.findings.iter().filter(same).count() as u64;
        Finding {
            id: finding::fingerprint(kind, file, &kernel, text, number),
            kind,
            severity: kind.severity(),
            count: 1,
            groups: 1,
            first_launch: 1,
            follows: None,
            kernel,
            message: String::new(),
            why: None,
            fix: None,
            events,
            object,
            enqueued: None,
            repeat: None,
            call: None,
            stack: Vec::new(),
        }
    }

    fn race(&mut self, race: &Race) {
        let kind = match (race.between_groups, race.is_local) {
            _ if race.first.is_copy || race.second.is_copy => Kind::AsyncCopy,
            (true, _) => Kind::RaceGroups,
            (false, true) => Kind::RaceLocal,
            (false, false) => Kind::RaceGlobal,
        };
        let mut places = [race.first.at.span, race.second.at.span];
        places.sort_unstable();
        let (count, groups) = (race.count, race.groups);
        self.found(kind, places, |s| {
            let mut finding = wording::race(s, kind, race);
            (finding.count, finding.groups) = (count, groups);
            if race.same_value {
                finding.severity = Severity::Note;
            }
            finding
        });
    }

    fn async_not_waited(&mut self, at: &Point) {
        self.found(Kind::AsyncNotWaited, [at.span; 2], |s| wording::async_not_waited(s, at));
    }

    fn endless(&mut self, fault: &Fault, head: Span, rounds: u64) {
        let head = if head == Span::NONE { fault.span } else { head };
        let at = Point { item: fault.item, span: head, ..Point::default() };
        self.found(Kind::Endless, [head; 2], |s| wording::endless(s, &at, rounds));
    }

    /// Whether an instruction at this point is that of a call of this built-in function.
    fn is_at_call(&self, at: &Point, prefix: &str) -> bool {
        self.points.name(at).starts_with(prefix)
    }
}

impl Observer for Checker<'_> {
    const FOLLOWS_VALUES: bool = true;

    fn access(&mut self, access: &Access) {
        self.accesses += 1;
        // Private memory is not shared; its accesses are most of all.
        if self.objects.is_private(access.address) {
            return;
        }
        let is_copy = self.is_at_call(&access.at, "async_work_group_");
        if let Some(races) = &mut self.races {
            match is_copy {
                true => races.copy_access(access),
                false => races.access(access),
            }
        }
    }

    fn origin(&mut self, access: &Access) -> u32 {
        let (region, offset) = self.objects.find(access.address).map_or((None, 0), |(r, o)| (Some(r.clone()), o));
        let address = (access.address & Space::ADDRESS_MASK).wrapping_sub_signed(offset);
        let name = region.as_ref().map_or(address, |r| Arc::as_ptr(&r.name) as *const u8 as u64);
        let next = self.unwritten.len() as u32 + 1;
        let key = (name, offset, access.at.span, access.at.calls);
        let number = *self.unwritten_by_place.entry(key).or_insert(next);
        if number == next {
            self.unwritten.push(UnwrittenRead { region, offset, at: access.at });
        }
        number
    }

    fn undefined(&mut self, what: Use, origin: u32, at: &Point) {
        if self.points.is_library(at.span) && what != Use::Atomic && !self.kinds.has(Kind::Uninitialised) {
            return;
        }
        let places = [self.points.user(at).span; 2];
        self.found(Kind::Uninitialised, places, |s| wording::uninitialised(s, what, origin, at));
    }

    fn arithmetic(&mut self, what: Arithmetic, at: &Point) {
        // The library's own arithmetic is right by its tests, as far as these operations go: they are total here.
        if self.points.is_library(at.span) {
            return;
        }
        let kind = match what {
            Arithmetic::DivisionByZero => Kind::DivisionByZero,
            Arithmetic::DivisionOverflow => Kind::DivisionOverflow,
            Arithmetic::Shift { .. } => Kind::ShiftRange,
            Arithmetic::Overflow => Kind::SignedOverflow,
            // A conversion that saturates is the same operation.
            Arithmetic::Conversion if self.points.name(at).contains("_sat") => return,
            Arithmetic::Conversion => Kind::ConversionRange,
        };
        self.found(kind, [at.span; 2], |s| wording::arithmetic(s, kind, what, at));
    }

    fn fault(&mut self, fault: &FaultKind, at: &Point) -> bool {
        let (kind, address) = match *fault {
            FaultKind::OutOfBounds { base, .. } => (Kind::OutOfBounds, base),
            // A small number is a null pointer with an index.
            FaultKind::NoObject { address, .. } if address & Space::ADDRESS_MASK < 1 << 32 => {
                (Kind::NullPointer, address)
            }
            FaultKind::NoObject { address, .. } => (Kind::InvalidPointer, address),
            FaultKind::Ended { address, .. } => (Kind::DanglingPointer, address),
            FaultKind::ReadOnly(address) => (Kind::WriteToConstant, address),
            FaultKind::Misaligned { address, .. } => (Kind::Misaligned, address),
            _ => return false,
        };
        let places = [self.points.user(at).span; 2];
        self.found(kind, places, |s| wording::fault(s, kind, fault, address, at));
        true
    }

    fn diverged(&mut self, found: &Divergence) -> bool {
        let mut places = [self.points.user(&found.waits).span; 2];
        if let Some(other) = &found.other {
            places[1] = self.points.user(other).span;
        }
        places.sort_unstable();
        self.found(Kind::BarrierDivergence, places, |s| wording::divergence(s, found));
        true
    }

    fn call(&mut self, callee: FuncRef, from: &Point) -> u32 {
        self.points.call(callee, from)
    }

    fn variable(&mut self, address: u64, size: u64, name: Option<&Arc<String>>, at: &Point) {
        let region = Region::variable(name, size, self.points.declared(at));
        self.objects.begin(address, region);
    }

    fn group(&mut self, group: [u64; 3], local: &[(u64, u64)]) {
        self.group = group;
        let variables = self.subject.module.globals.values().filter(|g| g.space == Space::Local);
        let params = self.subject.meta().map_or(&[][..], |m| &m.params);
        let params = params.iter().filter(|p| p.kind == ParamKind::Local);
        let regions: Vec<Region> = variables.map(Region::global).chain(params.map(Region::local)).collect();
        for (&(address, size), region) in local.iter().zip(regions) {
            self.objects.begin(address, Region { bytes: size, ..region });
        }
        if let Some(races) = &mut self.races {
            races.group(group, local);
        }
    }

    fn barrier(&mut self, group: [u64; 3], memory: BarrierMemory, span: Span) {
        let at = Point { span, ..Point::default() };
        let waits = self.is_at_call(&at, "wait_group_events");
        if let Some(races) = &mut self.races {
            races.barrier(group, memory, span);
            if waits {
                races.wait_for_copies();
            }
        }
    }

    fn fence(&mut self, item: [u64; 3], order: Order, scope: Scope, span: Span) {
        if let Some(races) = &mut self.races {
            races.fence(item, order, scope, span);
        }
    }

    fn freed(&mut self, address: u64) {
        self.objects.end(address);
        if let Some(races) = &mut self.races {
            races.freed(address);
        }
    }

    fn printf(&mut self, _printed: Printed) {}
}

/// Whether an access is a read or a write, for a finding.
fn access_kind(kind: AccessKind) -> finding::AccessKind {
    match kind {
        AccessKind::Load => finding::AccessKind::Read,
        AccessKind::Store => finding::AccessKind::Write,
    }
}
