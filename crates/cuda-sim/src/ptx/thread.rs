//! One thread: its registers, call stack and memory, and the execution of its instructions.
//!
//! In: the code and the state that threads share. Out: a thread that has ended, waits, or has spent its slice; or a
//! fault. A thread that waits stays at its instruction. Whoever continues it writes the results and moves it to the
//! next instruction.

use super::code::{Code, Function};
use super::fault::{Fault, Place};
use super::grid::Grid;
use super::memory::{self, FUNCTION_STRIDE, FUNCTION_WINDOW, GlobalMemory, LOCAL_START, SHARED_START, align_up};
use super::op::{Call, Callee, Combine, Dst, FloatForm, Function as Compute, Inst, Op, SetPredicate, Special, Src};
use super::op::{Test, Type};
use super::soft::Format;
use super::{alu_float, alu_int, convert};

/// The bytes of memory and registers that were never written: no code may rely on zeros.
pub(super) const GARBAGE: u8 = 0xCD;

/// Local memory and calls of one thread may not need more than this.
const STACK_LIMIT: usize = 1 << 26;
const DEPTH_LIMIT: usize = 1 << 14;

/// Why a thread does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Ended,
    /// The threads of a mask.
    Warp(u32),
    /// It is at an `activemask`.
    Active,
    /// It is at a reconvergence point.
    Converge,
    /// It is at a barrier, perhaps with a number of threads.
    Barrier(u32, Option<u32>),
}

/// The state that all threads of a launch share.
pub(super) struct Context<'a> {
    pub(super) code: &'a Code,
    /// Addresses of the global variables.
    pub(super) addresses: &'a [u64],
    /// Constant memory from [`CONST_START`].
    pub(super) constants: &'a [u8],
    pub(super) grid: &'a Grid,
    pub(super) memory: &'a mut dyn GlobalMemory,
    pub(super) budget: u64,
    /// Instructions that may still run.
    pub(super) left: u64,
}

/// The state that the threads of a block share.
pub(super) struct Common {
    pub(super) group: [u32; 3],
    /// Shared memory from [`SHARED_START`].
    pub(super) shared: Vec<u8>,
    /// Threads that have announced themselves with `bar.arrive`, by barrier.
    pub(super) arrived: [u32; 16],
}

/// A return address with the caller's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) function: u32,
    /// The call.
    pub(super) at: u32,
    registers: usize,
    local: usize,
    params: usize,
}

/// A thread.
pub(super) struct Thread {
    pub(super) state: State,
    pub(super) number: u32,
    pub(super) tid: [u32; 3],
    pub(super) function: u32,
    /// The next instruction.
    pub(super) at: u32,
    pub(super) callers: Vec<Frame>,
    /// How often others continued while it waited at a reconvergence point.
    pub(super) patience: u32,
    /// Registers of all frames; the current frame's begin at `base`.
    registers: Vec<u64>,
    base: usize,
    /// Local memory of all frames, from [`LOCAL_START`].
    pub(super) local: Vec<u8>,
    local_base: usize,
    pub(super) params: Vec<u8>,
    pub(super) param_base: usize,
    carry: bool,
}

impl Thread {
    /// A thread at the start of an entry.
    pub(super) fn new(number: u32, tid: [u32; 3], entry: u32, function: &Function, params: &[u8]) -> Thread {
        let mut area = params.to_vec();
        // Behind the parameters is room for those of calls.
        area.resize(function.param_size as usize, 0);
        Thread {
            state: State::Ready,
            number,
            tid,
            function: entry,
            at: 0,
            callers: Vec::new(),
            patience: 0,
            registers: vec![u64::from_ne_bytes([GARBAGE; 8]); function.registers as usize],
            base: 0,
            local: vec![GARBAGE; function.local_size as usize],
            local_base: 0,
            params: area,
            param_base: 0,
            carry: false,
        }
    }

    /// The instruction at which the thread is.
    pub(super) fn inst<'c>(&self, code: &'c Code) -> Option<&'c Inst> {
        code.functions.get(self.function as usize)?.code.get(self.at as usize)
    }

    /// The line at which the thread is.
    pub(super) fn line(&self, code: &Code) -> u32 {
        self.inst(code).map_or(0, |inst| inst.line)
    }

    pub(super) fn place(&self, line: u32, common: &Common) -> Place {
        Place { line, group: common.group, thread: self.tid }
    }

    /// Continues a waiting thread after its instruction.
    pub(super) fn resume(&mut self) {
        self.at += 1;
        self.state = State::Ready;
        self.patience = 0;
    }

    /// Writes a register.
    pub(super) fn write(&mut self, dst: Dst, value: u64) {
        if let Some(register) = self.registers.get_mut(self.base + dst.slot as usize) {
            // Results may have bits above the width of the register, which a later 64-bit read of the slot must not
            // see.
            *register = value & dst.mask;
        }
    }

    /// Reads a source. The value may have bits above the width of the instruction's type.
    pub(super) fn read(&self, cx: &Context<'_>, common: &Common, src: Src) -> u64 {
        match src {
            Src::Reg(slot) => self.registers.get(self.base + slot as usize).copied().unwrap_or(0),
            Src::Imm(value) => value,
            Src::Special(special) => self.special(cx, common, special),
            Src::Variable(index, offset) => {
                let address = cx.addresses.get(index as usize).copied().unwrap_or(0);
                address.wrapping_add_signed(i64::from(offset))
            }
            Src::Local(offset) => LOCAL_START + self.local_base as u64 + u64::from(offset),
            Src::DynamicShared(offset) => {
                align_up(SHARED_START + cx.code.shared_size, cx.code.dynamic_align) + u64::from(offset)
            }
        }
    }

    fn special(&self, cx: &Context<'_>, common: &Common, special: Special) -> u64 {
        let axis = |values: [u32; 3], axis: u8| u64::from(values.get(usize::from(axis)).copied().unwrap_or(0));
        let lane = self.number % 32;
        let below = (1_u64 << lane) - 1;
        let spent = cx.budget - cx.left;
        match special {
            Special::Tid(index) => axis(self.tid, index),
            Special::Ntid(index) => axis(cx.grid.threads, index),
            Special::Ctaid(index) => axis(common.group, index),
            Special::Nctaid(index) => axis(cx.grid.groups, index),
            Special::LaneId => u64::from(lane),
            Special::WarpId => u64::from(self.number / 32),
            Special::NwarpId => u64::from(cx.grid.threads.iter().product::<u32>().div_ceil(32)),
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => below,
            Special::LaneMaskLe => below | 1 << lane,
            Special::LaneMaskGt => !(below | 1 << lane) & 0xFFFF_FFFF,
            Special::LaneMaskGe => !below & 0xFFFF_FFFF,
            // Instructions of all threads, not time: a launch gives the same results each time.
            Special::Clock | Special::Time => spent,
            Special::ClockHi | Special::TimeHi => spent >> 32,
            Special::DynamicSharedSize => u64::from(cx.grid.dynamic_shared),
            Special::TotalSharedSize => common.shared.len() as u64,
            Special::WarpSize => 32,
            Special::Zero => 0,
            Special::One => 1,
        }
    }

    /// Reads a predicate.
    pub(super) fn test(&self, cx: &Context<'_>, common: &Common, test: Test) -> bool {
        (self.read(cx, common, test.src) & 1 == 1) != test.negated
    }

    /// Runs until the thread ends or waits, or for some number of instructions.
    pub(super) fn run(&mut self, cx: &mut Context<'_>, common: &mut Common, slice: u64) -> Result<(), Fault> {
        let code = cx.code;
        // The last slice ends with the budget. Only a thread that would go on then has spent it.
        let slice = slice.min(cx.left);
        let start = cx.left;
        while self.state == State::Ready {
            if start - cx.left >= slice {
                let spent = cx.left == 0;
                return if spent { Err(Fault::TooLong { budget: cx.budget }) } else { Ok(()) };
            }
            cx.left -= 1;
            let Some(inst) = self.inst(code) else {
                self.leave(code);
                continue;
            };
            match inst.guard {
                // An instruction whose predicate is false counts as executed, but has no effect: not even a wait.
                Some(guard) if !self.test(cx, common, guard) => self.at += 1,
                _ => self.step(cx, common, inst)?,
            }
        }
        Ok(())
    }

    /// Executes one instruction.
    fn step(&mut self, cx: &mut Context<'_>, common: &mut Common, inst: &Inst) -> Result<(), Fault> {
        match &inst.op {
            Op::Nop | Op::Fence => {}
            Op::Compute { function, dst, args } => {
                let args = args.map(|src| self.read(cx, common, src));
                self.write(*dst, compute(function, args));
            }
            Op::Move { dst, src } => {
                let value = self.read(cx, common, *src);
                self.write(*dst, value);
            }
            Op::Pack { dst, parts, bits } => {
                let mask = u64::MAX >> (64 - bits);
                let value = parts.iter().rev().fold(0, |value, part| {
                    // A shift by 64 is an overflow in Rust.
                    let raised = if *bits < 64 { value << bits } else { 0 };
                    raised | self.read(cx, common, *part) & mask
                });
                self.write(*dst, value);
            }
            Op::Unpack { parts, src, bits } => {
                let value = self.read(cx, common, *src);
                for (index, part) in parts.iter().enumerate() {
                    self.write(*part, value >> (index as u32 * bits));
                }
            }
            Op::SetPredicate(set) => self.set_predicate(cx, common, set),
            Op::Carry(carry) => {
                let args = carry.args.map(|src| self.read(cx, common, src));
                let (value, flag) = alu_int::carry(carry, args, self.carry);
                self.carry = flag;
                self.write(carry.dst, value);
            }
            Op::Sample(sample) => self.sample(cx, common, inst.line, sample)?,
            Op::Load { space, ty, dst, address } => self.load(cx, common, inst.line, (*space, *ty), dst, *address)?,
            Op::Store { space, ty, src, address } => {
                self.store(cx, common, inst.line, (*space, *ty), src, *address)?;
            }
            Op::Atomic(atomic) => self.atomic(cx, common, inst.line, atomic)?,
            Op::ConvertAddress { to_generic, space, dst, src } => {
                let value = self.read(cx, common, *src);
                let window = memory::window(*space);
                let value = if *to_generic { value.wrapping_add(window) } else { value.wrapping_sub(window) };
                self.write(*dst, value);
            }
            Op::IsSpace { space, dst, src } => {
                let found = memory::resolve(self.read(cx, common, *src)).0;
                self.write(*dst, u64::from(found == *space));
            }
            Op::Branch(target) => {
                self.at = *target;
                return Ok(());
            }
            Op::BranchIndexed { index, targets } => {
                let index = Type::U32.extend(self.read(cx, common, *index));
                let target = usize::try_from(index).ok().and_then(|index| targets.get(index));
                let Some(target) = target else {
                    let what = format!("brx.idx with index {index} of {} targets", targets.len());
                    return Err(Fault::Undefined { place: self.place(inst.line, common), what });
                };
                self.at = *target;
                return Ok(());
            }
            Op::Call(call) => return self.call(cx, common, inst.line, call),
            Op::Return => {
                self.leave(cx.code);
                return Ok(());
            }
            Op::Exit => {
                self.state = State::Ended;
                return Ok(());
            }
            Op::Trap => return Err(Fault::Trap(self.place(inst.line, common))),
            Op::Barrier(barrier) => {
                let id = Type::U32.extend(self.read(cx, common, barrier.id)) as u32;
                let count = barrier.count.map(|count| self.read(cx, common, count) as u32);
                let Some(arrived) = common.arrived.get_mut(id as usize) else {
                    let what = format!("barrier {id}");
                    return Err(Fault::Undefined { place: self.place(inst.line, common), what });
                };
                // A thread that only announces itself goes on, so that the barrier has to remember it.
                if barrier.arrive {
                    *arrived += 1;
                } else {
                    self.state = State::Barrier(id, count);
                    return Ok(());
                }
            }
            // The thread stays here. `release_collectives` performs the operation when all of the mask have come.
            Op::Warp { mask, .. } => {
                let mask = self.read(cx, common, *mask) as u32;
                if mask >> (self.number % 32) & 1 == 0 {
                    let what = format!("the mask {mask:#x} does not name lane {} itself", self.number % 32);
                    return Err(Fault::Undefined { place: self.place(inst.line, common), what });
                }
                self.state = State::Warp(mask);
                return Ok(());
            }
            Op::ActiveMask(_) => {
                self.state = State::Active;
                return Ok(());
            }
            Op::Converge => {
                self.state = State::Converge;
                return Ok(());
            }
        }
        self.at += 1;
        Ok(())
    }

    fn set_predicate(&mut self, cx: &Context<'_>, common: &Common, set: &SetPredicate) {
        let (a, b) = (self.read(cx, common, set.a), self.read(cx, common, set.b));
        // A packed type compares two halves, each with a result of its own. Otherwise the second result is the
        // opposite.
        let compare = |shift: u32| {
            let lane = super::op::Compare { ty: set.compare.ty.lane(), ..set.compare };
            alu_float::compare(&lane, a >> shift, b >> shift)
        };
        let first = compare(0);
        let second = if set.compare.ty.lanes == 2 { compare(16) } else { !first };
        let combine = |value: bool| match set.combine {
            None => value,
            Some((how, other)) => {
                let other = self.test(cx, common, other);
                match how {
                    Combine::And => value & other,
                    Combine::Or => value | other,
                    Combine::Xor => value ^ other,
                }
            }
        };
        // The predicate is combined with the opposite as well, and not the opposite taken of the combination.
        let (first, second) = (combine(first), combine(second));
        self.write(set.dst, if first { set.truth } else { 0 });
        if let Some(dst) = set.second {
            self.write(dst, u64::from(second));
        }
    }

    /// Leaves the current function. Results move to the caller's parameter area.
    fn leave(&mut self, code: &Code) {
        let Some(frame) = self.callers.pop() else {
            self.state = State::Ended;
            return;
        };
        // The results are copied while the callee's parameter area, which is cut off below, is still there.
        let function = code.functions.get(self.function as usize);
        let call = code.functions.get(frame.function as usize).and_then(|caller| caller.code.get(frame.at as usize));
        if let (Some(function), Some(Inst { op: Op::Call(call), .. })) = (function, call) {
            for (from, to) in function.returns.iter().zip(&call.returns) {
                let from = self.param_base + from.offset as usize;
                self.params.copy_within(from..from + to.size as usize, frame.params + to.offset as usize);
            }
        }
        self.registers.truncate(self.base);
        self.local.truncate(self.local_base);
        self.params.truncate(self.param_base);
        self.function = frame.function;
        self.at = frame.at + 1;
        self.base = frame.registers;
        self.local_base = frame.local;
        self.param_base = frame.params;
    }

    fn call(&mut self, cx: &Context<'_>, common: &Common, line: u32, call: &Call) -> Result<(), Fault> {
        let unsupported = |what: String| Err(Fault::Unsupported { place: self.place(line, common), what });
        let undefined = |what: String| Err(Fault::Undefined { place: self.place(line, common), what });
        let index = match call.callee {
            Callee::Function(index) => index,
            Callee::Address(src) => {
                let address = self.read(cx, common, src);
                let distance = address.wrapping_sub(FUNCTION_WINDOW);
                match u32::try_from(distance / FUNCTION_STRIDE) {
                    Ok(index) if distance.is_multiple_of(FUNCTION_STRIDE) => index,
                    _ => return undefined(format!("a call of {address:#x}, which is no function")),
                }
            }
        };
        let Some(function) = cx.code.functions.get(index as usize) else {
            return undefined("a call of an address that is no function".to_owned());
        };
        if !function.defined {
            return unsupported(format!("the function {} has no body", function.name));
        }
        // An indirect call may lead to any function. With other sizes, the copies would reach beyond the area of one of
        // the two.
        let fits = |own: &[super::op::Slot], theirs: &[super::op::Slot]| {
            own.len() == theirs.len() && own.iter().zip(theirs).all(|(own, their)| own.size == their.size)
        };
        if !fits(&call.params, &function.params) || !fits(&call.returns, &function.returns) {
            return undefined(format!("the parameters of the call do not fit {}", function.name));
        }
        let local_base = align_up(self.local.len() as u64, u64::from(function.local_align)) as usize;
        if self.callers.len() >= DEPTH_LIMIT || local_base + function.local_size as usize > STACK_LIMIT {
            return unsupported("the stack of calls is too deep".to_owned());
        }
        self.callers.push(Frame {
            function: self.function,
            at: self.at,
            registers: self.base,
            local: self.local_base,
            params: self.param_base,
        });
        // The callee's area is appended: the copy below goes from one part of the vector to another, and the entry's
        // area stays at the begin, where generic addresses expect it.
        let params = self.params.len();
        self.params.resize(params + function.param_size as usize, 0);
        for (from, to) in call.params.iter().zip(&function.params) {
            let from = self.param_base + from.offset as usize;
            self.params.copy_within(from..from + to.size as usize, params + to.offset as usize);
        }
        self.param_base = params;
        self.base = self.registers.len();
        self.registers.resize(self.base + function.registers as usize, u64::from_ne_bytes([GARBAGE; 8]));
        self.local_base = local_base;
        self.local.resize(local_base + function.local_size as usize, GARBAGE);
        self.function = index;
        self.at = 0;
        Ok(())
    }
}

/// Computes a function of values.
fn compute(function: &Compute, args: [u64; 4]) -> u64 {
    match function {
        Compute::Int(op, ty) => alu_int::apply(*op, *ty, args),
        Compute::Float(op, form) => float(*op, form, args),
        Compute::Convert(how) => convert::apply(how, args[0]),
        Compute::ConvertPair(how) => convert::apply_pair(how, args[0], args[1]),
        Compute::SelectSign { sign, flush } => {
            // The sign bit decides, but -0.0 is at least zero and a NaN is not.
            let holds = match Format::of(*sign) {
                Some(format) => {
                    let value = args[2] & format.mask();
                    let value = if *flush { format.flush(value) } else { value };
                    !format.is_nan(value) && (value & format.sign() == 0 || value == format.sign())
                }
                None => sign.extend(args[2]) as i64 >= 0,
            };
            if holds { args[0] } else { args[1] }
        }
    }
}

fn float(op: super::op::FloatOp, form: &FloatForm, args: [u64; 4]) -> u64 {
    let [a, b, c, _] = args;
    alu_float::apply(op, form, [a, b, c])
}
