//! Recording of decisions where code is written.
//!
//! In come an instruction or a branch that is about to be written, and the form that was chosen for it; out come
//! [`Decision`]s with what else is known there: the array, the shape of the address, the cause of a divergence, costs.
//! An instruction may be written several times, with all lanes on and under a mask: it has one decision, which tells
//! both forms.

use super::Widener;
use crate::analysis::input::VectorInput;
use crate::analysis::shape::{self, Shape};
use crate::analysis::write_only::base;
use crate::decisions::{AccessForm, Decision, Form, Operation, Reason, Varies};
use crate::params::Param;
use crate::transform::dim_order::DimOrder;
use cloom_ir::{Block, Entity, Flags, Function, Inst, Module, Op, Span, Value, ValueDef};
use rustc_hash::FxHashMap;

/// How many values the search for the cause of a comparison visits.
const MAX_VISITED: usize = 64;

/// The context that gives decisions their names.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The module, for the names of its variables.
    pub module: &'a Module,
    /// The kernel, for the names of its arguments.
    pub kernel: &'a Function,
    /// What the parameters of the continuation are.
    pub params: &'a [Param],
    /// The order of dimensions, by which the parameters were renamed.
    pub dim_order: DimOrder,
}

/// What is written several times, and has one decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Inst(Inst),
    /// The branch at the end of a block.
    Branch(Block),
}

/// The decisions so far.
pub(super) struct Recorder<'a> {
    /// `None` where nobody asks: in vector variants of functions, whose callers have the positions in the source.
    names: Option<Names<'a>>,
    decisions: Vec<Decision>,
    numbers: FxHashMap<Subject, usize>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(names: Option<Names<'a>>) -> Recorder<'a> {
        Recorder { names, decisions: Vec::new(), numbers: FxHashMap::default() }
    }

    pub(super) fn finish(self) -> Vec<Decision> {
        self.decisions
    }
}

impl Widener<'_> {
    /// Records the form of a load or store that is about to be written.
    pub(super) fn decide(&mut self, inst: Inst, form: AccessForm, checked: bool) {
        let item = self.item;
        let data = &item.func.insts[inst];
        let operation = if matches!(data.op, Op::Load { .. }) { Operation::Load } else { Operation::Store };
        self.record_inst(inst, operation, Form::Access(form), checked, |names| {
            let p = data.args[0];
            match item.shapes.of(p) {
                // Before the shapes: a volatile access is lane by lane at any address.
                _ if data.flags.contains(Flags::VOLATILE) && form == AccessForm::LaneByLane => Reason::Volatile,
                Shape::Uniform | Shape::Unknown => Reason::SameAddress,
                // A stride of 0 is only kept if it is checked (`Shape::strided`): the result of a division, mostly.
                Shape::Strided { by: 0, .. } => Reason::SameQuotient,
                Shape::Strided { checked, .. } if form == AccessForm::Vector => match checked {
                    false => Reason::UnitStride,
                    true => Reason::UnitStrideUnlessWrapped,
                },
                Shape::Strided { by, .. } => Reason::Stride(by),
                Shape::Varying => Reason::Varies(varies(item, names, item.shapes.cause(p))),
            }
        });
    }

    /// Records the form of another operation that is about to be written.
    pub(super) fn decide_operation(&mut self, inst: Inst, form: Form, reason: Reason) {
        let checked = form == Form::CombinedWhereEqual;
        let operation = match self.item.func.insts[inst].op {
            Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } | Op::AtomicLoad { .. } | Op::AtomicStore { .. } => {
                Operation::Atomic
            }
            Op::MemCopy { .. } | Op::MemSet { .. } => Operation::Copy,
            Op::Sample => Operation::Sample,
            Op::DeviceCall(_) => Operation::LauncherCall,
            Op::Printf(_) => Operation::Printf,
            Op::Call(_) | Op::PureCall(_) => Operation::Call,
            // The form of others is always that of their operands.
            _ => return,
        };
        self.record_inst(inst, operation, form, checked, |_| reason);
    }

    /// Records that an instruction is about to be written lane by lane.
    pub(super) fn decide_serial(&mut self, inst: Inst) {
        let data = &self.item.func.insts[inst];
        let reason = match data.op {
            Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } if self.item.shapes.is_uniform(data.args[0]) => {
                Reason::Ordered
            }
            Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => Reason::MayCollide,
            Op::Call(_) => Reason::NotInlined,
            Op::PureCall(_) => Reason::NoVectorVariant,
            Op::Printf(_) => Reason::EachPrints,
            Op::DeviceCall(_) => Reason::EachEnqueues,
            _ => Reason::NoVectorForm,
        };
        self.decide_operation(inst, Form::LaneByLane, reason);
    }

    /// Records that a branch is about to be linearised: both of its sides run.
    pub(super) fn decide_linearised(&mut self, b: Block) {
        let item = self.item;
        let sides = item.func.blocks[b].term.edges().into_iter().map(|e| e.block);
        // What runs after a join is on neither side.
        let sides = sides.filter(|&side| item.dom.idom(side) == Some(b));
        let costs: Vec<u32> = sides.map(|side| item.weight[side.index()].cost).collect();
        let both = costs.iter().copied().fold(0, u32::saturating_add);
        let longer = costs.iter().copied().max().unwrap_or(0);
        self.record_branch(b, Operation::Branch, Form::Linearised, both, Some((Form::Uniform, longer)));
    }

    /// Records that the loop which is left at a branch is about to be written.
    pub(super) fn decide_loop(&mut self, b: Block, header: Block, diverges: bool) {
        let item = self.item;
        let form = if diverges { Form::Divergent } else { Form::Uniform };
        let after = item.func.blocks[b].term.edges().into_iter().map(|e| e.block);
        // What the loop's exit dominates counts in the weight of its header, though it runs after the loop.
        let after = after.filter(|&e| item.loops.innermost(e) != item.loops.innermost(header));
        let after: u32 = after.filter(|&e| item.dom.idom(e) == Some(b)).map(|e| item.weight[e.index()].cost).sum();
        let cost = item.weight[header.index()].cost.saturating_sub(after);
        self.record_branch(b, Operation::Loop, form, cost, None);
    }

    fn record_inst(
        &mut self,
        inst: Inst,
        operation: Operation,
        form: Form,
        checked: bool,
        reason: impl FnOnce(&Names<'_>) -> Reason,
    ) {
        let item = self.item;
        let data = &item.func.insts[inst];
        self.record(Subject::Inst(inst), form, data.span, |names| {
            let address = data.args.first().copied().filter(|&p| item.func.ty(p).is_ptr());
            let varies = || match data.args.iter().all(|&a| item.shapes.is_uniform(a)) {
                true => Shape::Uniform,
                false => Shape::Varying,
            };
            Decision {
                array: address.and_then(|p| array(item, names, p)),
                shape: Some(address.map_or_else(varies, |p| item.shapes.of(p))),
                checked,
                ..Decision::new(operation, form, reason(names))
            }
        });
    }

    fn record_branch(
        &mut self,
        b: Block,
        operation: Operation,
        form: Form,
        cost: u32,
        alternative: Option<(Form, u32)>,
    ) {
        let item = self.item;
        let data = &item.func.blocks[b];
        self.record(Subject::Branch(b), form, data.term_span, |names| {
            let cond = data.term.operand();
            let reason = match form {
                Form::Uniform => Reason::SameCondition,
                _ => Reason::Varies(varies(item, names, cond.and_then(|cond| item.shapes.cause(cond)))),
            };
            let shape = cond.map(|cond| item.shapes.of(cond));
            Decision { shape, cost: Some(cost), alternative, ..Decision::new(operation, form, reason) }
        });
    }

    /// Records a decision, unless the instruction has one in this form. The compiler's own instructions have no
    /// position in the source.
    fn record(&mut self, subject: Subject, form: Form, span: Span, make: impl FnOnce(&Names<'_>) -> Decision) {
        let masked = self.masks.current.is_some();
        let Recorder { names, decisions, numbers } = &mut self.recorder;
        // Before `make`, which searches for causes: without a reader this must cost nothing.
        let Some(names) = names.as_ref().filter(|_| span != Span::NONE) else { return };
        let Some(&number) = numbers.get(&subject) else {
            numbers.insert(subject, decisions.len());
            return decisions.push(Decision { masked, ..make(names).at(span, names.kernel) });
        };
        let before = &mut decisions[number];
        if before.masked && !masked {
            // The form with all lanes on counts, and the other one is told beside it.
            let where_off = Some(before.form).filter(|&other| other != form);
            *before = Decision { where_off, ..make(names).at(span, names.kernel) };
        } else if masked && !before.masked && before.where_off.is_none() {
            before.where_off = Some(form).filter(|&other| other != before.form);
        }
    }
}

/// The name of the array that an address points into, if the address begins there.
fn array(item: &VectorInput, names: &Names<'_>, p: Value) -> Option<String> {
    let func = &item.func;
    let begin = base(func, p);
    let variable = |g| Some(names.module.globals[g].name.clone());
    match func.values[begin].def {
        ValueDef::Param(b, n) if b == func.entry() => match *names.params.get(n as usize)? {
            Param::Kernel(k) => Some(names.kernel.kernel.as_ref()?.params.get(k as usize)?.name.clone()),
            Param::Local(g) => variable(g),
            _ => None,
        },
        ValueDef::Param(..) => None,
        ValueDef::Inst(i) => match &func.insts[i].op {
            &Op::GlobalAddr(g) => variable(g),
            Op::Alloca { name, .. } => name.as_ref().map(|name| name.as_str().into()),
            _ => None,
        },
    }
}

/// The reason why a value differs between lanes.
fn varies(item: &VectorInput, names: &Names<'_>, cause: Option<shape::Cause>) -> Varies {
    match cause {
        Some(shape::Cause::Source(i)) => match item.func.insts[i].op {
            Op::Load { .. } => Varies::Loaded,
            _ => Varies::AtomicOrCall,
        },
        Some(shape::Cause::Param(n)) => parameter(names, n),
        Some(shape::Cause::Wrap(_)) => Varies::Wrap,
        // A comparison never has a stride: the reason is what it compares.
        Some(shape::Cause::Stride(i)) if matches!(item.func.insts[i].op, Op::Icmp(_) | Op::Fcmp(_)) => {
            origin_param(item, i).map_or(Varies::Comparison, |n| parameter(names, n))
        }
        Some(shape::Cause::Stride(i)) => Varies::NoStride(op_name(&item.func.insts[i].op)),
        Some(shape::Cause::Branch(_)) => Varies::Branch,
        None => Varies::Unknown,
    }
}

fn parameter(names: &Names<'_>, n: u32) -> Varies {
    let dim_in_source = |d: u8| names.dim_order[usize::from(d)];
    match names.params.get(n as usize) {
        Some(&Param::LocalId(d)) => Varies::LocalId(dim_in_source(d)),
        Some(&Param::GlobalId(d)) => Varies::GlobalId(dim_in_source(d)),
        _ => Varies::AcrossBarrier,
    }
}

/// The function parameter that makes the operands of an instruction differ between lanes, if a search finds one.
fn origin_param(item: &VectorInput, inst: Inst) -> Option<u32> {
    let func = &item.func;
    let mut work: Vec<Value> = func.insts[inst].args.to_vec();
    let mut visited = 0;
    while let Some(&v) = work.get(visited) {
        visited += 1;
        if item.shapes.is_uniform(v) || visited > MAX_VISITED {
            continue;
        }
        let operands: Vec<Value> = match func.values[v].def {
            ValueDef::Param(b, n) if b == func.entry() => return Some(n),
            ValueDef::Param(b, n) => {
                let edges = func.layout.iter().flat_map(|&x| func.blocks[x].term.edges());
                edges.filter(|e| e.block == b).filter_map(|e| e.args.get(n as usize).copied()).collect()
            }
            ValueDef::Inst(i) => func.insts[i].args.to_vec(),
        };
        // Linear, but the list has at most `MAX_VISITED` values and their operands.
        work.extend(operands.into_iter().filter(|v| !work.contains(v)).collect::<Vec<_>>());
    }
    None
}

fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Unary(op) => op.name(),
        Op::Binary(op) => op.name(),
        Op::Cast(op) => op.name(),
        Op::Select => "select",
        Op::PtrAdd => "ptradd",
        _ => "operation",
    }
}
