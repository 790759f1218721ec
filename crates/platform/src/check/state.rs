//! All that is known of the program: its objects and commands, and what was found so far.
//!
//! In comes what the runtime tells; the modules beside this one keep it and decide, and their findings become a report.

use super::command::{self, Caller, Used};
use super::conflicts::Conflicts;
use super::host::HostMemory;
use super::launch::Linked;
use super::leaks::Objects;
use super::maps::{Mapped, Maps};
use super::order::Order;
use super::pending::Pending;
use super::stack::Stack;
use super::unwritten::Unwritten;
use cloom_check::interpreted::footprint::Mode;
use cloom_check::{Kinds, Report, Sources};
use cloom_runtime::{
    Awaited, CheckedLaunch, CommandType, CompiledProgram, EnqueuedCommand, MappedRegion, NewObject, UsedMemory, Uses,
};
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::Arc;

/// Freed allocations that are remembered.
const MAX_FREED: usize = 256;

/// A kernel that was launched.
pub struct Known {
    /// Its program is kept, so that no other one gets its address.
    pub _program: Arc<CompiledProgram>,
    /// The kernel, or why there is none for the interpreter.
    pub linked: Result<Arc<Linked>, String>,
}

/// A command that has not ended.
#[derive(Clone)]
pub struct Command {
    /// Who has enqueued it.
    pub caller: Caller,
    /// What it launches.
    pub launch: Option<Arc<CheckedLaunch>>,
    /// What it uses, as far as that was known when it was enqueued.
    pub uses: Arc<Vec<Used>>,
    /// The regions that were mapped then.
    pub mapped: Vec<Mapped>,
    /// Whether the call waits for it.
    pub blocking: bool,
    /// Whether it runs a function of the program.
    pub is_native: bool,
}

/// What is known.
pub struct State {
    /// What is looked for.
    pub kinds: Kinds,
    pub report: Option<Report>,
    /// Shared with the launches that run.
    pub sources: Arc<Sources>,
    /// The names of the sources, in the order in which they came.
    names: BTreeMap<Vec<u8>, String>,
    /// The numbers of programs without a source: what they came as, and a hash of their code.
    numbers: BTreeMap<(&'static str, u64), usize>,
    /// Kernels that were launched, by the program's address.
    pub kernels: BTreeMap<(usize, String), Known>,
    pub launches: u64,
    /// What the application has made and not released.
    pub objects: Objects,
    /// Commands that have not ended, by their numbers.
    commands: BTreeMap<u64, Command>,
    order: Order,
    conflicts: Conflicts,
    pending: Pending,
    maps: Maps,
    /// What nothing has written.
    pub unwritten: Unwritten,
    host: HostMemory,
    /// Address and size of shared virtual memory that was freed, the oldest first. No two overlap.
    pub freed: Vec<(u64, u64)>,
    pub has_ended: bool,
    /// The kernels of the launches that run, by the numbers of the commands.
    running: BTreeMap<u64, String>,
    is_interrupted: bool,
}

impl State {
    /// Nothing is known yet.
    pub fn new(kinds: Kinds) -> State {
        State {
            kinds,
            report: None,
            sources: Arc::default(),
            names: BTreeMap::new(),
            numbers: BTreeMap::new(),
            kernels: BTreeMap::new(),
            launches: 0,
            objects: Objects::default(),
            commands: BTreeMap::new(),
            order: Order::default(),
            conflicts: Conflicts::default(),
            pending: Pending::default(),
            maps: Maps::default(),
            unwritten: Unwritten::default(),
            host: HostMemory::new(),
            freed: Vec::new(),
            has_ended: false,
            running: BTreeMap::new(),
            is_interrupted: false,
        }
    }

    /// The report. What comes before the first launch knows no device.
    pub fn report(&mut self, device: &str) -> &mut Report {
        let report = self.report.get_or_insert_with(|| Report::new(env!("CARGO_PKG_VERSION"), device));
        report.mode = if self.kinds.are_compiled() { "bounds" } else { "full" };
        if report.device.is_empty() {
            device.clone_into(&mut report.device);
        }
        report
    }

    /// The name of a source in findings. The first one is called as in the build log.
    pub fn name(&mut self, source: &[u8]) -> String {
        let next = self.names.len() + 1;
        let name = self.names.entry(source.to_vec()).or_insert_with(|| match next {
            1 => "program.cl".to_owned(),
            n => format!("program-{n}.cl"),
        });
        Arc::make_mut(&mut self.sources).add(name.clone(), String::from_utf8_lossy(source));
        name.clone()
    }

    /// The name of a program without a source, by its code.
    pub fn name_without_source(&mut self, what: &'static str, code: &[u8]) -> String {
        let mut hasher = FxHasher::default();
        hasher.write(code);
        let next = self.numbers.keys().filter(|(other, _)| *other == what).count() + 1;
        let number = self.numbers.entry((what, hasher.finish())).or_insert(next);
        format!("{what} {number}")
    }

    /// The program has made an object.
    pub fn created(&mut self, object: NewObject, stack: Stack) {
        // There is something to report on, even if nothing is found.
        self.report("");
        if let Some(storage) = object.storage {
            self.unwritten.created(storage, object.bytes, object.has_data);
        }
        self.objects.created(object, stack);
    }

    /// The program has released an object.
    pub fn released(&mut self, object: usize) {
        for mapped in self.maps.released(object) {
            self.never_unmapped(&mapped, "its memory object is released");
        }
        self.objects.released(object);
    }

    /// Shared virtual memory is freed.
    pub fn freed(&mut self, address: u64, size: u64) {
        self.objects.released(address as usize);
        let overlaps = |&(begin, bytes): &(u64, u64)| begin < address + size && address < begin + bytes;
        self.freed.retain(|other| !overlaps(other));
        if self.freed.len() == MAX_FREED {
            self.freed.remove(0);
        }
        self.freed.push((address, size));
    }

    /// A command is enqueued.
    pub fn enqueued(&mut self, command: EnqueuedCommand, stack: Stack) {
        let apart = self.order.enqueued(&command);
        // The order forgets the oldest commands.
        self.pending.keep(|id| self.order.is_unknown(id));
        let EnqueuedCommand { id, kind, blocking, uses, .. } = command;
        let mut caller = Caller { call: command::name(kind), stack, kernel: None };
        let mut launch = None;
        let mut uses: Vec<Used> = match uses.map(|uses| *uses) {
            Some(Uses::Launch(checked)) => {
                caller.kernel = Some(checked.kernel.clone());
                launch = Some(checked);
                Vec::new()
            }
            Some(Uses::Memory(list)) => list.into_iter().map(Used::from).collect(),
            Some(Uses::Map(region)) => self.maps(id, &caller, region),
            Some(Uses::Unmap { object, address }) => {
                if let Some(mapped) = self.maps.end(&self.host, object, address) {
                    self.wrote_mapped(&mapped);
                }
                Vec::new()
            }
            None => Vec::new(),
        };
        uses.retain(|used| used.ranges.iter().any(|range| !range.is_empty()));
        // What these write is not known.
        if matches!(kind, CommandType::CommandBuffer | CommandType::NativeKernel) {
            self.unwritten.forget_all();
        }
        let is_map = matches!(kind, CommandType::MapBuffer | CommandType::MapImage);
        // What waits for the program may run when the region is unmapped.
        let is_free = is_map || self.order.is_open(id);
        let mapped = if is_free { Vec::new() } else { self.maps.all().to_vec() };
        self.uses_maps(&caller, &uses, &mapped);
        if !blocking {
            for used in uses.iter().filter(|used| !used.mode.writes && self.objects.is_host(used)) {
                self.pending.add(&self.host, id, &caller, used);
            }
        }
        let known = launch.is_none().then(|| uses.clone());
        let conflicts = self.conflicts.enqueued(id, caller.clone(), known, apart);
        conflicts.iter().for_each(|conflict| self.conflict(conflict));
        let is_native = kind == CommandType::NativeKernel;
        let command = Command { caller, launch, uses: Arc::new(uses), mapped, blocking, is_native };
        self.commands.insert(id, command);
        if blocking {
            self.waits(Awaited::Events(&[id]));
        }
    }

    /// A command maps a region. Gives what it uses.
    fn maps(&mut self, id: u64, caller: &Caller, region: MappedRegion) -> Vec<Used> {
        // The host may write what is mapped, as soon as it is.
        let mode = Mode { writes: region.writes, is_atomic: false };
        let memory = UsedMemory::Object(region.storage);
        let used = Used { memory, ranges: vec![region.range.clone()], mode };
        let is_image = region.is_image;
        self.maps.begin(id, caller, region);
        // The mapped box of an image leaves out bytes.
        if is_image { Vec::new() } else { vec![used] }
    }

    /// Reports what a command uses of mapped regions.
    fn uses_maps(&mut self, caller: &Caller, uses: &[Used], mapped: &[Mapped]) {
        for used in uses {
            if let Some(mapped) = mapped.iter().find(|mapped| mapped.excludes(used)) {
                self.uses_mapped(caller, used.mode.writes, mapped);
            }
            if let UsedMemory::Object(storage) = used.memory
                && used.mode.writes
            {
                self.maps.written(storage);
            }
        }
    }

    /// A command begins. Gives it, if it is known.
    pub fn begins(&mut self, id: u64) -> Option<Command> {
        let command = self.commands.get(&id)?.clone();
        let mut misuses = self.pending.begins(&self.host, id);
        for used in command.uses.iter().filter(|used| used.mode.writes && used.memory == UsedMemory::Host) {
            misuses.extend(self.pending.overwritten(&self.host, &used.ranges));
        }
        misuses.iter().for_each(|misuse| self.too_soon(misuse));
        if command.is_native {
            // The program's own function knows that what it waited for has ended.
            let before = self.order.before(id);
            self.waits(Awaited::Events(&before));
        }
        for used in command.uses.iter() {
            if let (Some(range), UsedMemory::Object(storage)) = (self.unwritten.read_by(used), used.memory) {
                self.reads_unwritten(&command.caller, storage, &range);
            }
        }
        Some(command)
    }

    /// A kernel begins to run.
    pub fn runs(&mut self, id: u64, kernel: &str) {
        self.running.insert(id, kernel.to_owned());
    }

    /// A kernel has run, and has used memory so.
    pub fn ran(&mut self, id: u64, command: &Command, uses: Vec<Used>) {
        self.running.remove(&id);
        self.uses_maps(&command.caller, &uses, &command.mapped);
        uses.iter().for_each(|used| self.written(used));
        let conflicts = self.conflicts.ran(id, uses);
        conflicts.iter().for_each(|conflict| self.conflict(conflict));
    }

    /// Notes what is written.
    fn written(&mut self, used: &Used) {
        if let UsedMemory::Object(storage) = used.memory
            && used.mode.writes
        {
            self.unwritten.written(storage, &used.ranges);
        }
    }

    /// A command has ended. Gives it back.
    pub fn ended(&mut self, id: u64, has_run: bool) -> Option<Command> {
        let command = self.commands.remove(&id)?;
        if !has_run {
            return Some(command);
        }
        command.uses.iter().for_each(|used| self.written(used));
        for used in command.uses.iter().filter(|used| used.mode.writes && self.objects.is_host(used)) {
            if !command.blocking && self.order.is_unknown(id) {
                self.pending.add(&self.host, id, &command.caller, used);
            }
        }
        self.maps.ran(&self.host, id);
        Some(command)
    }

    /// The program is about to know that commands have ended.
    pub fn waits(&mut self, awaited: Awaited<'_>) {
        let ended = self.order.observed(awaited);
        let misuses = self.pending.ended(&self.host, &ended);
        misuses.iter().for_each(|misuse| self.too_soon(misuse));
    }

    /// A launch that is not checked may write its buffers.
    pub fn unchecked(&mut self) {
        self.unwritten.forget_all();
    }

    /// A signal ends the program.
    pub fn interrupted(&mut self) {
        self.is_interrupted = true;
        let running = std::mem::take(&mut self.running);
        let report = self.report("");
        for kernel in running.values() {
            report.not_checked(kernel, "the program was interrupted while a launch of it was checked");
        }
        if running.is_empty() {
            report.not_checked("", "the program was interrupted: what it would have done later");
        }
    }

    /// Reports what is left when the program ends by itself.
    pub fn ends(&mut self) {
        if self.is_interrupted {
            return;
        }
        for mapped in self.maps.all().to_vec() {
            self.never_unmapped(&mapped, "the program ends");
        }
        self.find_leaks();
    }
}
