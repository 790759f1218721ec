//! Functions: their declarations and linkage, and their blocks. Each block becomes a block of the IR, the phis at its
//! beginning the block's parameters. Blocks that cannot be reached are left out.

use crate::context::{Callee, Context, callee};
use crate::error::{Result, bail, ensure};
use crate::func::{Fn, Val};
use crate::module::Func;
use crate::reader::{Id, Inst};
use crate::types::{Kind, Ty, in_memory};
use cloom_ir::{Block, Edge, Flags, FuncRef, Function, IntCc, Linkage, Scalar, Space, Term, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{FunctionControl, FunctionParameterAttribute, LinkageType, Op};

/// A block of the source: its instructions, and where it leads.
struct Source<'f, 'w> {
    insts: &'f [Inst<'w>],
    term: Inst<'w>,
    block: Option<Block>,
}

impl Context<'_, '_> {
    /// Declares and lowers all functions.
    pub fn functions(&mut self) -> Result<()> {
        let module = self.module;
        let called: FxHashSet<Id> = module.functions.iter().flat_map(|f| &f.body).filter_map(callee).collect();
        let entries: FxHashSet<Id> = module.entries.iter().map(|e| e.function).collect();
        // Kernels keep their names.
        let kernels: FxHashSet<&str> = module.entries.iter().map(|e| e.name.as_str()).collect();
        for entry in &module.entries {
            ensure!(!entry.name.is_empty(), "a kernel has no name");
            ensure!(!is_reserved(&entry.name), "the name `{}` of a kernel is that of a built-in function", entry.name);
            self.func_names.insert(entry.name.clone());
        }
        let mut plain = Vec::new();
        for (index, f) in module.functions.iter().enumerate() {
            let mut declare = || -> Result<()> {
                // A function that is an entry point and is called, too, is lowered twice: a kernel gets its arguments
                // in another way.
                if entries.contains(&f.id) && !called.contains(&f.id) {
                    return Ok(());
                }
                if let Some(func) = self.declare(f, index, &kernels)? {
                    plain.push((index, func));
                }
                Ok(())
            };
            declare().map_err(|e| e.at(&f.head))?;
        }
        let by_id: FxHashMap<Id, usize> = module.functions.iter().enumerate().map(|(i, f)| (f.id, i)).collect();
        let mut done = Vec::new();
        // Kernels come after the functions: `inner` looks the function up that a kernel calls.
        for (index, entry) in module.entries.iter().enumerate() {
            let Some(f) = by_id.get(&entry.function).map(|&i| &module.functions[i]) else {
                bail!("the kernel `{}` is no function of the module", entry.name)
            };
            // A block's entry point is no kernel for the host. What it tells about the block is kept for the hidden
            // kernel.
            if self.is_hidden(f).map_err(|e| e.at(&f.head))? {
                self.hide(f, entry, index).map_err(|e| e.at(&f.head))?;
                continue;
            }
            let func = self.declare_kernel(f, entry).map_err(|e| e.at(&f.head))?;
            done.push((f, self.ir.funcs.push(func)));
        }
        // Bodies come after all declarations, because a call may be to a later function.
        for (index, func) in plain {
            self.body(&module.functions[index], func)?;
        }
        for (f, func) in done {
            self.body(f, func)?;
        }
        Ok(())
    }

    /// Declares a function that is called. Gives it back if it has a body.
    fn declare(&mut self, f: &Func<'_>, index: usize, kernels: &FxHashSet<&str>) -> Result<Option<FuncRef>> {
        let (ret, params) = self.signature(f)?;
        let mut types = Vec::new();
        let mut out = None;
        match self.types[ret].kind {
            Kind::Void => {}
            _ => match self.types.parts(ret)?[..] {
                [one] => out = Some(one.in_memory()),
                // Through memory that the caller provides.
                _ => types.push(Type::ptr(Space::Private)),
            },
        }
        for &p in &params {
            types.extend(self.types.parts(p)?.iter().map(|p| p.in_memory()));
        }
        let linkage = self.module.linkage(f.id)?;
        let is_import = matches!(linkage, Some((_, LinkageType::Import)));
        ensure!(is_import == f.body.is_empty(), "a function with a body is not imported, and one without is");
        let (name, linkage) = match linkage {
            Some((name, kind)) if !kernels.contains(name.as_str()) => {
                ensure!(!is_reserved(&name), "the name `{name}` of a function is that of a built-in function");
                ensure!(self.func_names.insert(name.clone()), "two functions are called `{name}`");
                (name, if kind == LinkageType::LinkOnceODR { Linkage::LinkOnce } else { Linkage::External })
            }
            // A kernel and the function that it calls may have one name: other modules see the kernel.
            _ => (self.module.name_or_number(f.id), Linkage::Internal),
        };
        let name = match linkage {
            // No name of the library ends so.
            Linkage::Internal => self.fresh_func_name(&format!("{name}.fn"))?,
            _ => name,
        };
        let mut func = Function::new(name, types, out);
        func.linkage = linkage;
        let control = FunctionControl::from_bits_truncate(f.head.word(2)?);
        func.noinline = control.contains(FunctionControl::DONT_INLINE);
        let func = self.ir.funcs.push(func);
        ensure!(self.funcs.insert(f.id, Callee { func, ret, index }).is_none(), "the id %{} is defined twice", f.id);
        Ok((!f.body.is_empty()).then_some(func))
    }

    /// The types of the result and of the parameters.
    pub fn signature(&self, f: &Func<'_>) -> Result<(Ty, Vec<Ty>)> {
        let Kind::Function(ret, params) = &self.types[self.types.get(f.ty)?].kind else {
            bail!("%{} is not the type of a function", f.ty)
        };
        ensure!(self.types.get(f.head.word(0)?)? == *ret, "it returns another type than its type says");
        ensure!(params.len() == f.params.len(), "{} parameters for a type of {}", f.params.len(), params.len());
        for (param, &ty) in f.params.iter().zip(params.iter()) {
            ensure!(self.types.get(param.word(0)?)? == ty, "a parameter has another type than the function's says");
        }
        Ok((*ret, params.to_vec()))
    }

    fn body(&mut self, f: &Func<'_>, r: FuncRef) -> Result<()> {
        // A copy of the declaration, since lowering the body changes the whole context.
        let func = self.ir.funcs[r].clone();
        let done = lower(self, f, func)?;
        self.ir.funcs[r] = done;
        Ok(())
    }
}

fn lower(cx: &mut Context<'_, '_>, f: &Func<'_>, func: Function) -> Result<Function> {
    let contract = cx.contracts(f.id);
    let mut this = Fn::new(cx, func, contract);
    this.params(f).map_err(|e| e.at(&f.head))?;
    let (mut blocks, first) = cut(f)?;
    let order = reach(&blocks, first)?;
    // Operands of phis by edge.
    let mut phis: FxHashMap<(Id, Id), Vec<Id>> = FxHashMap::default();
    // First all blocks with their parameters: an edge may lead to a block that comes later.
    for label in &order {
        let Some(source) = blocks.get_mut(label) else { continue };
        let block = this.func.add_block();
        source.block = Some(block);
        for phi in source.insts.iter().filter(|i| i.op == Op::Phi) {
            let mut one = || -> Result<()> {
                let (ty, id) = phi.result()?;
                let ty = this.cx.types.get(ty)?;
                let parts = this.cx.types.parts(ty)?;
                this.cx.charge(parts.len())?;
                let parts = parts.iter().map(|p| this.func.add_block_param(block, p.ty)).collect();
                // Pairs of a value and the block that it comes from.
                for pair in phi.rest(2).chunks_exact(2) {
                    phis.entry((pair[1], *label)).or_default().push(pair[0]);
                }
                this.define(id, ty, parts).map(drop)
            };
            one().map_err(|e| e.at(phi))?;
        }
    }
    let Some(first) = blocks[&first].block else { bail!("a function has no first block") };
    // Then the code. In this order each definition comes before its uses. The operands of phis are uses at the end of
    // the block before, where `edge` looks them up.
    for label in &order {
        let source = &blocks[label];
        let Some(block) = source.block else { continue };
        this.block = block;
        // Translators write phis behind other instructions, too: all of them stand for the beginning of the block.
        for inst in source.insts.iter().filter(|i| i.op != Op::Phi) {
            this.inst(inst).map_err(|e| e.at(inst))?;
        }
        this.terminate(*label, &source.term, &blocks, &phis).map_err(|e| e.at(&source.term))?;
    }
    // Only now, because constants and private memory were added to the entry block all along.
    this.block = this.entry;
    this.b().jump(first, &[]);
    Ok(this.func)
}

/// Whether a function of the library may have this name: they have dots, which names of C have not.
fn is_reserved(name: &str) -> bool {
    let Some((head, _)) = name.split_once('.') else { return false };
    let file = |f: &(&str, &str)| f.0.trim_end_matches(".cl") == head;
    head.starts_with("__")
        || !cloom_builtins::lookup(head).is_empty()
        || cloom_builtins::library::FILES.iter().any(file)
}

/// The blocks by their labels, and the label of the first.
fn cut<'f, 'w>(f: &'f Func<'w>) -> Result<(FxHashMap<Id, Source<'f, 'w>>, Id)> {
    let (mut blocks, mut first) = (FxHashMap::default(), None);
    let mut at = 0;
    while at < f.body.len() {
        let head = &f.body[at];
        let mut one = || -> Result<usize> {
            // Lines may stand between blocks.
            if matches!(head.op, Op::Line | Op::NoLine | Op::Nop) {
                return Ok(at + 1);
            }
            ensure!(head.op == Op::Label, "it stands between two blocks");
            let label = head.word(0)?;
            let rest = &f.body[at + 1..];
            let Some(n) = rest.iter().position(|i| ends_block(i.op)) else { bail!("the block has no end") };
            // A label before the terminator begins another block, so that this one has none.
            let begins = rest[..n].iter().any(|i| i.op == Op::Label);
            ensure!(!begins, "the block has no end");
            let source = Source { insts: &rest[..n], term: rest[n], block: None };
            ensure!(blocks.insert(label, source).is_none(), "the label %{label} is there twice");
            first.get_or_insert(label);
            Ok(at + n + 2)
        };
        at = one().map_err(|e| e.at(head))?;
    }
    match first {
        Some(first) => Ok((blocks, first)),
        None => bail!("a function has no blocks"),
    }
}

fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::ReturnValue | Op::Unreachable | Op::Kill
    )
}

/// The labels that a terminator names. Literals of a switch have one word, or two if `wide`.
fn targets(term: &Inst<'_>, wide: bool) -> Result<Vec<Id>> {
    Ok(match term.op {
        Op::Branch => vec![term.word(0)?],
        Op::BranchConditional => vec![term.word(1)?, term.word(2)?],
        Op::Switch => {
            let step = if wide { 3 } else { 2 };
            ensure!(term.rest(2).len().is_multiple_of(step), "a case has no label");
            let cases = term.rest(2).chunks_exact(step).map(|c| c[step - 1]);
            [term.word(1)?].into_iter().chain(cases).collect()
        }
        _ => Vec::new(),
    })
}

/// The labels that control may reach, each before those that it dominates (reverse postorder): translators write blocks
/// in other orders, too. The width of a switch's literals is found by which reading names labels.
fn reach(blocks: &FxHashMap<Id, Source<'_, '_>>, first: Id) -> Result<Vec<Id>> {
    let next = |label: Id| -> Result<Vec<Id>> {
        let term = &blocks[&label].term;
        let are_labels = |t: &Vec<Id>| t.iter().all(|l| blocks.contains_key(l));
        let narrow = targets(term, false).ok().filter(are_labels);
        let found = match (narrow, term.op) {
            // If both readings name labels only, the blocks of both are kept. The type of the value, which decides, is
            // known when the code is lowered; a block too many does no harm.
            (Some(found), Op::Switch) => {
                let wide = targets(term, true).ok().filter(are_labels);
                found.into_iter().chain(wide.unwrap_or_default()).collect()
            }
            (Some(found), _) => found,
            (None, _) => targets(term, term.op == Op::Switch)?,
        };
        match found.iter().find(|label| !blocks.contains_key(label)) {
            Some(label) => bail!("there is no block %{label}"),
            None => Ok(found),
        }
    };
    let next = |label: Id| next(label).map_err(|e| e.at(&blocks[&label].term));
    let mut seen = FxHashSet::from_iter([first]);
    let mut order = Vec::new();
    // A list of what is to be done in place of recursion: chains of blocks are as long as kernels.
    let mut work = vec![(first, next(first)?)];
    while let Some((label, left)) = work.last_mut() {
        match left.pop() {
            Some(to) if seen.insert(to) => work.push((to, next(to)?)),
            Some(_) => {}
            None => {
                order.push(*label);
                work.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}

impl Fn<'_, '_, '_> {
    /// The parameters of a function that is called, or those of a kernel.
    fn params(&mut self, f: &Func<'_>) -> Result<()> {
        let (ret, types) = self.cx.signature(f)?;
        let params: Vec<Value> =
            self.func.params.clone().into_iter().map(|ty| self.func.add_block_param(self.entry, ty)).collect();
        // The block of arguments gives a kernel its parameters in other forms: see `kernel_params`.
        if self.func.kernel.is_some() {
            return self.kernel_params(f, &types, &params);
        }
        let mut params = params.into_iter();
        let mut room = None;
        if !matches!(self.cx.types[ret].kind, Kind::Void) {
            if self.cx.types.parts(ret)?.len() != 1 {
                room = params.next();
            }
            self.ret = Some((ret, room));
        }
        for (param, &ty) in f.params.iter().zip(&types) {
            let id = param.word(1)?;
            let wanted = self.cx.types.parts(ty)?;
            let mut parts = Vec::with_capacity(wanted.len());
            for part in wanted.iter() {
                let Some(v) = params.next() else { bail!("a parameter is missing") };
                parts.push(self.value_form(v, part.ty));
            }
            if self.cx.module.has_attribute(id, FunctionParameterAttribute::ByVal) {
                parts = vec![self.own_copy(ty, &parts)?];
            }
            self.define(id, ty, parts)?;
        }
        Ok(())
    }

    /// A copy of what a parameter that is passed by value points to.
    pub fn own_copy(&mut self, ty: Ty, parts: &[Value]) -> Result<Value> {
        let (space, of) = self.cx.types.pointee(ty)?;
        let ([from], Space::Private) = (parts, space) else { bail!("a parameter by value is in another memory") };
        let (size, align) = self.sized(of)?;
        let room = self.room(size, align)?;
        if size > 0 {
            self.b().mem_copy(room, *from, size, align);
        }
        Ok(room)
    }

    /// A value as functions take it and memory has it.
    pub fn memory_form(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.scalar == Scalar::I1 { self.b().cast(cloom_ir::CastOp::Zext, v, in_memory(ty)) } else { v }
    }

    /// A value of a type from how memory has it.
    pub fn value_form(&mut self, v: Value, ty: Type) -> Value {
        if ty.scalar != Scalar::I1 {
            return v;
        }
        let zero = self.b().iconst(in_memory(ty), 0);
        self.b().icmp(IntCc::Ne, v, zero)
    }

    /// `OpFunctionCall`
    pub fn call(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if inst.op != Op::FunctionCall {
            return self.extended(inst);
        }
        let (ty, id) = inst.result()?;
        let callee = inst.word(2)?;
        let Some(&Callee { func, ret, index }) = self.cx.funcs.get(&callee) else { bail!("%{callee} is no function") };
        ensure!(self.cx.types.get(ty)? == ret, "the result has another type than the function's");
        let target = &self.cx.module.functions[index];
        ensure!(
            target.params.len() == inst.rest(3).len(),
            "{} arguments for a function of {}",
            inst.rest(3).len(),
            target.params.len()
        );
        let (is_void, parts) = match self.cx.types[ret].kind {
            Kind::Void => (true, std::rc::Rc::from([])),
            _ => (false, self.cx.types.parts(ret)?),
        };
        let mut args = Vec::new();
        // A function of the IR has one result: a structure is returned through memory of the caller.
        let room = if is_void || parts.len() == 1 { None } else { Some(self.room_for(ret)?) };
        args.extend(room);
        for (param, &arg) in target.params.iter().zip(inst.rest(3)) {
            let val = self.value_of(arg)?;
            let wanted = self.cx.types.get(param.word(0)?)?;
            ensure!(self.cx.same(wanted, val.ty)?, "%{arg} has another type than the parameter");
            // A function of another module may take the memory for its own.
            let by_value = self.cx.module.has_attribute(param.word(1)?, FunctionParameterAttribute::ByVal);
            if by_value && target.body.is_empty() {
                let copy = self.own_copy(val.ty, &val.parts)?;
                args.push(copy);
                continue;
            }
            // A structure is passed as its parts, one parameter each.
            for &part in val.parts.iter() {
                args.push(self.memory_form(part));
            }
        }
        let out = self.cx.ir.funcs[func].ret;
        let result = self.b().call(func, &args, out);
        match (is_void, room, result) {
            (true, ..) => Ok(true),
            (_, Some(room), _) => {
                let values = self.load_parts(ret, room, None, Flags::empty())?;
                self.define(id, ret, values)
            }
            (_, None, Some(v)) => {
                let v = self.value_form(v, parts[0].ty);
                self.define(id, ret, vec![v])
            }
            _ => bail!("the function gives no result"),
        }
    }

    fn terminate(
        &mut self,
        label: Id,
        term: &Inst<'_>,
        blocks: &FxHashMap<Id, Source<'_, '_>>,
        phis: &FxHashMap<(Id, Id), Vec<Id>>,
    ) -> Result<()> {
        let term = match term.op {
            Op::Branch => Term::Jump(self.edge(label, term.word(0)?, blocks, phis)?),
            Op::BranchConditional => {
                let cond = self.truth_of(term.word(0)?)?;
                let then = self.edge(label, term.word(1)?, blocks, phis)?;
                Term::Branch { cond, then, els: self.edge(label, term.word(2)?, blocks, phis)? }
            }
            Op::Switch => {
                let value = self.scalar_int(term.word(0)?)?;
                let scalar = self.ty(value).scalar;
                let wide = scalar.bits() == 64;
                let step = if wide { 3 } else { 2 };
                ensure!(term.rest(2).len().is_multiple_of(step), "a case has no label");
                let default = self.edge(label, term.word(1)?, blocks, phis)?;
                let mut cases = Vec::new();
                for case in term.rest(2).chunks_exact(step) {
                    // A literal has the lower word first.
                    let high = if wide { u64::from(case[1]) << 32 } else { 0 };
                    // A literal of a narrow type may be sign-extended to a word, and the IR wants its own bits only
                    // (V19).
                    let bits = (u64::from(case[0]) | high) & scalar.mask();
                    cases.push((bits, self.edge(label, case[step - 1], blocks, phis)?));
                }
                Term::Switch { value, cases, default }
            }
            Op::Return => {
                ensure!(self.ret.is_none(), "the function returns a value");
                Term::Return(None)
            }
            Op::ReturnValue => {
                let Some((ty, room)) = self.ret else { bail!("the function returns nothing") };
                let val = self.value_of(term.word(0)?)?;
                ensure!(self.cx.same(ty, val.ty)?, "the value has another type than the function's");
                match room {
                    Some(room) => {
                        self.store_parts(&val, room, None, Flags::empty())?;
                        Term::Return(None)
                    }
                    None => Term::Return(Some(self.memory_form(val.parts[0]))),
                }
            }
            // What is undefined must not harm the host.
            Op::Unreachable => {
                let zero = self.func.ret.map(|ty| self.b().iconst(ty, 0));
                Term::Return(zero)
            }
            _ => bail!("it does not end a block of a kernel"),
        };
        self.b().term(term);
        Ok(())
    }

    /// An edge to a label, with the arguments that its phis have for it.
    fn edge(
        &mut self,
        from: Id,
        to: Id,
        blocks: &FxHashMap<Id, Source<'_, '_>>,
        phis: &FxHashMap<(Id, Id), Vec<Id>>,
    ) -> Result<Edge> {
        let Some(block) = blocks.get(&to).and_then(|s| s.block) else { bail!("there is no block %{to}") };
        let mut args = Vec::new();
        // In the order of the phis, as the block has its parameters. Two edges from one block take the same values.
        for &operand in phis.get(&(from, to)).into_iter().flatten() {
            let Val { parts, .. } = self.value_of(operand)?;
            self.cx.charge(parts.len() + 1)?;
            args.extend(parts.iter().copied());
        }
        let wanted = self.func.blocks[block].params.len();
        ensure!(args.len() == wanted, "the phis of %{to} do not have one value for %{from}");
        Ok(Edge::new(block, args))
    }
}
