//! Warns about variables that are read before they have a value.
//!
//! In comes the typed body of a function. The analysis walks along it once, in the order of execution, and keeps the
//! set of variables that have been assigned on no path to this point; a read of one of them is a finding. Numbers,
//! vectors and pointers count; a variable leaves the set with its first assignment, also of one component, and when
//! its address is taken. After a branch it is in the set if no branch assigned it.
//!
//! In a loop this describes the first iteration. A finding there counts only if the read comes before every assignment
//! in the loop: the assignments have to be later in the same region, which is a list of statements that are executed
//! one after the other. So `sum += x` is found, but not `if (i > 0) use(last); last = x;`. Functions with `goto` are
//! left alone. The walk is linear, except that a branch is undone for its sibling, once for each level of nesting.

use crate::sema::Sema;
use crate::sema::tree::{Body, Expr, ExprKind, Init, InitPart, LocalId, LocalVar, Special, Stmt, StmtKind};
use crate::source::{Diagnostic, Span};

/// A read of a variable that no path has assigned.
struct Read {
    local: LocalId,
    span: Span,
    time: u32,
    region: usize,
    /// The outermost loop around it that does not declare the variable.
    in_loop: Option<usize>,
}

/// From when to when, in assignments.
type Interval = (u32, u32);

struct Walk<'w> {
    locals: &'w [LocalVar],
    /// Of each variable: no path to here has assigned it.
    unassigned: Vec<bool>,
    /// The variables that ceased to be unassigned, in order.
    assigned: Vec<LocalId>,
    /// The clock: how many assignments were seen.
    time: u32,
    /// Of each variable, the times of its assignments, in order.
    assignments: Vec<Vec<u32>>,
    /// The loops around this point: number, and span of the body.
    open_loops: Vec<(usize, Span)>,
    loops: Vec<Interval>,
    region: usize,
    regions: Vec<Interval>,
    reads: Vec<Read>,
    has_goto: bool,
}

impl Sema<'_> {
    /// Warns once of each variable of a body that is read too early.
    pub(in crate::sema) fn warn_of_uninitialised(&mut self, body: &Body) {
        let tracked = |l: &LocalVar| {
            let ty = l.ty.ty;
            l.declared.is_some() && !l.ty.is_volatile && (self.types.numeric(ty).is_some() || self.types.is_pointer(ty))
        };
        let unassigned: Vec<bool> = body.locals.iter().map(tracked).collect();
        if !unassigned.contains(&true) {
            return;
        }
        let mut walk = Walk {
            locals: &body.locals,
            assignments: vec![Vec::new(); unassigned.len()],
            unassigned,
            assigned: Vec::new(),
            time: 0,
            open_loops: Vec::new(),
            loops: Vec::new(),
            region: 0,
            regions: vec![(0, u32::MAX)],
            reads: Vec::new(),
            has_goto: false,
        };
        walk.stmts(&body.stmts);
        if walk.has_goto {
            return;
        }
        let mut reported = rustc_hash::FxHashSet::default();
        for read in &walk.reads {
            if !walk.is_first(read) || !reported.insert(read.local) {
                continue;
            }
            let local = &body.locals[read.local.0 as usize];
            let (Some(name), Some(at)) = (local.name, local.declared) else { continue };
            let message = format!("`{}` has no value when it is read", self.text(name));
            self.push(
                Diagnostic::warning("W0316", read.span, message)
                    .also(at, "declared without an initial value")
                    .help("initialise it where it is declared"),
            );
        }
    }
}

impl Walk<'_> {
    /// Whether no assignment in the loops around a read may come before it.
    fn is_first(&self, read: &Read) -> bool {
        let Some(of) = read.in_loop else { return true };
        let ((start, end), (_, region_end)) = (self.loops[of], self.regions[read.region]);
        let times = &self.assignments[read.local.0 as usize];
        let within = |from: u32, to: u32| {
            times.partition_point(|&t| t <= to).saturating_sub(times.partition_point(|&t| t < from))
        };
        // All assignments in the loop must come after the read and in its region; then the first iteration reads before
        // any of them.
        within(start, end) == within(read.time.max(start), region_end.min(end))
    }

    fn assign(&mut self, id: LocalId) {
        let i = id.0 as usize;
        // Variables with an initial value, and parameters, are never unassigned: their assignments need no record.
        if self.locals[i].declared.is_none() {
            return;
        }
        self.time += 1;
        self.assignments[i].push(self.time);
        if std::mem::take(&mut self.unassigned[i]) {
            self.assigned.push(id);
        }
    }

    fn read(&mut self, id: LocalId, span: Span) {
        if !self.unassigned[id.0 as usize] {
            return;
        }
        let Some(at) = self.locals[id.0 as usize].declared else { return };
        let declares = |body: Span| body.file == at.file && body.lo <= at.lo && at.hi <= body.hi && body != at;
        // Loops that declare it are around those that do not.
        let outermost = self.open_loops.partition_point(|&(_, body)| declares(body));
        let in_loop = self.open_loops.get(outermost).map(|l| l.0);
        self.reads.push(Read { local: id, span, time: self.time + 1, region: self.region, in_loop });
    }

    /// What is executed perhaps: a region of its own.
    fn region(&mut self, walk: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.region, self.regions.len());
        self.regions.push((self.time, u32::MAX));
        walk(self);
        self.regions[self.region].1 = self.time;
        self.region = around;
    }

    /// Two branches, of which one is executed; whether each returns from the function.
    fn branches(&mut self, then: impl FnOnce(&mut Self) -> bool, els: impl FnOnce(&mut Self) -> bool) {
        let mark = self.assigned.len();
        let mut returns = false;
        self.region(|this| returns = then(this));
        // The other branch starts from the same state: what this one assigned is unassigned again for it.
        let by_then = self.assigned.split_off(mark);
        for id in &by_then {
            self.unassigned[id.0 as usize] = true;
        }
        let mut els_returns = false;
        self.region(|this| els_returns = els(this));
        // A branch that returns does not reach the statements after the two, so that its assignments do not count
        // there.
        if els_returns && !returns {
            for id in self.assigned.split_off(mark) {
                self.unassigned[id.0 as usize] = true;
            }
        }
        if !returns {
            for id in by_then {
                if std::mem::take(&mut self.unassigned[id.0 as usize]) {
                    self.assigned.push(id);
                }
            }
        }
    }

    /// Whether the end of a list is a `return`.
    fn stmts(&mut self, list: &[Stmt]) -> bool {
        let mut returns = false;
        for s in list {
            returns = self.stmt(s);
        }
        returns
    }

    fn stmt(&mut self, s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::Expr(e) => self.value(e),
            StmtKind::Init(id, init) => {
                self.init(init, Some(*id));
                self.assign(*id);
            }
            StmtKind::Block(list) => return self.stmts(list),
            StmtKind::If(cond, then, els) => {
                self.value(cond);
                let els = els.as_deref();
                self.branches(|this| this.stmt(then), |this| els.is_some_and(|e| this.stmt(e)));
            }
            StmtKind::Loop { init, cond, cond_last, step, body } => {
                self.stmts(init);
                self.repeated(cond.as_ref(), *cond_last, step.as_ref(), body);
            }
            StmtKind::Switch { value, body, .. } => {
                // Each label in the body begins a region of its own (see `Label`); no case is known to be executed.
                self.value(value);
                self.region(|this| {
                    this.stmt(body);
                });
            }
            StmtKind::Label(_) => {
                // Control may come from elsewhere: a new region begins.
                self.regions[self.region].1 = self.time;
                self.region = self.regions.len();
                self.regions.push((self.time, u32::MAX));
            }
            StmtKind::Goto(_) => self.has_goto = true,
            StmtKind::Declare(_) | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Return(value) => {
                value.iter().for_each(|e| self.value(e));
                return true;
            }
        }
        false
    }

    fn repeated(&mut self, cond: Option<&Expr>, cond_last: bool, step: Option<&Expr>, body: &Stmt) {
        let number = self.loops.len();
        self.loops.push((self.time, u32::MAX));
        self.open_loops.push((number, body.span));
        // Of `while` and `for` the condition is evaluated before the body, at least once.
        if let Some(cond) = cond.filter(|_| !cond_last) {
            self.value(cond);
        }
        let walk = |this: &mut Self| {
            this.stmt(body);
            step.iter().for_each(|e| this.value(e));
            cond.filter(|_| cond_last).into_iter().for_each(|e| this.value(e));
        };
        // The first iteration of `do … while` is always executed.
        if cond_last {
            walk(self);
        } else {
            self.region(walk);
        }
        self.open_loops.pop();
        self.loops[number].1 = self.time;
    }

    /// `of`: the variable that is initialised; `int x = x;` says that no value is meant.
    fn init(&mut self, init: &Init, of: Option<LocalId>) {
        for part in &init.parts {
            if let InitPart::Value(_, e) = part
                && !matches!((&e.kind, of), (ExprKind::Load(a), Some(of)) if is_local(a, of))
            {
                self.value(e);
            }
        }
    }

    /// What an expression reads and assigns. Chains that group to the left are taken apart in a loop.
    fn value(&mut self, e: &Expr) {
        let mut right = Vec::new();
        let mut first = e;
        loop {
            right.push(first);
            first = match &first.kind {
                ExprKind::Binary(_, a, _)
                | ExprKind::Compare(_, a, _)
                | ExprKind::PtrAdd(a, ..)
                | ExprKind::PtrDiff(a, ..)
                | ExprKind::Comma(a, _)
                | ExprKind::Logic { lhs: a, .. }
                | ExprKind::Unary(_, a)
                | ExprKind::Not(a)
                | ExprKind::Convert(a)
                | ExprKind::ConvertExact(a, ..)
                | ExprKind::PtrCast(a)
                | ExprKind::Bits(a)
                | ExprKind::Splat(a) => a,
                // A contracted sum has the rest of its chain as the addend.
                ExprKind::Fma(args) => &args[2],
                _ => break,
            };
        }
        // The last one is `first` itself, which is no operator.
        right.pop();
        self.operand(first);
        for node in right.into_iter().rev() {
            match &node.kind {
                ExprKind::Binary(_, _, b)
                | ExprKind::Compare(_, _, b)
                | ExprKind::PtrAdd(_, b, _)
                | ExprKind::PtrDiff(_, b, _)
                | ExprKind::Comma(_, b) => self.value(b),
                // The right operand may be skipped, so that it is a region of its own.
                ExprKind::Logic { rhs, .. } => self.region(|this| this.value(rhs)),
                ExprKind::Fma(args) => args[..2].iter().for_each(|a| self.value(a)),
                _ => {}
            }
        }
    }

    /// An expression that is no operator.
    fn operand(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Load(object) => match variable(object) {
                Some(id) => {
                    self.read(id, e.span);
                    self.inside(object);
                }
                None => self.object(object),
            },
            ExprKind::Cond(args) | ExprKind::Select(args) => {
                let [c, a, b] = &**args;
                self.value(c);
                let both = |this: &mut Self, e: &Expr| {
                    this.value(e);
                    false
                };
                self.branches(|this| both(this, a), |this| both(this, b));
            }
            ExprKind::Assign(target, value) => {
                // The value first, as in `x = x + 1`.
                self.value(value);
                self.assigned_object(target);
            }
            ExprKind::Update { target, value, .. } => {
                if let Some(id) = variable(target) {
                    self.read(id, target.span);
                }
                self.value(value);
                self.assigned_object(target);
            }
            ExprKind::Statements(list, value) => {
                self.stmts(list);
                self.value(value);
            }
            ExprKind::Vector(parts) | ExprKind::Call(_, parts) | ExprKind::Builtin(_, _, parts) => {
                parts.iter().for_each(|e| self.value(e));
            }
            ExprKind::Special(Special::Device { .. }, args) | ExprKind::Block(_, args) => {
                // A block may capture a variable that it does not read.
                for a in args {
                    match &a.kind {
                        ExprKind::Load(object) => self.object(object),
                        _ => self.value(a),
                    }
                }
            }
            ExprKind::Special(_, args) => args.iter().for_each(|e| self.value(e)),
            ExprKind::Compound(_, init) => self.init(init, None),
            ExprKind::Addr(object) => self.object(object),
            ExprKind::Local(_)
            | ExprKind::Deref(_)
            | ExprKind::Field(..)
            | ExprKind::Swizzle(..)
            | ExprKind::Lane(..) => {
                self.object(e);
            }
            ExprKind::Const(_) | ExprKind::Global(_) | ExprKind::FuncName(_) | ExprKind::Old | ExprKind::Error => {}
            // An operator is never first in its chain.
            ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::PtrAdd(..)
            | ExprKind::PtrDiff(..)
            | ExprKind::Comma(..)
            | ExprKind::Logic { .. }
            | ExprKind::Unary(..)
            | ExprKind::Not(_)
            | ExprKind::Convert(_)
            | ExprKind::ConvertExact(..)
            | ExprKind::PtrCast(_)
            | ExprKind::Bits(_)
            | ExprKind::Splat(_)
            | ExprKind::Fma(_) => {}
        }
    }

    fn assigned_object(&mut self, target: &Expr) {
        match variable(target) {
            Some(id) => {
                self.inside(target);
                self.assign(id);
            }
            None => self.object(target),
        }
    }

    /// An object that is not read here as a whole: a variable in it counts as assigned from here on.
    fn object(&mut self, e: &Expr) {
        let mut e = e;
        loop {
            e = match &e.kind {
                // Its address is taken, or a member of it assigned: from here on the analysis knows no more about it.
                ExprKind::Local(id) => return self.assign(*id),
                ExprKind::Field(base, _) | ExprKind::Swizzle(base, _) => base,
                ExprKind::Lane(base, index) => {
                    self.value(index);
                    base
                }
                ExprKind::Deref(p) => return self.value(p),
                ExprKind::Global(_) | ExprKind::Const(_) | ExprKind::FuncName(_) | ExprKind::Old | ExprKind::Error => {
                    return;
                }
                _ => return self.value(e),
            };
        }
    }

    /// The values in the designation of a variable's component.
    fn inside(&mut self, e: &Expr) {
        let mut e = e;
        while let ExprKind::Swizzle(base, _) | ExprKind::Lane(base, _) = &e.kind {
            if let ExprKind::Lane(_, index) = &e.kind {
                self.value(index);
            }
            e = base;
        }
    }
}

/// The variable that an expression designates, whole or by components.
fn variable(e: &Expr) -> Option<LocalId> {
    let mut e = e;
    loop {
        e = match &e.kind {
            ExprKind::Local(id) => return Some(*id),
            ExprKind::Swizzle(base, _) | ExprKind::Lane(base, _) => base,
            _ => return None,
        };
    }
}

fn is_local(e: &Expr, id: LocalId) -> bool {
    matches!(e.kind, ExprKind::Local(this) if this == id)
}
