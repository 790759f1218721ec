//! Checks a launch while the interpreter runs it.
//!
//! In come the events of the launch ([`cloom_interp::Observer`]); out come [`Finding`]s. What is found here by
//! executing the IR is the reference for checks in compiled code: they must find the same, at the same lines.
//!
//! * `copies`: asynchronous copies and waits, which a group makes together.
//! * [`footprint`]: which bytes of the host's objects were accessed.
//! * [`images`]: accesses to images, which are calls of the library.
//! * [`objects`]: the memory that a launch can access, by name.
//! * [`points`]: positions in the source, seen from the user's code: a finding in a built-in function is one of the
//!   line that calls it.
//! * `refused`: what compiled code tells.
//! * `findings`: the list of findings, each bug once.
//! * `wording`, `race_wording`: the sentences.
//!
//! After a finding the run goes on, with zeros for what cannot be loaded. What is found of an object afterwards may be
//! a consequence, and says so.

mod copies;
mod findings;
pub mod footprint;
pub mod images;
pub mod objects;
pub mod points;
mod race_wording;
mod refused;
mod wording;

use crate::finding::{self, Finding};
use crate::kind::{Kind, Kinds, Severity};
use crate::races::{Race, RaceDetector};
use crate::source::Sources;
use cloom_interp::{
    Access, AccessKind, Arithmetic, Divergence, Fault, FaultKind, Machine, NdRange, Observer, Point, Printed, Use,
};
use cloom_ir::{BarrierMemory, FuncRef, KernelMeta, Module, Order, ParamKind, Scope, Space, Span};
use copies::Calls;
use footprint::{Footprint, Mode};
use images::{Image, ImageAccess, ImageFunction};
use objects::{Objects, Region};
use points::Points;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Wrong indices that wait for their access, which never comes where only the address is taken.
const MAX_INDICES: usize = 64;

/// Instructions that the interpreter executes in a second while it checks, about.
pub const SPEED: u64 = 20_000_000;

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

/// Where a value that nothing has written was read.
struct UnwrittenRead {
    region: Option<Region>,
    offset: i64,
    at: Point,
}

/// An index outside of its array.
#[derive(Clone, Copy)]
struct Index {
    at: Point,
    index: i64,
    count: u64,
    /// The address of the element.
    address: u64,
    /// Where the work-item has made its next access, if that was another one: only accesses there can still be that of
    /// the element. A copy of a structure is two accesses at one place, and the second one is that of the destination.
    passed: Option<Span>,
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
    /// Their numbers by what tells them apart.
    by_key: FxHashMap<findings::Key, usize>,
    /// The group that runs.
    group: [u64; 3],
    /// Whether its work-items did not meet: what is found in it afterwards may be a consequence.
    is_tainted: bool,
    /// The asynchronous copy that a work-item has just begun: accesses there are its.
    copy: Option<(Point, u64)>,
    /// The copies and waits of the group since the last barrier.
    calls: Calls,
    /// Indices outside of their arrays, until the access shows whether it stays inside of the object.
    indices: Vec<Index>,
    images: FxHashMap<u64, Image>,
    /// The functions that were called, as far as they access images.
    image_functions: FxHashMap<FuncRef, Option<ImageFunction>>,
    /// The last group in which each finding was seen.
    last_groups: Vec<[u64; 3]>,
    /// Is told how many groups have begun.
    on_group: Option<&'a mut dyn FnMut(u64)>,
    groups: u64,
    accesses: u64,
    /// Accesses that compiled code has refused.
    refused: u64,
    /// What was accessed of the host's objects.
    pub footprint: Footprint,
    /// What the kernel printed.
    pub printed: Vec<Printed>,
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
            is_tainted: false,
            copy: None,
            calls: Calls::default(),
            indices: Vec::new(),
            images: FxHashMap::default(),
            image_functions: FxHashMap::default(),
            last_groups: Vec::new(),
            on_group: None,
            groups: 0,
            accesses: 0,
            refused: 0,
            footprint: Footprint::default(),
            printed: Vec::new(),
        }
    }

    /// Calls this when a group begins, with the number of those before it.
    pub fn on_group(&mut self, tell: &'a mut dyn FnMut(u64)) {
        self.on_group = Some(tell);
    }

    /// Memory that exists before the launch: a buffer, an image, a variable of the program.
    pub fn add_object(&mut self, address: u64, region: Region) {
        self.footprint.watch(address, region.bytes);
        self.objects.begin(address, region);
    }

    /// Memory at an address of the host.
    pub fn add_placed(&mut self, address: u64, region: Region) {
        self.footprint.watch(address, region.bytes);
        self.objects.place(address, region);
    }

    /// Memory that was at an address of the host, until it was freed.
    pub fn add_freed(&mut self, address: u64, region: Region) {
        self.objects.place_ended(address, region);
    }

    /// The variables of the program. Those in local memory are told with each group.
    pub fn add_globals(&mut self, machine: &Machine<'_>) {
        for (global, &address) in self.subject.module.globals.values().zip(&machine.globals) {
            match global.space {
                Space::Local => {}
                _ if machine.memory.is_placed(address) => self.objects.place(address, Region::global(global)),
                _ => self.objects.begin(address, Region::global(global)),
            }
        }
    }

    /// An image that kernels know by the descriptor at this address.
    pub fn add_image(&mut self, descriptor: u64, image: Image) {
        self.images.insert(descriptor & Space::ADDRESS_MASK, image);
    }

    /// How many accesses were seen.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// The findings, when the launch has ended with this result. An error is what ended it early and is no finding:
    /// the limits of the interpreter.
    pub fn finish(mut self, result: Result<(), Fault>) -> (Vec<Finding>, Option<Fault>) {
        self.compare_calls();
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
        self.drop_consequences();
        (self.findings, unfinished)
    }

    fn race(&mut self, race: &Race) {
        let kind = match (race.between_groups, race.is_local) {
            // No wait orders the copies of two groups.
            (true, _) => Kind::RaceGroups,
            _ if race.first.is_copy || race.second.is_copy => Kind::AsyncCopy,
            (false, true) => Kind::RaceLocal,
            (false, false) => Kind::RaceGlobal,
        };
        let mut places = [race.first.at.span, race.second.at.span];
        places.sort_unstable();
        let (count, groups) = (race.count, race.groups);
        self.found(kind, places, |s| {
            let mut finding = race_wording::race(s, kind, race);
            (finding.count, finding.groups) = (count, groups);
            if race.same_value {
                finding.severity = Severity::Note;
            } else if race.is_read_before_barrier() {
                finding.severity = Severity::Warning;
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

    /// An access; `stored` are the bytes of a store.
    fn accessed(&mut self, access: &Access, stored: &[u8]) {
        self.accesses += 1;
        let mode = Mode { writes: access.kind == AccessKind::Store, is_atomic: access.atomic.is_some() };
        self.footprint.access(access.address & Space::ADDRESS_MASK, access.size, mode);
        for wrong in self.take_indices(&access.at, Some(access.address)) {
            let places = [self.points.user(&wrong.at).span; 2];
            self.found(Kind::ArrayIndex, places, |s| wording::array_index(s, access, wrong.index, wrong.count));
        }
        let region = self.objects.find(access.address).map(|(region, _)| region);
        let is_private = region.is_some_and(|region| region.space == Space::Private);
        if access.kind == AccessKind::Load && region.is_some_and(|region| region.is_write_only) {
            let places = [self.points.user(&access.at).span; 2];
            self.found(Kind::ReadOfWriteOnly, places, |s| wording::read_of_write_only(s, access));
        }
        // Private memory is not shared; its accesses are most of all.
        if self.is_tainted || is_private {
            return;
        }
        let user = self.points.user(&access.at);
        let copy = self.copy.filter(|(at, _)| at.item == user.item && at.span == user.span && at.calls == user.calls);
        if let Some(races) = &mut self.races {
            match copy {
                Some((_, event)) => races.copy_access(access, event),
                None => races.stored(access, stored),
            }
        }
    }

    /// Indices that are wrong, of the access that is made now: that of the same expression, as in `t[i][j]`, or the
    /// next one if it is at the element's address, as in `atomic_inc(&t[i])`.
    fn take_indices(&mut self, at: &Point, address: Option<u64>) -> Vec<Index> {
        if self.indices.is_empty() {
            return Vec::new();
        }
        let is_next = |p: &Point| p.item == at.item && p.calls == at.calls;
        let is_first = |i: &Index| i.passed.is_none_or(|span| span == at.span);
        let is_at = |i: &Index| address.is_some_and(|address| i.address == address) && is_first(i);
        // Where the address itself is kept, its variable is accessed in the same expression.
        let is_in = |i: &Index| address.is_none_or(|address| ((address ^ i.address) & Space::ADDRESS_MASK) >> 32 == 0);
        let same = |i: &Index| is_next(&i.at) && (i.at.span == at.span && is_in(i) || is_at(i));
        let (taken, mut left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.indices).into_iter().partition(same);
        for index in left.iter_mut().filter(|i| is_next(&i.at)) {
            index.passed.get_or_insert(at.span);
        }
        self.indices = left;
        taken
    }

    /// The image access that a call is.
    fn image_access(&mut self, callee: FuncRef, args: &[u64]) -> Option<ImageAccess> {
        let module = self.subject.module;
        let name = || ImageFunction::of_name(&module.funcs[callee].name);
        self.image_functions.entry(callee).or_insert_with(name).as_ref().map(|function| function.access(args))
    }
}

impl Observer for Checker<'_> {
    const FOLLOWS_VALUES: bool = true;

    fn access(&mut self, access: &Access) {
        self.accessed(access, &[]);
    }

    fn stored(&mut self, access: &Access, bytes: &[u8]) {
        self.accessed(access, bytes);
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

    fn is_origin(&self, origin: u32, address: u64) -> bool {
        let read = (origin as usize).checked_sub(1).and_then(|n| self.unwritten.get(n));
        let (Some(read), Some((region, offset))) = (read, self.objects.find(address)) else { return false };
        read.offset == offset && read.region.as_ref().is_some_and(|r| Arc::ptr_eq(&r.name, &region.name))
    }

    fn undefined(&mut self, what: Use, origin: u32, at: &Point) {
        if self.is_tainted {
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

    fn fault(&mut self, fault: &FaultKind, access: AccessKind, at: &Point) -> bool {
        let (kind, address) = match *fault {
            FaultKind::OutOfBounds { base, .. } => (Kind::OutOfBounds, base),
            FaultKind::Null { .. } => (Kind::NullPointer, 0),
            FaultKind::NoObject { address, .. } if address & Space::ADDRESS_MASK == 0 => (Kind::NullPointer, 0),
            FaultKind::NoObject { address, .. } => (Kind::InvalidPointer, address),
            FaultKind::Ended { address, .. } => (Kind::DanglingPointer, address),
            FaultKind::ReadOnly(address) => (Kind::WriteToConstant, address),
            FaultKind::Misaligned { address, .. } => (Kind::Misaligned, address),
            _ => return false,
        };
        // An access outside of the object says more than its index does; but the index of an array whose type is known
        // has a number.
        let indices = self.take_indices(at, None);
        let index = if let [one] = indices.as_slice() { Some((one.index, one.count)) } else { None };
        let places = [self.points.user(at).span; 2];
        self.found(kind, places, |s| wording::fault(s, kind, (fault, access), (address, index), at));
        true
    }

    fn diverged(&mut self, found: &Divergence) -> bool {
        // A copy is one for the whole group, too, and comes before its wait.
        self.compare_calls();
        if self.is_tainted {
            return true;
        }
        self.is_tainted = true;
        let mut places = [self.points.user(&found.waits).span; 2];
        if let Some(other) = &found.other {
            places[1] = self.points.user(other).span;
        }
        places.sort_unstable();
        self.found(Kind::BarrierDivergence, places, |s| wording::divergence(s, found));
        true
    }

    fn index(&mut self, index: i64, count: u64, address: u64, at: &Point) {
        if (index < 0 || index as u64 >= count) && self.indices.len() < MAX_INDICES {
            self.indices.push(Index { at: *at, index, count, address, passed: None });
        }
    }

    fn copy_begins(&mut self, event: u64, at: &Point) {
        self.copy = Some((*at, event));
        self.calls.copy(event, at);
        if let Some(races) = &mut self.races {
            races.copy_begins(event, at);
        }
    }

    fn copy_argument(&mut self, value: u64, at: &Point) {
        self.calls.argument(value, at);
    }

    fn copies_end(&mut self, events: &[u64], at: &Point) {
        self.copy = None;
        self.calls.wait(events, at);
        if let Some(races) = &mut self.races {
            races.copies_end(events);
        }
    }

    fn call(&mut self, callee: FuncRef, args: &[u64], from: &Point) -> u32 {
        if !self.images.is_empty()
            && let Some(access) = self.image_access(callee, args)
            && let Some(image) = self.images.get(&(args[0] & Space::ADDRESS_MASK))
        {
            let image = image.clone();
            let places = [self.points.user(from).span; 2];
            if !access.fits(&image) {
                self.found(Kind::ImageFormat, places, |s| wording::image_format(s, &image, &access, from));
            }
            if let Some(outside) = access.outside(&image) {
                self.found(Kind::ImageCoordinates, places, |s| {
                    wording::image_coordinates(s, &image, &access, &outside, from)
                });
            }
        }
        self.points.call(callee, from)
    }

    fn variable(&mut self, address: u64, size_align: (u64, u32), name: Option<&Arc<String>>, at: &Point) {
        let region = Region::variable(name, size_align, at.span);
        self.objects.begin(address, region);
    }

    fn group(&mut self, group: [u64; 3], local: &[(u64, u64)]) {
        self.compare_calls();
        if let Some(tell) = &mut self.on_group {
            tell(self.groups);
        }
        self.groups += 1;
        self.group = group;
        self.is_tainted = false;
        self.indices.clear();
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
        self.copy = None;
        self.compare_calls();
        if let Some(races) = &mut self.races {
            races.barrier(group, memory, span);
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

    fn printf(&mut self, printed: Printed) {
        self.printed.push(printed);
    }
}

/// Whether an access is a read or a write, for a finding.
fn access_kind(kind: AccessKind) -> finding::AccessKind {
    match kind {
        AccessKind::Load => finding::AccessKind::Read,
        AccessKind::Store => finding::AccessKind::Write,
    }
}
