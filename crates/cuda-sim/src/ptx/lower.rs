//! Lowers the syntax of a module to code.
//!
//! In: items with names. Out: functions whose instructions have no names, and the layout and contents of variables.
//! Global variables only get numbers, because their addresses are known when the module is loaded; the other spaces
//! are laid out here.

use super::code::{Code, Data, Function, ParamInfo, Relocation, Target};
use super::decode::{self, Result};
use super::flow;
use super::memory::{self, CONST_START, FUNCTION_STRIDE, FUNCTION_WINDOW, LOCAL_START, SHARED_START, align_up};
use super::op::{self, Op, Slot, Space, Type};
use super::soft::{self, F32, F64, Round};
use super::symbol::{Scopes, Symbol};
use cloom_ptx::Literal;
use cloom_ptx::tree::{self, Init, Item, Line, StateSpace, Statement, Variable};
use cloom_ptx::{ParseError, errata};
use rustc_hash::FxHashMap;

/// Registers of a function. Each thread has memory for all of them.
const MAX_REGISTERS: u32 = 1 << 20;

/// Bytes of a module's global variables, all of which are in memory from when it is loaded.
const MAX_GLOBAL: u64 = 1 << 30;

fn error<T>(Line(line): Line, what: impl Into<String>) -> Result<T> {
    Err(ParseError { line, what: what.into() })
}

/// Refuses PTX that ptxas may compile wrongly.
pub(super) fn refuse_faults(items: &[Item<'_>]) -> Result<()> {
    for item in items {
        if let Item::Function(function) = item
            && let Some(errata::Found { line, erratum }) = errata::first(function)?
        {
            let errata::Erratum { id, what, .. } = erratum;
            let name = function.name;
            return error(line, format!("{what} in {name}, which NVIDIA's compiler may compile wrongly ({id})"));
        }
    }
    Ok(())
}

/// Lowers a module.
pub(super) fn lower(items: &[Item<'_>]) -> Result<Code> {
    let mut module =
        Lowering { code: Code { dynamic_align: 16, ..Code::default() }, names: FxHashMap::default(), global_size: 0 };
    for item in items {
        match item {
            Item::Variable(variable) => {
                let symbol = module.declare(variable)?;
                if module.names.insert(variable.name, symbol).is_some() {
                    return error(variable.line, format!("{} is declared twice", variable.name));
                }
            }
            Item::Function(function) => module.declare_function(function)?,
            Item::Directive(_) => {}
        }
    }
    // Initialisers may name variables that are declared later.
    for item in items {
        if let Item::Variable(variable) = item {
            let symbol = module.names.get(variable.name).cloned();
            module.initialise(variable, symbol.as_ref())?;
        }
    }
    for item in items {
        if let Item::Function(function) = item
            && let Some(body) = &function.body
        {
            module.define(function, body)?;
        }
    }
    // One `activemask` anywhere is enough: it may be in a function that another one calls between its branch and its
    // join.
    let converge = |inst: &op::Inst| matches!(inst.op, Op::ActiveMask(_));
    if module.code.functions.iter().any(|function| function.code.iter().any(converge)) {
        for function in &mut module.code.functions {
            let code = std::mem::take(&mut function.code);
            (function.code, function.flow) = flow::insert_meeting_points(code);
        }
    }
    Ok(module.code)
}

struct Lowering<'t> {
    code: Code,
    names: FxHashMap<&'t str, Symbol>,
    /// Bytes of the global variables so far.
    global_size: u64,
}

/// Assigns the next offset in an area to a value of some size and alignment.
fn place(area: &mut u32, size: u64, align: u32, line: Line) -> Result<u32> {
    let at = align_up(u64::from(*area), u64::from(align));
    match u32::try_from(at + size) {
        // Offsets have 32 bits, and the start of the space or of a frame is added to them.
        Ok(end) if end < 1 << 28 => {
            *area = end;
            Ok(at as u32)
        }
        _ => error(line, "the variables of this space need too much memory"),
    }
}

impl<'t> Lowering<'t> {
    /// Assigns an offset to a variable of the module, or to a static variable of a function.
    fn declare(&mut self, variable: &Variable<'t>) -> Result<Symbol> {
        let (size, align, line) = (variable.size(), variable.align(), variable.line);
        match variable.space {
            StateSpace::Global => {
                self.global_size = self.global_size.saturating_add(size);
                let Some(bytes) = usize::try_from(size).ok().filter(|_| self.global_size <= MAX_GLOBAL) else {
                    let (name, total) = (variable.name, self.global_size);
                    let what = format!("{name}: {total} bytes of global variables, {MAX_GLOBAL} are the limit here");
                    return error(line, what);
                };
                let data = Data { align: u64::from(align), bytes: vec![0; bytes], relocations: Vec::new() };
                self.code.variables.push(data);
                Ok(Symbol::Variable(self.code.variables.len() as u32 - 1))
            }
            StateSpace::Const => {
                let mut end = CONST_START as u32 + self.code.constants.bytes.len() as u32;
                let at = place(&mut end, size, align, line)?;
                self.code.constants.bytes.resize((end - CONST_START as u32) as usize, 0);
                Ok(Symbol::Const(at))
            }
            StateSpace::Shared if variable.count().is_none() => {
                // All arrays without a size begin at one address, which has the largest alignment.
                self.code.dynamic_align = self.code.dynamic_align.max(u64::from(align));
                Ok(Symbol::DynamicShared)
            }
            StateSpace::Shared => {
                let mut end = (SHARED_START + self.code.shared_size) as u32;
                let at = place(&mut end, size, align, line)?;
                self.code.shared_size = u64::from(end) - SHARED_START;
                Ok(Symbol::Shared(at))
            }
            StateSpace::Local | StateSpace::Param => error(line, format!("{} is not possible here", variable.name)),
        }
    }

    fn declare_function(&mut self, function: &tree::Function<'t>) -> Result<()> {
        let index = match self.names.get(function.name) {
            Some(Symbol::Function(index)) => *index as usize,
            Some(_) => return error(function.line, format!("{} is declared twice", function.name)),
            None => {
                self.code.functions.push(Function::default());
                self.code.functions.len() - 1
            }
        };
        self.names.insert(function.name, Symbol::Function(index as u32));
        let mut area = 0;
        let mut slots = |variables: &[Variable<'t>]| {
            let slot = |variable: &Variable<'t>| {
                let offset = place(&mut area, variable.size(), variable.align(), variable.line)?;
                Ok(Slot { offset, size: variable.size() as u32 })
            };
            variables.iter().map(slot).collect::<Result<Vec<Slot>>>()
        };
        let (params, returns) = (slots(&function.params)?, slots(&function.returns)?);
        let info = |param: &Variable<'t>| ParamInfo {
            name: param.name.to_owned(),
            size: param.size() as usize,
            align: param.align() as usize,
        };
        let bound = |name: &str| {
            let axis = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(1);
            let numbers = function.bounds.iter().find(|(found, _)| *found == name).map(|(_, numbers)| numbers);
            numbers.map(|numbers| [axis(numbers, 0), axis(numbers, 1), axis(numbers, 2)])
        };
        // A declaration may also follow the definition, which then counts.
        if self.code.functions[index].defined {
            return match function.body {
                Some(_) => error(function.line, format!("{} is defined twice", function.name)),
                None => Ok(()),
            };
        }
        self.code.functions[index] = Function {
            name: function.name.to_owned(),
            entry: function.entry,
            defined: function.body.is_some(),
            infos: function.params.iter().map(info).collect(),
            params,
            returns,
            param_size: area,
            required: bound(".reqntid"),
            most: bound(".maxntid").map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z)),
            ..Function::default()
        };
        Ok(())
    }

    /// Writes the initialiser of a variable.
    fn initialise(&mut self, variable: &Variable<'t>, symbol: Option<&Symbol>) -> Result<()> {
        let size = variable.ty.size() as usize;
        let Some(init) = &variable.init else { return Ok(()) };
        let (start, global) = match symbol {
            Some(Symbol::Variable(index)) => (0, Some(*index as usize)),
            Some(Symbol::Const(at)) => (*at as usize - CONST_START as usize, None),
            _ => return error(variable.line, format!("{} cannot have an initialiser", variable.name)),
        };
        for (index, init) in init.elements().into_iter().enumerate() {
            if index * size >= variable.size() as usize {
                return error(variable.line, format!("{} has too many values", variable.name));
            }
            let at = start + index * size;
            let relocation = match *init {
                Init::Number(_) | Init::List(_) => None,
                Init::Address { name, generic, offset, mask } => {
                    let target = self.target(name, generic, variable.line)?;
                    Some(Relocation { at, size, target, offset, mask })
                }
            };
            let data = match global {
                Some(index) => &mut self.code.variables[index],
                None => &mut self.code.constants,
            };
            match (relocation, init) {
                (Some(relocation), _) => data.relocations.push(relocation),
                (None, Init::Number(literal)) => {
                    let bits = literal_bits(*literal, variable.ty);
                    if let Some(place) = data.bytes.get_mut(at..at + size) {
                        place.copy_from_slice(&bits.to_le_bytes()[..size]);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn target(&self, name: &str, generic: bool, line: Line) -> Result<Target> {
        let fixed =
            |at: u32, space: Space| Target::Fixed(u64::from(at) + if generic { memory::window(space) } else { 0 });
        match self.names.get(name) {
            Some(Symbol::Variable(index)) => Ok(Target::Variable(*index)),
            Some(Symbol::Const(at)) => Ok(fixed(*at, Space::Const)),
            Some(Symbol::Shared(at)) => Ok(fixed(*at, Space::Shared)),
            Some(Symbol::Function(index)) => Ok(Target::Fixed(FUNCTION_WINDOW + u64::from(*index) * FUNCTION_STRIDE)),
            _ => error(line, format!("unknown name {name} in an initialiser")),
        }
    }

    fn define(&mut self, function: &tree::Function<'t>, body: &[Statement<'t>]) -> Result<()> {
        let Some(Symbol::Function(index)) = self.names.get(function.name).cloned() else { return Ok(()) };
        // The static variables of bodies get their offsets before decoding, because the scopes borrow the module's
        // names.
        let mut statics = Vec::new();
        for statement in body {
            if let Statement::Variable(variable) = statement
                && matches!(variable.space, StateSpace::Global | StateSpace::Const | StateSpace::Shared)
            {
                let symbol = self.declare(variable)?;
                self.initialise(variable, Some(&symbol))?;
                statics.push(symbol);
            }
        }
        let index = index as usize;
        // Taken out of the module, because the scopes borrow the names that are beside it.
        let mut lowered = std::mem::take(&mut self.code.functions[index]);
        let result = lower_body(&self.names, &mut lowered, function, body, statics);
        self.code.functions[index] = lowered;
        result
    }
}

/// The bits of a literal as an element of a type.
fn literal_bits(literal: Literal, ty: Type) -> u64 {
    let convert = |bits: u64, from: soft::Format| match soft::Format::of(ty) {
        Some(to) if to != from => soft::pack_number(soft::unpack(bits, from), to, Round::Nearest),
        _ => bits,
    };
    match literal {
        Literal::Int(value) => value,
        Literal::Single(bits) => convert(u64::from(bits), F32),
        Literal::Double(bits) => convert(bits, F64),
        Literal::Decimal(value) => convert(value.to_bits(), F64),
    }
}

fn lower_body<'t>(
    names: &FxHashMap<&'t str, Symbol>,
    lowered: &mut Function,
    function: &tree::Function<'t>,
    body: &[Statement<'t>],
    statics: Vec<Symbol>,
) -> Result<()> {
    let mut scopes = Scopes::new(names);
    let mut statics = statics.into_iter();
    for (variable, slot) in function.params.iter().zip(&lowered.params) {
        scopes.declare(variable.name, Symbol::Param(*slot), variable.line.0)?;
    }
    for (variable, slot) in function.returns.iter().zip(&lowered.returns) {
        scopes.declare(variable.name, Symbol::Param(*slot), variable.line.0)?;
    }
    lowered.local_align = 16;
    let mut code = Vec::new();
    let (mut last, mut targets) = (function.line.0, 0);
    for statement in body {
        match statement {
            Statement::Directive(_) => {}
            Statement::Open => scopes.open(),
            Statement::Close => scopes.close(),
            Statement::Label(line, name) => scopes.place_label(name, code.len() as u32, line.0)?,
            Statement::Registers(line, ty, list) => {
                for (name, count) in list {
                    scopes.declare_registers(name, *count, cloom_ptx::register_bits(*ty), line.0)?;
                }
                if scopes.slots() > MAX_REGISTERS {
                    return error(*line, format!("more than {MAX_REGISTERS} registers, which each thread would have"));
                }
            }
            Statement::Variable(variable) => {
                let (size, align, line) = (variable.size(), variable.align(), variable.line);
                let symbol = match variable.space {
                    StateSpace::Param => {
                        let offset = place(&mut lowered.param_size, size, align, line)?;
                        Symbol::Param(Slot { offset, size: size as u32 })
                    }
                    StateSpace::Local if variable.init.is_none() => {
                        lowered.local_align = lowered.local_align.max(align);
                        Symbol::Local(place(&mut lowered.local_size, size, align, line)?)
                    }
                    StateSpace::Local => return error(line, "local variables cannot have initialisers"),
                    // They were declared in the order of the body, which is walked in the same order here.
                    _ => match statics.next() {
                        Some(symbol) => symbol,
                        None => return error(line, format!("{} has no place", variable.name)),
                    },
                };
                scopes.declare(variable.name, symbol, line.0)?;
            }
            Statement::Targets(name, targets) => {
                // A table has no line in the tree: errors name the instruction before it.
                let labels = targets.iter().map(|target| scopes.use_label(target, last)).collect();
                scopes.declare(name, Symbol::Targets(labels), last)?;
            }
            Statement::Prototype(name, _) => scopes.declare(name, Symbol::Prototype, last)?,
            Statement::Inst(inst) => {
                last = inst.line.0;
                let decoded = decode::decode(inst, &mut scopes)?;
                if let Op::BranchIndexed { targets: own, .. } = &decoded.op {
                    targets += own.len();
                    if targets > cloom_ptx::MAX_TARGETS {
                        return error(inst.line, "too many targets of branches");
                    }
                }
                code.push(decoded);
            }
        }
    }
    // Control may run to the end of the body, which returns.
    code.push(op::Inst { line: last, guard: None, op: Op::Return });
    let labels = scopes.resolve_labels()?;
    let resolve = |label: &mut u32| {
        if let Some(place) = labels.get(*label as usize) {
            *label = *place;
        }
    };
    for inst in &mut code {
        match &mut inst.op {
            Op::Branch(label) => resolve(label),
            Op::BranchIndexed { targets, .. } => targets.iter_mut().for_each(resolve),
            _ => {}
        }
    }
    lowered.code = code;
    lowered.registers = scopes.slots();
    // The area of a called function begins where this one ends, and has to be aligned.
    lowered.param_size = align_up(u64::from(lowered.param_size), 16) as u32;
    lowered.local_size = align_up(u64::from(lowered.local_size), 16) as u32;
    debug_assert_eq!(LOCAL_START % 256, 0);
    Ok(())
}
