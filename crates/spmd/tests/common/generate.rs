//! Random kernels of the form that a front end lowers: variables in private memory, structured control flow, helpers
//! that are called, barriers where all work-items of a group meet.
//!
//! Every kernel ends, computes the same whatever the order of its work-items, and stays inside its memory. Signature:
//! `k(global int *out, global int *in, int n, local int *l)` with `OUT` words of `out` for each work-item, 64 words of
//! `in`, and 64 words of `l`.

use cloom_ir::{
    BarrierMemory, BinOp, Block, Builder, CastOp, Edge, Flags, FuncRef, Function, Global, GlobalLinkage, GlobalRef,
    IntCc, KernelMeta, KernelParam, Linkage, Module, Order, ParamKind, Query, RmwOp, Scope, Space, Term, Type, UnOp,
    Value,
};

/// Words of output of a work-item.
pub const OUT: u64 = 8;
/// Words of `in` and of each local array.
pub const WORDS: u64 = 64;

/// A small generator of numbers: the same on every machine.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

struct Gen<'a> {
    rng: &'a mut Rng,
    func: Function,
    block: Block,
    /// Private `int` variables, by address.
    vars: Vec<Value>,
    /// Variables that are the same for the group.
    uniform_vars: Vec<Value>,
    /// A private `int4`.
    vector: Value,
    /// A private `int[8]`, and a variable that holds its address.
    array: Value,
    array_pointer: Value,
    /// A structure of two `int`s and a `float`, twice.
    structures: [Value; 2],
    inputs: Option<Inputs>,
    helpers: Vec<(FuncRef, usize)>,
    tile: Option<GlobalRef>,
    budget: u32,
    returns: bool,
}

#[derive(Clone, Copy)]
struct Inputs {
    out: Value,
    input: Value,
    n: Value,
    local: Value,
}

/// A module with one kernel.
pub fn module(seed: u64) -> Module {
    let mut rng = Rng::new(seed);
    let mut module = Module::new();
    let tile = module.globals.push(Global {
        place: None,
        name: "tile".into(),
        linkage: GlobalLinkage::Internal,
        space: Space::Local,
        size: 4 * WORDS,
        align: 16,
        init: Vec::new(),
        relocs: Vec::new(),
    });
    let mut helpers = Vec::new();
    for n in 0..rng.below(3) as usize {
        let func = helper(&mut rng, n, &helpers);
        let params = func.params.len();
        helpers.push((module.funcs.push(func), params));
    }
    let func = kernel(&mut rng, helpers, tile);
    module.funcs.push(func);
    module
}

fn param(name: &str, type_name: &str, kind: ParamKind, size: u32) -> KernelParam {
    KernelParam {
        name: name.into(),
        type_name: type_name.into(),
        kind,
        size,
        align: size,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
        access: 0,
        pointee_align: 1,
    }
}

fn helper(rng: &mut Rng, n: usize, helpers: &[(FuncRef, usize)]) -> Function {
    let params = vec![Type::I32; 1 + rng.below(2) as usize];
    let func = Function::new(format!("helper{n}"), params, Some(Type::I32));
    let budget = 4 + rng.below(8) as u32;
    let mut g = Gen::new(rng, func, helpers.to_vec(), None, budget);
    for _ in 0..2 {
        g.statement(2, false);
    }
    let v = g.expression(2, false);
    g.at().ret(Some(v));
    g.func
}

fn kernel(rng: &mut Rng, helpers: Vec<(FuncRef, usize)>, tile: GlobalRef) -> Function {
    let (global, local) = (Type::ptr(Space::Global), Type::ptr(Space::Local));
    let mut func = Function::new("k", vec![global, global, Type::I32, local], None);
    func.linkage = Linkage::External;
    func.kernel = Some(Box::new(KernelMeta {
        params: vec![
            param("out", "int*", ParamKind::Global, 8),
            param("in", "int*", ParamKind::Global, 8),
            param("n", "int", ParamKind::Value, 4),
            param("l", "int*", ParamKind::Local, 8),
        ],
        ..KernelMeta::default()
    }));
    let budget = 10 + rng.below(30) as u32;
    let mut g = Gen::new(rng, func, helpers, Some(tile), budget);
    let statements = 2 + g.rng.below(5);
    for _ in 0..statements {
        g.statement(3, true);
    }
    g.write_out();
    g.at().ret(None);
    g.func
}

impl<'a> Gen<'a> {
    fn new(
        rng: &'a mut Rng,
        mut func: Function,
        helpers: Vec<(FuncRef, usize)>,
        tile: Option<GlobalRef>,
        budget: u32,
    ) -> Self {
        let block = func.add_block();
        let params: Vec<Value> = func.params.clone().into_iter().map(|ty| func.add_block_param(block, ty)).collect();
        let mut b = Builder::new(&mut func, block);
        let vars: Vec<Value> = (0..4).map(|_| b.alloca(4, 4)).collect();
        let uniform_vars: Vec<Value> = (0..2).map(|_| b.alloca(4, 4)).collect();
        let (vector, array, array_pointer) = (b.alloca(16, 16), b.alloca(32, 4), b.alloca(8, 8));
        let structures = [b.alloca(12, 4), b.alloca(12, 4)];
        for (k, &v) in vars.iter().chain(&uniform_vars).enumerate() {
            let c = b.iconst(Type::I32, 3 * k as u64 + 1);
            b.store(v, c, 4, Flags::empty());
        }
        let zero = b.iconst(Type::vector(Type::I32.scalar, 4), 7);
        b.store(vector, zero, 16, Flags::empty());
        b.mem_set(array, 1, 32, 4);
        b.store(array_pointer, array, 8, Flags::empty());
        for s in structures {
            b.mem_set(s, 0, 12, 4);
        }
        let inputs = tile.map(|_| Inputs { out: params[0], input: params[1], n: params[2], local: params[3] });
        if tile.is_none() {
            for (k, &p) in params.iter().enumerate() {
                b.store(vars[k], p, 4, Flags::empty());
            }
        }
        let mut g = Gen {
            rng,
            func,
            block,
            vars,
            uniform_vars,
            vector,
            array,
            array_pointer,
            structures,
            inputs,
            helpers,
            tile,
            budget,
            returns: false,
        };
        if inputs.is_some() {
            g.clear_local();
        }
        g
    }

    fn at(&mut self) -> Builder<'_> {
        Builder::new(&mut self.func, self.block)
    }

    fn int(&mut self, x: u64) -> Value {
        self.at().iconst(Type::I32, x)
    }

    fn index(&mut self, base: Value, i: Value) -> Value {
        let mut b = self.at();
        let i = b.cast(CastOp::Zext, i, Type::I64);
        let four = b.iconst(Type::I64, 4);
        let offset = b.binary(BinOp::Mul, i, four);
        b.ptr_add(base, offset)
    }

    /// The work-item's number in the group.
    fn item(&mut self) -> Value {
        let mut b = self.at();
        let ids: Vec<Value> = (0..3).map(|d| b.query(Query::LocalId, d)).collect();
        let sizes: Vec<Value> = (0..2).map(|d| b.query(Query::LocalSize, d)).collect();
        let zy = b.binary(BinOp::Mul, ids[2], sizes[1]);
        let y = b.binary(BinOp::Add, zy, ids[1]);
        let yx = b.binary(BinOp::Mul, y, sizes[0]);
        let x = b.binary(BinOp::Add, yx, ids[0]);
        b.cast(CastOp::Trunc, x, Type::I32)
    }

    fn items(&mut self) -> Value {
        let mut b = self.at();
        let sizes: Vec<Value> = (0..3).map(|d| b.query(Query::LocalSize, d)).collect();
        let yz = b.binary(BinOp::Mul, sizes[1], sizes[2]);
        let all = b.binary(BinOp::Mul, sizes[0], yz);
        b.cast(CastOp::Trunc, all, Type::I32)
    }

    fn global_item(&mut self) -> Value {
        let mut b = self.at();
        let [ids, offsets, sizes] = [Query::GlobalId, Query::GlobalOffset, Query::GlobalSize]
            .map(|q| (0..3).map(|d| b.query(q, d)).collect::<Vec<Value>>());
        let rel: Vec<Value> = (0..3).map(|d| b.binary(BinOp::Sub, ids[d], offsets[d])).collect();
        let zy = b.binary(BinOp::Mul, rel[2], sizes[1]);
        let y = b.binary(BinOp::Add, zy, rel[1]);
        let yx = b.binary(BinOp::Mul, y, sizes[0]);
        let x = b.binary(BinOp::Add, yx, rel[0]);
        b.cast(CastOp::Trunc, x, Type::I32)
    }

    fn local_array(&mut self, which: bool) -> Value {
        match (which, self.tile, self.inputs) {
            (true, Some(tile), _) => self.at().global_addr(tile, Space::Local),
            (_, _, Some(inputs)) => inputs.local,
            _ => self.array,
        }
    }

    fn clear_local(&mut self) {
        for which in [false, true] {
            let (array, item, zero) = (self.local_array(which), self.item(), self.int(0));
            let p = self.index(array, item);
            self.at().store(p, zero, 4, Flags::empty());
        }
        self.at().barrier(BarrierMemory::Both);
    }

    fn load(&mut self, p: Value) -> Value {
        self.at().load(Type::I32, p, 4, Flags::empty())
    }

    fn store(&mut self, p: Value, v: Value) {
        self.at().store(p, v, 4, Flags::empty());
    }

    /// The same for all work-items of the group that compute it.
    fn uniform(&mut self) -> Value {
        let Some(inputs) = self.inputs else { return self.int(5) };
        match self.rng.below(5) {
            0 => inputs.n,
            1 => {
                let mut b = self.at();
                let id = b.query(Query::GroupId, 0);
                b.cast(CastOp::Trunc, id, Type::I32)
            }
            2 => self.items(),
            3 => {
                let v = self.uniform_vars[0];
                self.load(v)
            }
            _ => {
                let v = self.uniform_vars[1];
                let (v, n) = (self.load(v), inputs.n);
                self.at().binary(BinOp::Xor, v, n)
            }
        }
    }

    fn expression(&mut self, depth: u32, in_kernel: bool) -> Value {
        if depth == 0 || self.rng.below(4) == 0 {
            let v = self.vars[self.rng.below(4) as usize];
            return match self.rng.below(6) {
                0 => {
                    let x = self.rng.below(17);
                    self.int(x)
                }
                1 if in_kernel => self.global_item(),
                2 if in_kernel => self.item(),
                3 => self.uniform(),
                _ => self.load(v),
            };
        }
        let a = self.expression(depth - 1, in_kernel);
        match self.rng.below(14) {
            0..=3 => {
                let ops = [
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::Sdiv,
                    BinOp::Urem,
                    BinOp::And,
                    BinOp::Or,
                    BinOp::Xor,
                    BinOp::Shl,
                    BinOp::Ashr,
                    BinOp::Smin,
                    BinOp::Umax,
                    BinOp::Rotl,
                    BinOp::Udiv,
                    BinOp::Lshr,
                ];
                let op = ops[self.rng.below(ops.len() as u64) as usize];
                let b = self.expression(depth - 1, in_kernel);
                self.at().binary(op, a, b)
            }
            4 => {
                let b = self.expression(depth - 1, in_kernel);
                let cc = IntCc::ALL[self.rng.below(10) as usize];
                let mut w = self.at();
                let c = w.icmp(cc, a, b);
                w.cast(CastOp::Zext, c, Type::I32)
            }
            5 => {
                let (b, c) = (self.expression(depth - 1, in_kernel), self.expression(depth - 1, in_kernel));
                let mut w = self.at();
                let zero = w.iconst(Type::I32, 3);
                let truth = w.icmp(IntCc::Slt, a, zero);
                w.select(truth, b, c)
            }
            6 => {
                let mut w = self.at();
                let narrow = w.cast(CastOp::Trunc, a, Type::I8);
                w.cast(CastOp::Sext, narrow, Type::I32)
            }
            7 => {
                let mut w = self.at();
                let f = w.cast(CastOp::StoF, a, Type::F32);
                let half = w.fconst(Type::F32, 0.5);
                let f = w.binary(BinOp::Fmul, f, half);
                w.cast(CastOp::FtoS, f, Type::I32)
            }
            8 => {
                let (v, lane) = (self.vector, self.rng.below(4) as u16);
                let mut w = self.at();
                let v = w.load(Type::vector(Type::I32.scalar, 4), v, 16, Flags::empty());
                w.extract_lane(v, lane)
            }
            9 => {
                let p = self.element(a);
                self.load(p)
            }
            10 => match self.inputs {
                Some(inputs) => {
                    let mask = self.int(WORDS - 1);
                    let i = self.at().binary(BinOp::And, a, mask);
                    let p = self.index(inputs.input, i);
                    self.load(p)
                }
                None => a,
            },
            11 => match self.rng.below(self.helpers.len() as u64 + 1) as usize {
                0 => self.at().unary(UnOp::Not, a),
                k => {
                    let (f, params) = self.helpers[k - 1];
                    let args: Vec<Value> = (0..params).map(|_| self.expression(depth - 1, in_kernel)).collect();
                    self.at().call(f, &args, Some(Type::I32)).unwrap()
                }
            },
            12 => {
                // A component by its own address.
                let (v, lane) = (self.vector, self.rng.below(4));
                let p = self.at().ptr_offset(v, 4 * lane);
                self.load(p)
            }
            _ => {
                let s = self.structures[self.rng.below(2) as usize];
                let field = self.rng.below(3);
                let p = self.at().ptr_offset(s, 4 * field);
                self.load(p)
            }
        }
    }

    /// Address of an element of the private array, sometimes through the pointer variable.
    fn element(&mut self, i: Value) -> Value {
        let seven = self.int(7);
        let i = self.at().binary(BinOp::And, i, seven);
        let base = match self.rng.below(2) {
            0 => self.array,
            _ => {
                let p = self.array_pointer;
                self.at().load(Type::ptr(Space::Private), p, 8, Flags::empty())
            }
        };
        self.index(base, i)
    }

    fn condition(&mut self, uniform: bool, in_kernel: bool) -> Value {
        let a = if uniform { self.uniform() } else { self.expression(2, in_kernel) };
        let cc = IntCc::ALL[self.rng.below(10) as usize];
        let x = self.rng.below(9);
        let b = self.int(x);
        let c = self.at().icmp(cc, a, b);
        if self.rng.below(4) > 0 {
            return c;
        }
        // As C sees it: an `int` that is tested again.
        let mut w = self.at();
        let wide = w.cast(CastOp::Zext, c, Type::I32);
        let zero = w.iconst(Type::I32, 0);
        w.icmp(IntCc::Ne, wide, zero)
    }

    /// `together`: all work-items of the group that still run come here.
    fn statement(&mut self, depth: u32, together: bool) {
        let in_kernel = self.inputs.is_some();
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.rng.below(if depth == 0 { 7 } else { 13 }) {
            0 | 1 => {
                let v = self.expression(3, in_kernel);
                let var = self.vars[self.rng.below(4) as usize];
                self.store(var, v);
            }
            2 => {
                let i = self.expression(1, in_kernel);
                let p = self.element(i);
                let v = self.expression(2, in_kernel);
                self.store(p, v);
            }
            3 => {
                let v = self.expression(2, in_kernel);
                let (vector, lane) = (self.vector, self.rng.below(4));
                let whole = Type::vector(Type::I32.scalar, 4);
                if self.rng.below(2) == 0 {
                    let mut w = self.at();
                    let old = w.load(whole, vector, 16, Flags::empty());
                    let new = w.insert_lane(old, lane as u16, v);
                    let mixed = w.shuffle(new, old, &[0, 5, 2, 3]);
                    w.store(vector, mixed, 16, Flags::empty());
                } else {
                    let p = self.at().ptr_offset(vector, 4 * lane);
                    self.store(p, v);
                }
            }
            4 => {
                let [a, b] = self.structures;
                if self.rng.below(2) == 0 {
                    self.at().mem_copy(a, b, 12, 4);
                } else {
                    let v = self.expression(2, in_kernel);
                    let (s, field) = ([a, b][self.rng.below(2) as usize], self.rng.below(3));
                    let p = self.at().ptr_offset(s, 4 * field);
                    self.store(p, v);
                }
            }
            5 => self.meet(together),
            6 if together && in_kernel => {
                let v = self.uniform();
                let var = self.uniform_vars[self.rng.below(2) as usize];
                self.store(var, v);
            }
            6 => self.count(),
            7 | 8 => {
                let uniform = self.rng.below(2) == 0;
                self.branch(depth, uniform, uniform && together);
            }
            9 => self.counted_loop(depth, together),
            10 => self.uneven_loop(depth, together),
            11 if in_kernel && !self.returns => self.early_return(together),
            _ => self.switch(depth),
        }
    }

    /// Adds to a counter that all work-items share.
    fn count(&mut self) {
        let Some(inputs) = self.inputs else { return };
        let v = self.expression(1, true);
        let p = self.at().ptr_offset(inputs.input, 4 * WORDS);
        self.at().atomic_rmw(RmwOp::Add, p, v, Order::Relaxed, Scope::Device);
    }

    /// Work-items exchange values through local memory, if all are here.
    fn meet(&mut self, together: bool) {
        if !together || self.inputs.is_none() {
            return;
        }
        let which = self.rng.below(2) == 0;
        let (array, item) = (self.local_array(which), self.item());
        let v = self.expression(2, true);
        let p = self.index(array, item);
        self.store(p, v);
        self.at().barrier(BarrierMemory::Both);
        let (step, items, item) = (self.rng.below(7), self.items(), self.item());
        let step = self.int(step);
        let mut b = self.at();
        let other = b.binary(BinOp::Add, item, step);
        let other = b.binary(BinOp::Urem, other, items);
        let array = self.local_array(which);
        let p = self.index(array, other);
        let v = self.load(p);
        let var = self.vars[self.rng.below(4) as usize];
        self.store(var, v);
        self.at().barrier(BarrierMemory::Both);
    }

    fn new_blocks<const N: usize>(&mut self) -> [Block; N] {
        std::array::from_fn(|_| self.func.add_block())
    }

    fn body(&mut self, depth: u32, together: bool) {
        for _ in 0..1 + self.rng.below(3) {
            self.statement(depth - 1, together);
        }
    }

    fn branch(&mut self, depth: u32, uniform: bool, together: bool) {
        let in_kernel = self.inputs.is_some();
        let c = self.condition(uniform, in_kernel);
        let [then, els, end] = self.new_blocks();
        self.at().branch(c, then, els);
        self.block = then;
        self.body(depth, together);
        self.at().jump(end, &[]);
        self.block = els;
        if self.rng.below(2) == 0 {
            self.body(depth, together);
        }
        self.at().jump(end, &[]);
        self.block = end;
    }

    fn switch(&mut self, depth: u32) {
        let in_kernel = self.inputs.is_some();
        let v = self.expression(2, in_kernel);
        let [a, b, end] = self.new_blocks();
        let three = self.int(3);
        let value = self.at().binary(BinOp::And, v, three);
        let cases = vec![(0, Edge::new(a, [])), (1, Edge::new(b, [])), (2, Edge::new(a, []))];
        self.at().term(Term::Switch { value, cases, default: Edge::new(end, []) });
        self.block = a;
        self.body(depth, false);
        // Falls through.
        self.at().jump(b, &[]);
        self.block = b;
        self.body(depth, false);
        self.at().jump(end, &[]);
        self.block = end;
    }

    /// A loop of one to three rounds, the same for all, sometimes left early by some.
    fn counted_loop(&mut self, depth: u32, together: bool) {
        let in_kernel = self.inputs.is_some();
        let bound = match self.rng.below(2) {
            0 => {
                let v = self.uniform();
                let three = self.int(3);
                self.at().binary(BinOp::And, v, three)
            }
            _ => self.int(2),
        };
        let breaks = self.rng.below(3) == 0;
        let uniform_break = self.rng.below(2) == 0;
        let (counter, [head, body, latch, end]) = (self.counter(), self.new_blocks());
        self.at().jump(head, &[]);
        self.block = head;
        let i = self.load(counter);
        let c = self.at().icmp(IntCc::Ult, i, bound);
        self.at().branch(c, body, end);
        self.block = body;
        let still = together && (!breaks || uniform_break);
        self.body(depth, still);
        if breaks {
            let c = self.condition(uniform_break, in_kernel);
            let rest = self.func.add_block();
            self.at().branch(c, end, rest);
            self.block = rest;
            self.body(depth, still);
        }
        self.at().jump(latch, &[]);
        self.block = latch;
        self.advance(counter);
        self.at().jump(head, &[]);
        self.block = end;
    }

    /// Work-items run different numbers of rounds; in the rounds that all run, they may meet.
    fn uneven_loop(&mut self, depth: u32, together: bool) {
        if self.inputs.is_none() {
            return;
        }
        let (common, item) = (1 + self.rng.below(2), self.item());
        let common = self.int(common);
        let two = self.int(3);
        let extra = self.at().binary(BinOp::And, item, two);
        let bound = self.at().binary(BinOp::Add, common, extra);
        let (counter, [head, body, all, latch, end]) = (self.counter(), self.new_blocks());
        self.at().jump(head, &[]);
        self.block = head;
        let i = self.load(counter);
        let c = self.at().icmp(IntCc::Ult, i, bound);
        self.at().branch(c, body, end);
        self.block = body;
        self.body(depth, false);
        let i = self.load(counter);
        let c = self.at().icmp(IntCc::Ult, i, common);
        self.at().branch(c, all, latch);
        self.block = all;
        self.meet(together);
        self.at().jump(latch, &[]);
        self.block = latch;
        self.advance(counter);
        self.at().jump(head, &[]);
        self.block = end;
    }

    fn counter(&mut self) -> Value {
        let entry = self.func.entry();
        let v = Builder::new(&mut self.func, entry).alloca(4, 4);
        // The entry block may be finished already: the array moves before everything else.
        self.func.move_last_to_front(entry);
        let zero = self.int(0);
        self.store(v, zero);
        v
    }

    fn advance(&mut self, counter: Value) {
        let (i, one) = (self.load(counter), self.int(1));
        let next = self.at().binary(BinOp::Add, i, one);
        self.store(counter, next);
    }

    /// Some work-items end here.
    fn early_return(&mut self, together: bool) {
        self.returns = true;
        let c = self.condition(false, true);
        let [leave, stay] = self.new_blocks();
        self.at().branch(c, leave, stay);
        self.block = leave;
        self.write_out();
        self.at().ret(None);
        self.block = stay;
        self.meet(together);
    }

    /// Writes all variables to the work-item's own words.
    fn write_out(&mut self) {
        let Some(inputs) = self.inputs else { return };
        let (item, words) = (self.global_item(), self.int(OUT));
        let first = self.at().binary(BinOp::Mul, item, words);
        let base = self.index(inputs.out, first);
        let mut values: Vec<Value> = self.vars.clone().into_iter().map(|v| self.load(v)).collect();
        let u = self.uniform_vars[0];
        values.push(self.load(u));
        let mut sum = self.int(0);
        for k in 0..8 {
            let i = self.int(k);
            let p = self.element(i);
            let v = self.load(p);
            let mut b = self.at();
            let three = b.iconst(Type::I32, 3);
            sum = b.binary(BinOp::Mul, sum, three);
            sum = b.binary(BinOp::Add, sum, v);
        }
        values.push(sum);
        let mut sum = self.int(0);
        for k in 0..4 {
            let p = self.vector;
            let mut b = self.at();
            let v = b.load(Type::vector(Type::I32.scalar, 4), p, 16, Flags::empty());
            let x = b.extract_lane(v, k);
            let five = b.iconst(Type::I32, 5);
            sum = b.binary(BinOp::Mul, sum, five);
            sum = b.binary(BinOp::Add, sum, x);
        }
        values.push(sum);
        let s = self.structures[0];
        let p = self.at().ptr_offset(s, 8);
        values.push(self.load(p));
        for (k, v) in values.into_iter().enumerate() {
            let p = self.at().ptr_offset(base, 4 * k as u64);
            self.store(p, v);
        }
    }
}
