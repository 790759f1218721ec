//! Runs one work-item (or one work-group function) until it ends or waits at a barrier. Its whole state is data, so
//! that the work-items of a group can take turns.

use crate::code::{Code, Collective, Decoded, Lanes, Program, Reg, To};
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::observe::{Access, AccessKind, Observer, Printed};
use cloom_ir::{BinOp, CastOp, Entity, FuncRef, Order, Query, RmwOp, Scalar, Scope, Span, Type, abi, eval};

/// The ids of a work-item in its range.
#[derive(Clone, Debug, Default)]
pub struct WorkItemIds {
    pub(crate) work_dim: u32,
    pub(crate) global_id: [u64; 3],
    pub(crate) local_id: [u64; 3],
    pub(crate) group_id: [u64; 3],
    pub(crate) global_size: [u64; 3],
    pub(crate) local_size: [u64; 3],
    pub(crate) enqueued_local_size: [u64; 3],
    pub(crate) local_memory_size: u64,
    pub(crate) num_groups: [u64; 3],
    pub(crate) global_offset: [u64; 3],
    pub(crate) subgroup: Subgroup,
}

/// The ids of a work-item among the sub-groups of its group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subgroup {
    pub local_id: u64,
    pub size: u64,
    pub max_size: u64,
    pub id: u64,
    pub count: u64,
    pub enqueued_count: u64,
    /// The size of whole ones.
    pub lanes: u16,
}

impl WorkItemIds {
    fn query(&self, what: Query, dim: u8) -> u64 {
        let of = match what {
            Query::WorkDim => return u64::from(self.work_dim),
            Query::GlobalId => &self.global_id,
            Query::LocalId => &self.local_id,
            Query::GroupId => &self.group_id,
            Query::GlobalSize => &self.global_size,
            Query::LocalSize => &self.local_size,
            Query::EnqueuedLocalSize => &self.enqueued_local_size,
            Query::NumGroups => &self.num_groups,
            Query::GlobalOffset => &self.global_offset,
            Query::SubgroupLocalId => return self.subgroup.local_id,
            Query::SubgroupSize => return self.subgroup.size,
            Query::MaxSubgroupSize => return self.subgroup.max_size,
            Query::SubgroupId => return self.subgroup.id,
            Query::NumSubgroups => return self.subgroup.count,
            Query::EnqueuedNumSubgroups => return self.subgroup.enqueued_count,
            Query::LocalMemorySize => return self.local_memory_size,
        };
        of[usize::from(dim)]
    }
}

struct Frame {
    func: FuncRef,
    pc: usize,
    base: usize,
    /// Where the caller wants the result.
    result: Reg,
    /// How many of the work-item's segments are older than this frame.
    segments: usize,
}

/// The state of a work-item.
#[derive(Default)]
pub struct Item {
    frames: Vec<Frame>,
    registers: Vec<u64>,
    /// Private memory, oldest first.
    segments: Vec<u64>,
    /// It waits at a back edge: the position, and the loop's nesting depth.
    latch: Option<(u32, u32)>,
    /// Its ids; `None` for a work-group function.
    pub ids: Option<WorkItemIds>,
}

/// Why a work-item stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It ended.
    Done,
    /// It waits at a barrier, this one.
    Barrier(FuncRef, usize),
    /// It waits for others of its sub-group at a collective operation.
    Subgroup,
}

/// State shared by all work-items.
pub struct Shared<'a, O> {
    /// What runs.
    pub program: &'a Program,
    /// All memory.
    pub memory: &'a mut Memory,
    /// Address of each global; those in local memory change from group to group.
    pub globals: &'a [u64],
    /// How many more instructions may run.
    pub fuel: &'a mut u64,
    /// Who watches.
    pub observer: &'a mut O,
}

impl<O: Observer> Shared<'_, O> {
    /// Ends the life of private or local memory.
    pub fn free(&mut self, address: u64) {
        self.observer.freed(address);
        self.memory.free(address);
    }
}

impl Item {
    /// A work-item at the start of a function. The arguments are the lanes of all parameters, in order.
    pub fn start(&mut self, program: &Program, func: FuncRef, args: &[u64], ids: Option<WorkItemIds>) {
        self.frames.clear();
        self.registers.clear();
        self.ids = ids;
        let decoded = &program.funcs[func.index()];
        self.registers.extend_from_slice(&decoded.registers);
        let mut args = args.iter();
        for &(r, n) in &decoded.params {
            for slot in &mut self.registers[r as usize..(r + n) as usize] {
                *slot = args.next().copied().unwrap_or(0);
            }
        }
        self.frames.push(Frame { func, pc: 0, base: 0, result: Reg::MAX, segments: 0 });
    }

    /// Frees the private memory of a work-item that is abandoned.
    pub fn release<O: Observer>(&mut self, shared: &mut Shared<'_, O>) {
        self.segments.drain(..).for_each(|s| shared.free(s));
        self.frames.clear();
    }

    /// Where it waits for others of its sub-group: the calls it is in, outermost first, then the instruction; at the
    /// end of loops, inner ones first.
    pub(crate) fn position(&self) -> Vec<usize> {
        let top = self.frames.len().saturating_sub(1);
        // A caller's position is its call, not the instruction after it.
        let calls = self.frames.iter().take(top).map(|f| f.pc - 1);
        let (at, depth) = match (self.latch, self.frames.last()) {
            // At one position, the smaller number is that of the inner loop.
            (Some((at, depth)), _) => (at as usize, usize::MAX - depth as usize),
            (None, f) => (f.map_or(0, |f| f.pc), 0),
        };
        calls.chain([at, depth]).collect()
    }

    /// Continues with the next iteration, if it waits at a back edge.
    pub(crate) fn next_iteration(&mut self) -> bool {
        self.latch.take().is_some()
    }

    /// What it waits for.
    pub(crate) fn waits_at<'p>(&self, program: &'p Program) -> Option<&'p Code> {
        self.frames.last().and_then(|f| program.funcs[f.func.index()].code.get(f.pc))
    }

    /// A register of the running frame.
    pub(crate) fn register(&self, r: Reg) -> u64 {
        self.frames.last().and_then(|f| self.registers.get(f.base + r as usize)).copied().unwrap_or(0)
    }

    /// Completes the operation that it waited for: writes the result to its register.
    pub(crate) fn go_on(&mut self, result: Option<(Reg, u64)>) {
        if let Some(f) = self.frames.last_mut() {
            f.pc += 1;
            if let Some((r, x)) = result
                && let Some(slot) = self.registers.get_mut(f.base + r as usize)
            {
                *slot = x;
            }
        }
    }

    fn fault<O>(&self, shared: &Shared<'_, O>, kind: FaultKind) -> Fault {
        let item = self.ids.as_ref().map_or([0; 3], |p| p.global_id);
        let Some(frame) = self.frames.last() else { return Fault { item, ..kind.into() } };
        let span = shared.program.funcs[frame.func.index()].spans.get(frame.pc).copied().unwrap_or(Span::NONE);
        Fault { kind, func: shared.program.module.funcs[frame.func].name.clone(), span, item }
    }

    /// Runs until the work-item ends or waits.
    pub fn run<O: Observer>(&mut self, shared: &mut Shared<'_, O>) -> Result<Stop, Fault> {
        match self.steps(shared) {
            Ok(stop) => Ok(stop),
            Err(kind) => Err(self.fault(shared, kind)),
        }
    }

    fn steps<O: Observer>(&mut self, shared: &mut Shared<'_, O>) -> Result<Stop, FaultKind> {
        let program = shared.program;
        loop {
            let calls = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { break };
            let func: &Decoded = &program.funcs[frame.func.index()];
            // A definition has an instruction for each terminator at least.
            if func.code.is_empty() {
                return Err(FaultKind::NoBody(program.module.funcs[frame.func].name.clone()));
            }
            // The registers of the running frame are a slice, so that an instruction adds no base to their numbers.
            let mut run = Running {
                r: &mut self.registers[frame.base..],
                item: self.ids.as_ref().map_or([0; 3], |p| p.global_id),
                span: Span::NONE,
                frame: (frame.func, calls),
                shared,
            };
            match run.straight(func, &mut frame.pc, self.ids.as_ref(), &mut self.segments)? {
                Event::Subgroup => return Ok(Stop::Subgroup),
                Event::Round(at, depth) => {
                    self.latch = Some((at, depth));
                    return Ok(Stop::Subgroup);
                }
                Event::Barrier => {
                    let at = frame.pc;
                    frame.pc += 1;
                    return Ok(Stop::Barrier(frame.func, at));
                }
                Event::Call(callee, args, d) => {
                    frame.pc += 1;
                    let (from, base) = (frame.base, self.registers.len());
                    // The callee's frame lies behind the caller's. The arguments are copied within one list of
                    // registers.
                    let decoded = &program.funcs[callee.index()];
                    self.registers.extend_from_slice(&decoded.registers);
                    for (&(a, n), &(p, _)) in args.iter().zip(&decoded.params) {
                        let a = from + a as usize;
                        self.registers.copy_within(a..a + n as usize, base + p as usize);
                    }
                    let segments = self.segments.len();
                    self.frames.push(Frame { func: callee, pc: 0, base, result: d, segments });
                }
                Event::Return(a, n) => {
                    let (base, result, segments) = (frame.base, frame.result, frame.segments);
                    // What the function allocated dies with it: an access through a pointer that escaped is then a
                    // fault.
                    self.segments.drain(segments..).for_each(|s| shared.free(s));
                    self.frames.pop();
                    // Before the registers of the callee are cut off.
                    if let (Some(caller), true) = (self.frames.last(), result != Reg::MAX) {
                        let a = base + a as usize;
                        self.registers.copy_within(a..a + n as usize, caller.base + result as usize);
                    }
                    self.registers.truncate(base);
                }
            }
        }
        shared.observer.ended();
        Ok(Stop::Done)
    }
}

/// What ends a straight-line run within one frame.
enum Event<'c> {
    Barrier,
    Subgroup,
    /// A back edge of a loop with collective operations.
    Round(u32, u32),
    Call(FuncRef, &'c [(Reg, u32)], Reg),
    Return(Reg, u32),
}

struct Running<'r, 's, O> {
    r: &'r mut [u64],
    item: [u64; 3],
    span: Span,
    /// The function, and how many calls deep it is.
    frame: (FuncRef, usize),
    shared: &'r mut Shared<'s, O>,
}

impl<O: Observer> Running<'_, '_, O> {
    #[inline]
    fn get(&self, r: Reg) -> u64 {
        self.r[r as usize]
    }

    #[inline]
    fn set(&mut self, r: Reg, bits: u64) {
        self.r[r as usize] = bits;
    }

    /// The lanes of a mask.
    fn mask(&self, r: Reg, n: u32) -> &[u64] {
        &self.r[r as usize..(r + n) as usize]
    }

    /// Each lane of `d` from the lanes of the operands with the same number.
    #[inline]
    fn map(&mut self, n: u32, d: Reg, f: impl Fn(&[u64], u32) -> u64) {
        for i in 0..n {
            let x = f(self.r, i);
            self.r[(d + i) as usize] = x;
        }
    }

    #[inline]
    fn go(&mut self, pc: &mut usize, to: &To) {
        if to.pc as usize <= *pc {
            self.shared.observer.back_edge(self.frame.0, to.block, self.frame.1);
        }
        if to.overlap {
            let old: Vec<u64> = to.moves.iter().map(|m| self.r[m.1 as usize]).collect();
            for (m, x) in to.moves.iter().zip(old) {
                self.r[m.0 as usize] = x;
            }
        } else {
            for m in &to.moves {
                self.r[m.0 as usize] = self.r[m.1 as usize];
            }
        }
        *pc = to.pc as usize;
    }

    fn spend(&mut self, amount: u64) -> Result<(), FaultKind> {
        match self.shared.fuel.checked_sub(amount) {
            Some(rest) => {
                *self.shared.fuel = rest;
                Ok(())
            }
            None => Err(FaultKind::Fuel),
        }
    }

    /// The clock: a tick for each instruction of the launch, the last ones of which have not been charged yet.
    fn ticks(&self, uncharged: usize) -> u64 {
        // The complement grows as the budget shrinks, whatever the budget was.
        (!*self.shared.fuel).wrapping_add(uncharged as u64)
    }

    fn straight<'c>(
        &mut self,
        func: &'c Decoded,
        pc: &mut usize,
        ids: Option<&WorkItemIds>,
        segments: &mut Vec<u64>,
    ) -> Result<Event<'c>, FaultKind> {
        loop {
            // Where the straight-line run began: its instructions are charged to the budget together.
            let begin = *pc;
            let to = loop {
                match &func.code[*pc] {
                    Code::Bin { op, ty, d, a, b } => {
                        let (a, b) = (self.get(*a), self.get(*b));
                        // The commonest operations here; all others in [`cloom_ir::eval`].
                        let x = match (op, ty) {
                            (BinOp::Add, Scalar::I32) => u64::from((a as u32).wrapping_add(b as u32)),
                            (BinOp::Add, Scalar::I64) => a.wrapping_add(b),
                            _ => eval::binary(*op, *ty, a, b),
                        };
                        self.set(*d, x);
                    }
                    Code::BinV { op, l, d, a, b } => {
                        self.map(l.n, *d, |r, i| eval::binary(*op, l.ty, r[(a + i) as usize], r[(b + i) as usize]));
                    }
                    Code::Un { op, l, d, a } => {
                        self.map(l.n, *d, |r, i| eval::unary(*op, l.ty, r[(a + i) as usize]));
                    }
                    Code::Fma { l, d, a, b, c } => self.map(l.n, *d, |r, i| {
                        eval::fma(l.ty, r[(a + i) as usize], r[(b + i) as usize], r[(c + i) as usize])
                    }),
                    Code::Icmp { cc, l, d, a, b } => self.map(l.n, *d, |r, i| {
                        u64::from(eval::icmp(*cc, l.ty, r[(a + i) as usize], r[(b + i) as usize]))
                    }),
                    Code::Fcmp { cc, l, d, a, b } => self.map(l.n, *d, |r, i| {
                        u64::from(eval::fcmp(*cc, l.ty, r[(a + i) as usize], r[(b + i) as usize]))
                    }),
                    Code::Cast { op, l, to, d, a } => {
                        self.map(l.n, *d, |r, i| eval::cast(*op, l.ty, *to, r[(a + i) as usize]));
                    }
                    Code::Bitcast { from, to, d, a } => self.bitcast(*from, *to, *d, *a),
                    Code::Select { n, cond_lanes, d, a, b, c } => self.map(*n, *d, |r, i| {
                        let cond = r[(if *cond_lanes { a + i } else { *a }) as usize];
                        r[(if cond != 0 { b + i } else { c + i }) as usize]
                    }),
                    Code::Extract { n, d, a, b } => {
                        let lane = (self.get(*b) % u64::from(*n)) as u32;
                        self.set(*d, self.get(a + lane));
                    }
                    Code::Insert { n, d, a, b, c } => {
                        let lane = (self.get(*b) % u64::from(*n)) as u32;
                        let x = self.get(*c);
                        self.map(*n, *d, |r, i| if i == lane { x } else { r[(a + i) as usize] });
                    }
                    Code::Any { n, d, a } => {
                        let any = self.mask(*a, *n).iter().any(|&lane| lane != 0);
                        self.set(*d, any.into());
                    }
                    Code::All { n, d, a } => {
                        let all = self.mask(*a, *n).iter().all(|&lane| lane != 0);
                        self.set(*d, all.into());
                    }
                    Code::Ballot { n, d, a } => {
                        let bits = self.mask(*a, *n).iter().rev().fold(0, |bits, lane| bits << 1 | lane);
                        self.set(*d, bits);
                    }
                    Code::Pick { d, from } => self.map(from.len() as u32, *d, |r, i| r[from[i as usize] as usize]),
                    Code::Alloca { size, d } => {
                        let address = self.shared.memory.allocate(*size)?;
                        segments.push(address);
                        self.set(*d, address);
                    }
                    Code::PtrAdd { n, d, a, b } => {
                        self.map(*n, *d, |r, i| r[(a + i) as usize].wrapping_add(r[(b + i) as usize]));
                    }
                    Code::GlobalAddr { global, d } => self.set(*d, self.shared.globals[*global as usize]),
                    Code::Clock { d } => self.set(*d, self.ticks(*pc - begin)),
                    Code::Query { what, dim, d } => {
                        let ids = ids.ok_or(FaultKind::NotInItem)?;
                        self.set(*d, ids.query(*what, *dim));
                    }
                    Code::Barrier(_) => {
                        ids.ok_or(FaultKind::NotInItem)?;
                        self.spend((*pc - begin) as u64 + 1)?;
                        return Ok(Event::Barrier);
                    }
                    // A work-group function has no work-items to wait for.
                    Code::Subgroup { what: Collective::Fence, .. } if ids.is_none() => {}
                    Code::Subgroup { .. } => {
                        ids.ok_or(FaultKind::NotInItem)?;
                        self.spend((*pc - begin) as u64 + 1)?;
                        // `pc` stays at the instruction until `go_on`: others of the sub-group see by it which
                        // operation this one waits for.
                        return Ok(Event::Subgroup);
                    }
                    Code::Call { func, args, d } => {
                        // Before the callee runs, which counts its own and may read the clock.
                        self.spend((*pc - begin) as u64 + 1)?;
                        return Ok(Event::Call(*func, args, *d));
                    }
                    Code::Jump(to) => break to,
                    Code::Branch { cond, then, els } => break if self.get(*cond) != 0 { then } else { els },
                    Code::Switch { value, cases, default } => {
                        let found = cases.binary_search_by_key(&self.get(*value), |c| c.0);
                        break found.map_or(default, |i| &cases[i].1);
                    }
                    Code::Return { a, n } => {
                        self.spend((*pc - begin) as u64 + 1)?;
                        return Ok(Event::Return(*a, *n));
                    }
                    Code::Unreachable => return Err(FaultKind::Unreachable),
                    memory => {
                        // Looked up for accesses only, which tell it to the observer. A fault takes its position from
                        // the frame's `pc`.
                        self.span = func.spans[*pc];
                        self.memory(memory)?;
                    }
                }
                *pc += 1;
            };
            self.spend((*pc - begin) as u64 + 1)?;
            self.go(pc, to);
            // After the copies of the edge and with `pc` at the header: when the wait is over, the work-item goes on
            // there.
            if let (Some((at, depth)), true) = (to.wait, ids.is_some()) {
                return Ok(Event::Round(at, depth));
            }
        }
    }

    fn bitcast(&mut self, from: Lanes, to: Lanes, d: Reg, a: Reg) {
        if from.n == to.n {
            return self.map(to.n, d, |r, i| eval::cast(CastOp::Bitcast, from.ty, to.ty, r[(a + i) as usize]));
        }
        let size = from.ty.bytes() as usize;
        // As in memory: lane 0 has the lowest bytes.
        let mut bytes = Vec::with_capacity(size * from.n as usize);
        for i in 0..from.n {
            bytes.extend_from_slice(&self.get(a + i).to_le_bytes()[..size]);
        }
        let size = to.ty.bytes() as usize;
        for (i, lane) in (0..to.n).zip(bytes.chunks(size)) {
            self.set(d + i, bits(lane));
        }
    }

    fn access(&self, kind: AccessKind, address: u64, size: u64) -> Access {
        Access { kind, atomic: None, address, size, item: self.item, span: self.span }
    }

    #[inline]
    fn check_align(address: u64, align: u32) -> Result<(), FaultKind> {
        if address & u64::from(align - 1) == 0 { Ok(()) } else { Err(FaultKind::Misaligned { address, align }) }
    }

    /// Bits of one lane in memory.
    fn read(&mut self, ty: Scalar, address: u64, atomic: Option<(Order, Scope)>) -> Result<u64, FaultKind> {
        let size = u64::from(ty.bytes());
        let (bytes, written) = self.shared.memory.read(address, size)?;
        let x = bits(bytes);
        let access = Access { atomic, ..self.access(AccessKind::Load, address, size) };
        self.shared.observer.access(&access);
        if !written {
            self.shared.observer.uninitialised(&access);
        }
        Ok(x)
    }

    fn write(&mut self, ty: Scalar, address: u64, x: u64, atomic: Option<(Order, Scope)>) -> Result<(), FaultKind> {
        let size = ty.bytes() as usize;
        self.shared.memory.write(address, size as u64)?.copy_from_slice(&x.to_le_bytes()[..size]);
        let access = Access { atomic, ..self.access(AccessKind::Store, address, size as u64) };
        self.shared.observer.access(&access);
        Ok(())
    }

    /// The address of a lane of a masked access: `a` has one address for all lanes, or `apart` one for each.
    fn lane_address(&self, l: Lanes, align: u32, apart: bool, a: Reg, lane: u32) -> Result<u64, FaultKind> {
        // The alignment of a consecutive access is that of its first lane, also if that is off.
        let (first, offset) = if apart { (self.get(a + lane), 0) } else { (self.get(a), lane * l.ty.bytes()) };
        Self::check_align(first, align)?;
        Ok(first.wrapping_add(u64::from(offset)))
    }

    fn memory(&mut self, code: &Code) -> Result<(), FaultKind> {
        match *code {
            Code::Load { l, align, d, a } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                let size = u64::from(l.ty.bytes());
                let (bytes, written) = self.shared.memory.read(address, size * u64::from(l.n))?;
                for (slot, lane) in self.r[d as usize..].iter_mut().zip(bytes.chunks(size as usize)) {
                    *slot = bits(lane);
                }
                let access = self.access(AccessKind::Load, address, size * u64::from(l.n));
                self.shared.observer.access(&access);
                if !written {
                    self.shared.observer.uninitialised(&access);
                }
            }
            Code::Store { l, align, a, b } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                let size = l.ty.bytes() as usize;
                let bytes = self.shared.memory.write(address, size as u64 * u64::from(l.n))?;
                for (lane, x) in bytes.chunks_mut(size).zip(&self.r[b as usize..]) {
                    lane.copy_from_slice(&x.to_le_bytes()[..size]);
                }
                let access = self.access(AccessKind::Store, address, size as u64 * u64::from(l.n));
                self.shared.observer.access(&access);
            }
            // Lanes that are off touch nothing: their addresses may be anything.
            Code::LoadLanes { l, align, apart, d, a, b } => {
                for lane in 0..l.n {
                    let mut x = 0;
                    if self.get(b + lane) != 0 {
                        let address = self.lane_address(l, align, apart, a, lane)?;
                        x = self.read(l.ty, address, None)?;
                    }
                    self.set(d + lane, x);
                }
            }
            Code::StoreLanes { l, align, apart, a, b, c } => {
                for lane in 0..l.n {
                    if self.get(c + lane) != 0 {
                        let address = self.lane_address(l, align, apart, a, lane)?;
                        self.write(l.ty, address, self.get(b + lane), None)?;
                    }
                }
            }
            Code::MemCopy { size, align, a, b } => {
                let (to, from) = (self.get(a), self.get(b));
                Self::check_align(to, align)?;
                Self::check_align(from, align)?;
                // One instruction may copy gigabytes: the budget counts sixteen bytes as one instruction.
                self.spend(size / 16)?;
                let load = self.access(AccessKind::Load, from, size);
                let store = self.access(AccessKind::Store, to, size);
                if size > 0 {
                    // Copies keep unwritten bytes unwritten, and their use is reported: padding is copied too.
                    self.shared.memory.copy(to, from, size)?;
                    self.shared.observer.access(&load);
                    self.shared.observer.access(&store);
                }
            }
            Code::MemSet { size, byte, align, a } => {
                let address = self.get(a);
                Self::check_align(address, align)?;
                self.spend(size / 16)?;
                if size > 0 {
                    self.shared.memory.write(address, size)?.fill(byte);
                    let access = self.access(AccessKind::Store, address, size);
                    self.shared.observer.access(&access);
                }
            }
            // Atomic because no other work-item has a turn between the two accesses.
            Code::Rmw { op, atomic, ty, d, a, b } => {
                let (address, x) = (self.get(a), self.get(b));
                Self::check_align(address, ty.bytes())?;
                let old = self.read(ty, address, Some(atomic))?;
                self.write(ty, address, combine(op, ty, old, x), Some(atomic))?;
                self.set(d, old);
            }
            Code::CmpXchg { atomic, ty, d, a, b, c } => {
                let (address, expected, new) = (self.get(a), self.get(b), self.get(c));
                Self::check_align(address, ty.bytes())?;
                let old = self.read(ty, address, Some(atomic))?;
                let x = if old == expected { new } else { old };
                self.write(ty, address, x, Some(atomic))?;
                self.set(d, old);
            }
            Code::AtomicLoad { atomic, ty, d, a } => {
                let address = self.get(a);
                Self::check_align(address, ty.bytes())?;
                let x = self.read(ty, address, Some(atomic))?;
                self.set(d, x);
            }
            Code::AtomicStore { atomic, ty, a, b } => {
                let (address, x) = (self.get(a), self.get(b));
                Self::check_align(address, ty.bytes())?;
                self.write(ty, address, x, Some(atomic))?;
            }
            Code::Fence { order, scope } => self.shared.observer.fence(self.item, order, scope, self.span),
            Code::Printf { format, item, ref args } => {
                let printed = Printed { format, item: self.get(item), args: self.pack(args) };
                self.shared.observer.printf(printed);
            }
            Code::DeviceCall => return Err(FaultKind::NoLauncher),
            Code::Sample => return Err(FaultKind::NoTextures),
            // The other instructions are executed in the main loop.
            _ => return Err(FaultKind::Unreachable),
        }
        Ok(())
    }

    /// The block of arguments of a printf.
    fn pack(&self, args: &[(Reg, Type)]) -> Vec<u8> {
        let (offsets, size) = abi::printf_layout(args.iter().map(|a| a.1));
        let mut block = vec![0; size as usize];
        for (&(r, ty), at) in args.iter().zip(offsets) {
            let size = ty.scalar.bytes() as usize;
            for i in 0..usize::from(ty.lanes) {
                let at = at as usize + i * size;
                block[at..at + size].copy_from_slice(&self.r[r as usize + i].to_le_bytes()[..size]);
            }
        }
        block
    }
}

/// A lane from its bytes.
#[inline]
fn bits(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        [a] => u64::from(a),
        _ => bytes.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b)),
    }
}

fn combine(op: RmwOp, ty: Scalar, old: u64, x: u64) -> u64 {
    let op = match op {
        RmwOp::Xchg => return x,
        RmwOp::Add => BinOp::Add,
        RmwOp::Sub => BinOp::Sub,
        RmwOp::And => BinOp::And,
        RmwOp::Or => BinOp::Or,
        RmwOp::Xor => BinOp::Xor,
        RmwOp::Smin => BinOp::Smin,
        RmwOp::Smax => BinOp::Smax,
        RmwOp::Umin => BinOp::Umin,
        RmwOp::Umax => BinOp::Umax,
        RmwOp::Fadd => BinOp::Fadd,
        RmwOp::Fmin => BinOp::Fmin,
        RmwOp::Fmax => BinOp::Fmax,
    };
    eval::binary(op, ty, old, x)
}
