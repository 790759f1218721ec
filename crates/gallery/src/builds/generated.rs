//! Generates long kernels and computes what they compute.
//!
//! A kernel is a list of statements on a number of *slots*, each an lvalue of the type `uint`. A statement is written
//! as text and carried out on the slots of all work-items at once, so that source and result come from one place, and
//! the same ones always. Whole numbers wrap alike everywhere: results are compared exactly.
//!
//! | kind | statements |
//! |---|---|
//! | straight | `v3 = v1 * 1234567u + (v7 ^ v2);` |
//! | structures | the same on fields of nested structures and vectors, which are also copied whole |
//! | branches | `if (v1 & 64u) v3 = …; else v5 = …;` |
//! | arrays | arrays of 64 or 512 elements, initialised in place, and looked up |

use crate::args;
use crate::cl::Session;
use crate::error::Result;
use crate::program::{Verdict, same};
use crate::random::Random;
use std::fmt::Write;

/// Work-items.
const N: usize = 64;
/// Variables of the kinds without structures.
const VARIABLES: usize = 16;
/// Structures, and slots of one.
const STRUCTURES: usize = 3;
const FIELDS: [&str; 10] =
    ["a.x", "a.y", "a.z", "a.w", "inner.b.x", "inner.b.y", "inner.c[0]", "inner.c[1]", "inner.c[2]", "d"];
/// Arrays of a kernel.
const ARRAYS: usize = 4;

/// What the statements are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Straight,
    Structures,
    Branches,
    /// Elements of an array.
    Arrays(usize),
}

impl Kind {
    pub(super) const ALL: [Kind; 5] =
        [Kind::Straight, Kind::Structures, Kind::Branches, Kind::Arrays(64), Kind::Arrays(512)];

    pub(super) fn name(self) -> String {
        match self {
            Kind::Straight => "straight code".into(),
            Kind::Structures => "structures".into(),
            Kind::Branches => "branches".into(),
            Kind::Arrays(n) => format!("arrays of {n}"),
        }
    }
}

/// A kernel in the making.
struct Kernel {
    text: String,
    random: Random,
    names: Vec<String>,
    /// The value of each slot in each work-item.
    slots: Vec<[u32; N]>,
    /// The elements of each array, element by element as the slots.
    arrays: Vec<Vec<[u32; N]>>,
}

/// The value of an expression in each work-item.
type Value = [u32; N];
/// What an expression computes from three slots.
type Operation = dyn Fn(u32, u32, u32) -> u32;

impl Kernel {
    fn slot(&mut self) -> usize {
        self.random.below(self.names.len())
    }

    fn statement(&mut self, text: &str) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.text, "    {text}");
    }

    /// An expression of three slots and a constant.
    fn expression(&mut self) -> (String, Value) {
        let [a, b, c] = [0; 3].map(|_| self.slot());
        // Odd, so that a product by it keeps every bit of the other factor: values do not decay to zero.
        let constant = self.random.next() as u32 | 1;
        let shift = 1 + self.random.below(31) as u32;
        let [x, y, z] = [&self.names[a], &self.names[b], &self.names[c]];
        let (text, of): (String, Box<Operation>) = match self.random.below(5) {
            0 => (
                format!("{x} * {constant}u + ({y} ^ {z})"),
                Box::new(move |x, y, z| x.wrapping_mul(constant).wrapping_add(y ^ z)),
            ),
            1 => (
                format!("({x} << {shift} | {x} >> {}) + {y}", 32 - shift),
                Box::new(move |x, y, _| x.rotate_left(shift).wrapping_add(y)),
            ),
            2 => (
                format!("{x} + ({y} & {constant}u) - {z}"),
                Box::new(move |x, y, z| x.wrapping_add(y & constant).wrapping_sub(z)),
            ),
            3 => (format!("({x} & {y}) | (~{x} & {z})"), Box::new(|x, y, z| (x & y) | (!x & z))),
            _ => (
                format!("({x} >> {shift}) ^ {y} * 9u + {constant}u"),
                Box::new(move |x, y, _| (x >> shift) ^ y.wrapping_mul(9).wrapping_add(constant)),
            ),
        };
        let (a, b, c) = (self.slots[a], self.slots[b], self.slots[c]);
        (text, std::array::from_fn(|i| of(a[i], b[i], c[i])))
    }

    fn assignment(&mut self) {
        let to = self.slot();
        let (text, value) = self.expression();
        let text = format!("{} = {text};", self.names[to]);
        self.statement(&text);
        self.slots[to] = value;
    }

    /// A structure or a vector as a whole.
    fn whole(&mut self) {
        let (to, from) = (self.random.below(STRUCTURES), self.random.below(STRUCTURES));
        let (first, other) = (to * FIELDS.len(), from * FIELDS.len());
        if self.random.below(2) == 0 {
            self.statement(&format!("s[{to}] = s[{from}];"));
            for k in 0..FIELDS.len() {
                self.slots[first + k] = self.slots[other + k];
            }
        } else {
            self.statement(&format!("s[{to}].a = s[{from}].a.wzyx * 5u + s[{to}].a;"));
            let turned: [Value; 4] = std::array::from_fn(|k| self.slots[other + 3 - k]);
            for (k, value) in turned.iter().enumerate() {
                let own = &mut self.slots[first + k];
                *own = std::array::from_fn(|i| value[i].wrapping_mul(5).wrapping_add(own[i]));
            }
        }
    }

    fn branch(&mut self) {
        let (on, to, other) = (self.slot(), self.slot(), self.slot());
        let bit = 1u32 << self.random.below(32);
        let ((yes, a), (no, b)) = (self.expression(), self.expression());
        let names = [on, to, other].map(|i| self.names[i].clone());
        self.statement(&format!("if ({} & {bit}u)", names[0]));
        self.statement(&format!("    {} = {yes};", names[1]));
        self.statement("else");
        self.statement(&format!("    {} = {no};", names[2]));
        let condition = self.slots[on];
        for i in 0..N {
            if condition[i] & bit != 0 {
                self.slots[to][i] = a[i];
            } else {
                self.slots[other][i] = b[i];
            }
        }
    }

    /// Every other array is of constants.
    fn array(&mut self, len: usize) {
        let k = self.arrays.len();
        let (mut text, mut values) = (Vec::new(), Vec::new());
        for j in 0..len {
            let constant = self.random.next() as u32;
            if k.is_multiple_of(2) {
                text.push(format!("{constant}u"));
                values.push([constant; N]);
            } else {
                let v = j % VARIABLES;
                text.push(format!("{} + {constant}u", self.names[v]));
                values.push(self.slots[v].map(|value| value.wrapping_add(constant)));
            }
        }
        let constant = if k.is_multiple_of(2) { "const " } else { "" };
        self.statement(&format!("{constant}uint t{k}[{len}] = {{{}}};", text.join(", ")));
        self.arrays.push(values);
    }

    fn look_up(&mut self) {
        let (k, to, at) = (self.random.below(self.arrays.len()), self.slot(), self.slot());
        let array = &self.arrays[k];
        let found = self.slots[at].map(|v| v as usize % array.len());
        // The old value of the slot, which may be the index too: both are read before the slot is written.
        let value: Value = std::array::from_fn(|i| array[found[i]][i].wrapping_add(self.slots[to][i]));
        let (to_name, at_name) = (self.names[to].clone(), self.names[at].clone());
        let text = format!("{to_name} += t{k}[{at_name} % {}u];", array.len());
        self.statement(&text);
        self.slots[to] = value;
    }
}

/// The source, and what each work-item writes.
fn generate(kind: Kind, statements: usize, input: &[u32; N]) -> (String, Vec<u32>) {
    let names: Vec<String> = match kind {
        Kind::Structures => (0..STRUCTURES).flat_map(|s| FIELDS.map(|field| format!("s[{s}].{field}"))).collect(),
        _ => (0..VARIABLES).map(|v| format!("v{v}")).collect(),
    };
    let mut kernel = Kernel {
        text: String::new(),
        random: Random::new(statements as u64),
        slots: Vec::new(),
        arrays: Vec::new(),
        names,
    };
    if kind == Kind::Structures {
        kernel.text +=
            "struct inner { uint2 b; uint c[3]; };\nstruct outer { uint4 a; struct inner inner; uint d; };\n\n";
    }
    kernel.text += "kernel void generated(global const uint *in, global uint *out)\n{\n";
    kernel.statement("const uint x = in[get_global_id(0)];");
    if kind == Kind::Structures {
        kernel.statement(&format!("struct outer s[{STRUCTURES}];"));
    }
    for (k, name) in kernel.names.clone().iter().enumerate() {
        let declared = if kind == Kind::Structures { "" } else { "uint " };
        kernel.statement(&format!("{declared}{name} = x * {}u + {k}u;", 2 * k + 1));
        kernel.slots.push(input.map(|x| x.wrapping_mul(2 * k as u32 + 1).wrapping_add(k as u32)));
    }
    for i in 0..statements {
        match kind {
            // Arrays are declared throughout the kernel, so that the later ones hold values that statements computed.
            Kind::Arrays(len) if i % (statements / ARRAYS) == 0 => kernel.array(len),
            Kind::Arrays(_) if i % 4 == 1 => kernel.look_up(),
            Kind::Structures if i % 8 == 7 => kernel.whole(),
            Kind::Branches => kernel.branch(),
            _ => kernel.assignment(),
        }
    }
    let sum: Vec<String> =
        kernel.names.iter().enumerate().map(|(k, name)| format!("{name} * {}u", 2 * k + 1)).collect();
    kernel.statement(&format!("out[get_global_id(0)] = {};", sum.join(" ^ ")));
    kernel.text += "}\n";
    let of = |i: usize| {
        let weighted = kernel.slots.iter().enumerate().map(|(k, slot)| slot[i].wrapping_mul(2 * k as u32 + 1));
        weighted.fold(0, |sum, v| sum ^ v)
    };
    (kernel.text, (0..N).map(of).collect())
}

/// Builds a kernel of so many statements, and compares its result.
pub(super) fn run(session: &Session, kind: Kind, statements: usize) -> Result<Verdict> {
    let mut random = Random::new(7);
    let data: [u32; N] = std::array::from_fn(|_| random.next() as u32);
    let (source, want) = generate(kind, statements, &data);
    let (input, output) = (session.upload(&data)?, session.zeroed::<u32>(N)?);
    let kernel = session.build("generated", &source, "")?.kernel("generated")?;
    session.launch(&kernel, args![&input, &output], &[N], &[N])?;
    session.finish()?;
    Ok(same(&session.read(&output)?, &want, "words"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_as_many_statements_as_it_says_and_is_the_same_always() {
        for kind in Kind::ALL {
            let (source, want) = generate(kind, 500, &[3; N]);
            assert_eq!((source.clone(), want.clone()), generate(kind, 500, &[3; N]));
            assert!(want.iter().all(|&w| w == want[0]), "equal work-items have equal results");
            assert_ne!(want, generate(kind, 500, &[4; N]).1);
            let of_statement = if kind == Kind::Branches { 4 } else { 1 };
            assert!(source.lines().count() >= 500 * of_statement, "{source}");
            if let Kind::Arrays(len) = kind {
                assert_eq!(source.matches(&format!("[{len}] = {{")).count(), ARRAYS);
            }
        }
    }
}
