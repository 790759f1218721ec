//! Runs one work-item (or one work-group function) until it ends or waits at a barrier. Its whole state is data, so
//! that the work-items of a group can take turns.

use crate::code::{Code, Collective, Decoded, Program, Reg};
use crate::fault::{Fault, FaultKind};
use crate::iterations::Iterations;
use crate::observe::{Observer, Point};
use crate::running::{Running, Shared};
use crate::shadow::{Definedness, Undefined};
use cloom_ir::{BinOp, Entity, FuncRef, Query, Scalar, Span};

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
    /// How many of the loops that it is in are around the call.
    loops: usize,
    /// What the observer calls the calls that it is in.
    calls: u32,
}

/// The state of a work-item.
#[derive(Default)]
pub struct Item {
    frames: Vec<Frame>,
    registers: Vec<u64>,
    /// Of which bits of the registers are defined; empty unless the observer follows values.
    defined: Definedness,
    /// The loops that it is in, if the observer follows values.
    iterations: Iterations,
    /// Private memory, oldest first.
    segments: Vec<u64>,
    /// Asynchronous copies that it has begun.
    copies: u64,
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
        self.defined.clear();
        self.iterations.truncate(0);
        self.copies = 0;
        self.frames.push(Frame { func, pc: 0, base: 0, result: Reg::MAX, segments: 0, loops: 0, calls: 0 });
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

    /// The undefined bits of a register of the running frame; none if values are not followed.
    pub(crate) fn undefined(&self, r: Reg) -> Undefined {
        self.frames.last().map_or(Undefined::NONE, |f| self.defined.of(f.base + r as usize))
    }

    /// Completes the operation that it waited for: writes the result and its undefined bits to its register.
    pub(crate) fn go_on(&mut self, result: Option<(Reg, u64, Undefined)>) {
        if let Some(f) = self.frames.last_mut() {
            f.pc += 1;
            if let Some((r, x, undefined)) = result
                && let Some(slot) = self.registers.get_mut(f.base + r as usize)
            {
                *slot = x;
                if let Some(slot) = self.defined.frame(f.base).get_mut(r as usize) {
                    *slot = undefined;
                }
            }
        }
    }

    /// The point at which it waits at a barrier, and its position there: the calls that it is in and the iterations of
    /// all loops around them.
    pub(crate) fn meeting(&self, program: &Program) -> (Point, Vec<u64>) {
        let (mut position, mut point) = (Vec::new(), Point::default());
        for frame in &self.frames {
            let func = &program.funcs[frame.func.index()];
            // The instruction after the call or the barrier is the next one.
            let pc = frame.pc.saturating_sub(1);
            let depth = func.loop_depths.get(pc).copied().unwrap_or(0);
            position.push(pc as u64);
            position.extend(self.iterations.rounds(frame.loops, depth));
            point = Point {
                item: self.ids.as_ref().map_or([0; 3], |ids| ids.global_id),
                span: func.spans.get(pc).copied().unwrap_or(Span::NONE),
                calls: frame.calls,
                iteration: self.iterations.innermost(frame.loops, depth),
            };
        }
        (point, position)
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
        let least = shared.fuel.saturating_sub(shared.turn);
        if O::FOLLOWS_VALUES {
            self.defined.grow(self.registers.len());
        }
        loop {
            let calls = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { break };
            let func: &Decoded = &program.funcs[frame.func.index()];
            // A definition has an instruction for each terminator at least.
            if func.code.is_empty() {
                return Err(FaultKind::NoBody(program.module.funcs[frame.func].name.clone()));
            }
            // The registers of the running frame are a slice, so that an instruction adds no base to their numbers.
            let at = Point {
                item: self.ids.as_ref().map_or([0; 3], |p| p.global_id),
                calls: frame.calls,
                ..Point::default()
            };
            let mut run = Running {
                r: &mut self.registers[frame.base..],
                defined: self.defined.frame(frame.base),
                iterations: &mut self.iterations,
                copies: &mut self.copies,
                at,
                frame: (frame.func, calls),
                loops: frame.loops,
                least,
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
                    let (mut loops, mut within) = (0, 0);
                    if O::FOLLOWS_VALUES {
                        let call = frame.pc - 1;
                        let depth = func.loop_depths[call];
                        let iteration = self.iterations.innermost(frame.loops, depth);
                        let lane = |&(a, n): &(Reg, u32)| &self.registers[from..][a as usize..(a + n) as usize];
                        let lanes: Vec<u64> = args.iter().flat_map(lane).copied().collect();
                        within =
                            shared.observer.call(callee, &lanes, &Point { span: func.spans[call], iteration, ..at });
                        loops = self.iterations.enter(frame.loops, depth);
                        self.defined.grow(base + decoded.registers.len());
                    }
                    self.registers.extend_from_slice(&decoded.registers);
                    for (&(a, n), &(p, _)) in args.iter().zip(&decoded.params) {
                        let a = from + a as usize;
                        self.registers.copy_within(a..a + n as usize, base + p as usize);
                        if O::FOLLOWS_VALUES {
                            self.defined.copy_within(a..a + n as usize, base + p as usize);
                        }
                    }
                    let segments = self.segments.len();
                    self.frames.push(Frame { func: callee, pc: 0, base, result: d, segments, loops, calls: within });
                }
                Event::Return(a, n) => {
                    let (base, result, segments, loops) = (frame.base, frame.result, frame.segments, frame.loops);
                    // What the function allocated dies with it: an access through a pointer that escaped is then a
                    // fault.
                    self.segments.drain(segments..).for_each(|s| shared.free(s));
                    self.frames.pop();
                    // Before the registers of the callee are cut off.
                    if let (Some(caller), true) = (self.frames.last(), result != Reg::MAX) {
                        let a = base + a as usize;
                        self.registers.copy_within(a..a + n as usize, caller.base + result as usize);
                        if O::FOLLOWS_VALUES {
                            self.defined.copy_within(a..a + n as usize, caller.base + result as usize);
                        }
                    }
                    self.registers.truncate(base);
                    if O::FOLLOWS_VALUES {
                        self.defined.truncate(base);
                        self.iterations.truncate(loops);
                    }
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

impl<O: Observer> Running<'_, '_, O> {
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
                if O::FOLLOWS_VALUES {
                    self.at.span = func.spans[*pc];
                    self.at.iteration = self.iterations.innermost(self.loops, func.loop_depths[*pc]);
                    if self.define(&func.code[*pc]) {
                        // An access at an undefined address is left out: what it would find says nothing.
                        self.leave_out(&func.code[*pc]);
                        *pc += 1;
                        continue;
                    }
                }
                match &func.code[*pc] {
                    Code::Bin { op, ty, d, a, b, .. } => {
                        let (a, b) = (self.get(*a), self.get(*b));
                        // The commonest operations here; all others in [`cloom_ir::eval`].
                        let x = match (op, ty) {
                            (BinOp::Add, Scalar::I32) => u64::from((a as u32).wrapping_add(b as u32)),
                            (BinOp::Add, Scalar::I64) => a.wrapping_add(b),
                            _ => self.operation(*op, *ty, a, b),
                        };
                        self.set(*d, x);
                    }
                    Code::Alloca { size, align, name, d } => {
                        let address = self.shared.memory.allocate(*size)?;
                        segments.push(address);
                        if O::FOLLOWS_VALUES {
                            self.shared.observer.variable(address, (*size, *align), name.as_ref(), &self.at);
                        }
                        self.set(*d, address);
                    }
                    Code::GlobalAddr { global, d } => self.set(*d, self.shared.globals[*global as usize]),
                    // The interpreter ends kernels by limits of its own.
                    Code::Poll { d } => self.set(*d, 0),
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
                    value if self.value(value) => {}
                    memory => {
                        // Looked up for accesses only, which tell it to the observer. A fault takes its position from
                        // the frame's `pc`.
                        self.at.span = func.spans[*pc];
                        if let Err(fault) = self.memory(memory) {
                            self.go_on_after(&fault, memory)?;
                        }
                    }
                }
                *pc += 1;
            };
            self.spend((*pc - begin) as u64 + 1)?;
            self.go(func, pc, to);
            // After the copies of the edge and with `pc` at the header: when the wait is over, the work-item goes on
            // there.
            if let (Some((at, depth)), true) = (to.wait, ids.is_some()) {
                return Ok(Event::Round(at, depth));
            }
        }
    }
}
