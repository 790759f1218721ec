//! Calls of built-in functions, made from the table: every overload as a kernel that applies it to arrays.
//!
//! * [`Call`]: one overload, its kernel, and how to run it.
//! * [`values`] makes arguments.
//! * [`oracle`]: what integer, common and relational functions give, in Rust.
//! * [`convert`]: what conversions give.
//!
//! Numbers of every type travel as bits.

pub mod convert;
pub mod oracle;
pub mod values;

use crate::device::{Built, Data};
use cloom_builtins::{Elem, Sig, Ty};
use cloom_ir::Space;
use std::fmt::Write;

/// How the language calls a scalar.
pub fn scalar_name(elem: Elem) -> &'static str {
    match elem {
        Elem::I8 => "char",
        Elem::U8 => "uchar",
        Elem::I16 => "short",
        Elem::U16 => "ushort",
        Elem::I32 => "int",
        Elem::U32 => "uint",
        Elem::I64 => "long",
        Elem::U64 => "ulong",
        Elem::F16 => "half",
        Elem::F32 => "float",
        Elem::F64 => "double",
    }
}

/// How the language calls a type of one lane or more.
pub fn type_name(elem: Elem, lanes: u8) -> String {
    match lanes {
        1 => scalar_name(elem).to_owned(),
        _ => format!("{}{lanes}", scalar_name(elem)),
    }
}

/// An expression that reads the work-item's value from an array of scalars.
pub fn load(array: &str, lanes: u8) -> String {
    match lanes {
        1 => format!("{array}[i]"),
        _ => format!("vload{lanes}(i, {array})"),
    }
}

/// A statement that writes the work-item's value to an array of scalars.
pub fn store(value: &str, array: &str, lanes: u8) -> String {
    match lanes {
        1 => format!("{array}[i] = {value};"),
        _ => format!("vstore{lanes}({value}, i, {array});"),
    }
}

/// Numbers as bytes in memory.
pub fn to_bytes(elem: Elem, bits: &[u64]) -> Vec<u8> {
    let size = elem.bits() as usize / 8;
    bits.iter().flat_map(|b| b.to_le_bytes().into_iter().take(size)).collect()
}

/// Bytes in memory as numbers.
pub fn from_bytes(elem: Elem, bytes: &[u8]) -> Vec<u64> {
    let one = |chunk: &[u8]| chunk.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b));
    bytes.chunks_exact(elem.bits() as usize / 8).map(one).collect()
}

/// One overload of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub name: &'static str,
    /// Its types.
    pub sig: Sig,
}

/// Work-items of a group; what pointers into local memory need.
const GROUP: usize = 32;

impl Call {
    /// Every overload of a function with a result whose lanes are `lanes`.
    pub fn all(name: &'static str, lanes: u8) -> Vec<Call> {
        let sigs = cloom_builtins::lookup(name).iter().flat_map(|row| row.instances(lanes));
        sigs.map(|sig| Call { name, sig }).collect()
    }

    /// The same overload on scalars, storing to private memory. `None`: there is none.
    pub fn scalar(&self) -> Option<Call> {
        let one = |ty: &Ty| match *ty {
            Ty::Value(elem, _) => Ty::Value(elem, 1),
            Ty::Ptr(_, elem, _) => Ty::Ptr(Space::Private, elem, 1),
            Ty::Void => Ty::Void,
        };
        let params: Vec<Ty> = self.sig.params.iter().map(one).collect();
        Call::all(self.name, 1).into_iter().find(|call| call.sig.params == params)
    }

    /// A name for its kernel.
    pub fn kernel_name(&self) -> String {
        cloom_builtins::mangle(self.name, &self.sig.params).replace('.', "_")
    }

    /// The parameters that are values.
    pub fn inputs(&self) -> impl Iterator<Item = (Elem, u8)> + '_ {
        self.sig.params.iter().filter_map(|p| if let Ty::Value(elem, lanes) = *p { Some((elem, lanes)) } else { None })
    }

    fn outputs(&self) -> Vec<(Elem, u8)> {
        let value = |ty: &Ty| if let Ty::Value(elem, lanes) = *ty { Some((elem, lanes)) } else { None };
        let stored = |ty: &Ty| if let Ty::Ptr(_, elem, lanes) = *ty { Some((elem, lanes)) } else { None };
        value(&self.sig.ret).into_iter().chain(self.sig.params.iter().filter_map(stored)).collect()
    }

    /// The kernel: its parameters are an array for each value, one for the result, one for what each pointer gets, and
    /// one that pointers into global memory lead to.
    pub fn source(&self) -> String {
        let mut params = Vec::new();
        let mut outs = Vec::new();
        let (mut before, mut args, mut after) = (String::new(), Vec::new(), String::new());
        for (k, ty) in self.sig.params.iter().enumerate() {
            match *ty {
                Ty::Value(elem, lanes) => {
                    params.push(format!("global const {} *p{k}", scalar_name(elem)));
                    args.push(load(&format!("p{k}"), lanes));
                }
                Ty::Ptr(space, elem, lanes) => {
                    let t = type_name(elem, lanes);
                    let (place, declaration) = match space {
                        Space::Global => (format!("(global {t} *)scratch + i"), String::new()),
                        Space::Local => (format!("l{k} + get_local_id(0)"), format!("local {t} l{k}[{GROUP}]; ")),
                        _ => (format!("&v{k}"), format!("{t} v{k}; ")),
                    };
                    // What a pointer leads to is declared before the call, and stored from there to an array of its own
                    // after it.
                    before += &declaration;
                    after += &format!(" {}", store(&format!("*({place})"), &format!("p{k}"), lanes));
                    args.push(place);
                    outs.push(format!("global {} *p{k}", scalar_name(elem)));
                }
                Ty::Void => {}
            }
        }
        let call = format!("{}({})", self.name, args.join(", "));
        let body = match self.sig.ret {
            Ty::Value(elem, lanes) => {
                outs.insert(0, format!("global {} *r", scalar_name(elem)));
                store(&call, "r", lanes)
            }
            _ => format!("{call};"),
        };
        params.extend(outs);
        params.push("global void *scratch".into());
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "kernel void {}({})\n{{ {before}size_t i = get_global_id(0); {body}{after} }}\n",
            self.kernel_name(),
            params.join(", ")
        );
        text
    }

    /// Runs it `count` times. `inputs` are the numbers of each value, lane after lane; the result and what is stored
    /// come back in the same form.
    pub fn run(&self, built: &Built<'_>, inputs: &[Vec<u64>], count: usize) -> Result<Vec<Vec<u64>>, String> {
        let bytes: Vec<Vec<u8>> = self.inputs().zip(inputs).map(|((elem, _), bits)| to_bytes(elem, bits)).collect();
        let mut args: Vec<Data<'_>> = bytes.iter().map(|b| Data::Bytes(b)).collect();
        let outputs = self.outputs();
        let size = |&(elem, lanes): &(Elem, u8)| count * usize::from(lanes) * elem.bits() as usize / 8;
        args.extend(outputs.iter().map(|o| Data::Fresh(size(o))));
        // Room for 16 components of 8 bytes for each work-item: the largest value that a pointer into global memory can
        // get.
        args.push(Data::Fresh(count * 16 * 8));
        let all = built.run(&self.kernel_name(), count, GROUP, &args)?;
        let outs = all.iter().skip(bytes.len()).zip(&outputs);
        Ok(outs.map(|(bytes, &(elem, _))| from_bytes(elem, bytes)).collect())
    }
}

/// Whether two numbers are the same: the bits, but any NaN is like another.
pub fn same(elem: Elem, a: u64, b: u64) -> bool {
    let nan = |x: u64| elem.is_float() && values::to_f64(elem, x).is_nan();
    a == b || (nan(a) && nan(b))
}
