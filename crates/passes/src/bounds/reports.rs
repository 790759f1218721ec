//! Tells the launcher of an access that is refused: the record of the access gets the work-item, the offset and the
//! size ([`cloom_ir::abi::report`]), and the kernel a list of what its records are about ([`CheckedAccess`]).
//!
//! ```text
//!  no:  report reports + 48 * n, get_global_id(0), (1), (2), offset, size; jump join(0)
//! ```
//!
//! The object is found once more, by name: what the checks know of it is its size, which objects share.

use super::access::Access;
use super::roots::pointer_in;
use cloom_ir::abi::report;
use cloom_ir::{
    AccessedObject, BinOp, Block, Builder, CallSite, CastOp, CheckedAccess, FuncRef, Function, Hidden, Inst, Module,
    Op, Query, Space, Span, Type, Value, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Addresses that are looked at for the object of one.
const MAX_STEPS: usize = 64;

/// The reports of a kernel.
pub(super) struct Reports {
    /// The address of the records.
    address: Value,
    /// What each parameter of a block that is a pointer may be, as it was before the checks.
    incoming: FxHashMap<Value, Vec<Value>>,
    /// The names and spaces of the module's variables.
    variables: Vec<(String, Space)>,
    pub checked: Vec<CheckedAccess>,
}

impl Reports {
    pub fn new(module: &mut Module, kernel: FuncRef) -> Reports {
        // A variable in a function has the function's name before its own, and perhaps a number behind it.
        let is_name = |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit());
        let name = |full: &str| full.rsplit('.').find(is_name).unwrap_or_default().to_owned();
        let variables = module.globals.values().map(|g| (name(&g.name), g.space)).collect();
        let func = &mut module.funcs[kernel];
        let mut incoming: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for &b in &func.layout {
            for edge in func.blocks[b].term.edges() {
                for (&p, &arg) in func.blocks[edge.block].params.iter().zip(&edge.args) {
                    if func.ty(p).is_ptr() {
                        incoming.entry(p).or_default().push(arg);
                    }
                }
            }
        }
        let address = func.add_hidden_param(Hidden::Reports);
        Reports { address, incoming, variables, checked: Vec::new() }
    }

    /// Reports an access of an instruction at the end of a block.
    pub fn add(&mut self, func: &mut Function, at: Block, i: Inst, access: &Access, (offset, size): (Value, Value)) {
        let span = func.insts[i].span;
        let plain = |span: Span| Span { inlined: 0, ..span };
        let call = |call: &CallSite| CallSite { function: call.function.clone(), span: plain(call.span) };
        let number = self.checked.len() as u64;
        self.checked.push(CheckedAccess {
            span: plain(span),
            calls: func.inlined_calls(span).map(call).collect(),
            is_store: access.is_store,
            bytes: access.bytes,
            align: access.align,
            object: self.object(func, access.address),
        });
        let mut b = Builder::new(func, at);
        b.span = span;
        let skipped = b.iconst(Type::I64, number * report::SIZE);
        let record = b.binary(BinOp::Add, self.address, skipped);
        let [x, y, z] = [0, 1, 2].map(|dim| b.query(Query::GlobalId, dim));
        b.report([record, x, y, z, offset, size]);
    }

    /// The object of an address.
    fn object(&self, func: &Function, address: Value) -> AccessedObject {
        let mut seen = FxHashSet::default();
        let mut stack = vec![address];
        let mut found: Option<AccessedObject> = None;
        while let Some(v) = stack.pop() {
            if !seen.insert(v) {
                continue;
            }
            if seen.len() > MAX_STEPS {
                return AccessedObject::Several;
            }
            let object = match self.step(func, v, &mut stack) {
                Some(object) => object,
                None => continue,
            };
            match &found {
                Some(AccessedObject::Foreign) => {}
                Some(other) if *other != object && object != AccessedObject::Foreign => {
                    found = Some(AccessedObject::Several);
                }
                _ => found = Some(object),
            }
        }
        found.unwrap_or(AccessedObject::Foreign)
    }

    /// The object that an address is the beginning of; otherwise the addresses that it was made from go on the stack.
    fn step(&self, func: &Function, v: Value, stack: &mut Vec<Value>) -> Option<AccessedObject> {
        let i = match func.values[v].def {
            ValueDef::Inst(i) => i,
            ValueDef::Param(block, n) if block == func.entry() => return Some(AccessedObject::Param(n)),
            ValueDef::Param(..) => {
                let Some(args) = self.incoming.get(&v) else { return Some(AccessedObject::Foreign) };
                stack.extend(args);
                return None;
            }
        };
        let data = &func.insts[i];
        match &data.op {
            Op::PtrAdd | Op::Cast(CastOp::Space | CastOp::Bitcast) => stack.push(data.args[0]),
            Op::Cast(CastOp::IntToPtr) => match pointer_in(func, data.args[0]) {
                Some(p) => stack.push(p),
                None => return Some(AccessedObject::Foreign),
            },
            Op::Select => stack.extend(&data.args[1..]),
            Op::Alloca { name, .. } => {
                let name = name.as_deref().cloned().unwrap_or_default();
                return Some(AccessedObject::Variable { name, space: Space::Private });
            }
            Op::GlobalAddr(g) => {
                let (name, space) = self.variables.get(cloom_ir::Entity::index(*g)).cloned()?;
                return Some(AccessedObject::Variable { name, space });
            }
            _ => return Some(AccessedObject::Foreign),
        }
        None
    }
}
