//! Modules that the text parser cannot yield: damaged data, as from a decoder.

use super::*;
use crate::inst::{Edge, Op, Term};
use crate::{CallSite, Entity, FuncRef, Inst, Span, StrRef, ValueDef, parse, verify};

const ALL: &str = include_str!("../../tests/all.ir");

fn broken(change: impl FnOnce(&mut Module)) -> Vec<Rule> {
    let mut module = parse(ALL).unwrap();
    change(&mut module);
    let errors = verify(&module);
    // Whatever is wrong can be said.
    assert!(errors.iter().all(|e| !e.to_string().is_empty()));
    errors.into_iter().map(|e| e.rule).collect()
}

fn first(module: &mut Module) -> &mut Function {
    &mut module.funcs[FuncRef::new(0)]
}

#[test]
fn what_no_text_says_is_found_in_data() {
    let mut found = Vec::new();
    found.extend(broken(|m| m.funcs[FuncRef::new(1)].name = "scale".into()));
    found.extend(broken(|m| m.globals[GlobalRef::new(1)].name = "table".into()));
    found.extend(broken(|m| first(m).layout.push(Block::new(1))));
    found.extend(broken(|m| first(m).values[Value::new(3)].def = ValueDef::Inst(Inst::new(5))));
    found.extend(broken(|m| first(m).layout.push(Block::new(99))));
    found.extend(broken(|m| first(m).insts[Inst::new(0)].span.inlined = 1));
    found.sort();
    found.dedup();
    assert_eq!(found, Rule::ONLY_DATA);
}

#[test]
fn a_position_names_a_call_of_its_function_that_comes_after_its_callers() {
    let text = "func internal @f() {\n  inlined @g !0:1:2\n  inlined @h !0:3:4@1\nbb0:\n  fence acquire device !0:5:6@2\n  ret !0:7:8@1\n}";
    let good = parse(text).unwrap();
    assert_eq!(verify(&good), []);
    let changed = |change: fn(&mut Function)| {
        let mut module = good.clone();
        change(first(&mut module));
        verify(&module).iter().map(|e| (e.rule, e.entity)).collect::<Vec<_>>()
    };
    let (inst, block) = (Inst::new(0), Block::new(0));
    assert_eq!(changed(|f| f.insts[Inst::new(0)].span.inlined = 3), [(Rule::Inlined, AnyEntity::Inst(inst))]);
    assert_eq!(changed(|f| f.blocks[Block::new(0)].term_span.inlined = 9), [(Rule::Inlined, AnyEntity::Term(block))]);
    // Forward, and itself.
    assert_eq!(changed(|f| f.inlined[0].span.inlined = 2), [(Rule::Inlined, AnyEntity::Function)]);
    assert_eq!(changed(|f| f.inlined[1].span.inlined = 2), [(Rule::Inlined, AnyEntity::Function)]);
    assert_eq!(changed(|f| f.inlined[1].span.inlined = 0), []);
}

/// A small generator of numbers; a test must give the same on every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    /// An index, often out of range.
    fn index<E: Entity>(&mut self) -> E {
        match self.below(4) {
            0 => E::new(u32::MAX as usize - 1),
            1 => E::new(self.below(120)),
            _ => E::new(self.below(40)),
        }
    }
}

fn damage(f: &mut Function, rng: &mut Rng) {
    let (block, inst) = (Block::new(rng.below(f.blocks.len())), Inst::new(rng.below(f.insts.len())));
    match rng.below(14) {
        0 => f.layout.push(rng.index()),
        1 => f.blocks[block].insts.push(rng.index()),
        2 => f.blocks[block].params.push(rng.index()),
        3 => f.insts[inst].args.push(rng.index()),
        4 => f.insts[inst].args.iter_mut().for_each(|a| *a = rng.index()),
        5 => f.insts[inst].result = (rng.below(2) == 0).then(|| rng.index()),
        6 => f.blocks[block].term = Term::Jump(Edge::new(rng.index(), [rng.index()])),
        7 => f.blocks[block].term = Term::Return(Some(rng.index())),
        8 => {
            let v = Value::new(rng.below(f.values.len()));
            f.values[v].def =
                if rng.below(2) == 0 { ValueDef::Inst(rng.index()) } else { ValueDef::Param(rng.index(), 7) };
        }
        9 => {
            let v = Value::new(rng.below(f.values.len()));
            f.values[v].ty.lanes = [0, 1, 3, 1024, u16::MAX][rng.below(5)];
        }
        10 => f.insts[inst].span.inlined = rng.below(4) as u16,
        11 => f.blocks[block].term_span.inlined = rng.below(4) as u16,
        12 => {
            let span = Span { line: 1, inlined: rng.below(4) as u16, ..Span::NONE };
            f.inlined.push(CallSite { function: "f".into(), span });
        }
        _ => {
            let other = Inst::new(rng.below(f.insts.len()));
            f.insts[inst].op = match rng.below(5) {
                0 => Op::Call(rng.index()),
                1 => Op::GlobalAddr(rng.index()),
                2 => Op::Printf(StrRef::new(rng.below(4))),
                3 => Op::Shuffle(vec![7; rng.below(70_000)].into()),
                _ => f.insts[other].op.clone(),
            };
        }
    }
}

#[test]
fn no_damage_makes_the_verifier_panic() {
    let mut rng = Rng(3);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..3000 {
        let found = broken(|m| (0..=rng.below(3)).for_each(|_| damage(first(m), &mut rng)));
        if found.is_empty() { good += 1 } else { bad += 1 }
    }
    assert!(good > 20 && bad > 2000, "{good} {bad}");
}

#[test]
fn an_error_says_which_rule_what_and_why() {
    let text =
        "func internal @f(i32, f32) {\nbb0(v0: i32, v1: f32):\n v2: f32 = fadd v0, v1\n br v0, bb1, bb1\nbb1:\n ret\n}";
    let errors: Vec<String> = verify(&parse(text).unwrap()).iter().map(ToString::to_string).collect();
    let fadd = "V27, `v2: f32 = fadd v0, v1` in @f: float arithmetic takes and gives floats of one type; \
                the operands have types i32, f32";
    let branch = "V17, `br v0, bb1, bb1` in @f: a branch is decided by one i1, not by a vector; found i32";
    assert_eq!(errors, [fadd, branch]);
}

#[test]
fn the_numbers_are_those_of_the_order() {
    for (i, rule) in Rule::ALL.iter().enumerate() {
        assert_eq!(rule.to_string(), format!("V{}", i + 1));
    }
}
