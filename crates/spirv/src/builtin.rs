//! Built-in functions: each use that differs becomes a function of one line of OpenCL C. All of a module's are compiled
//! together when the module has been lowered, and imported into it.

use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::kernel::scalar_name;
use crate::limits;
use crate::types::Image;
use cloom_clc::options::{BuildOptions, ClStd};
use cloom_clc::pp::NoIncludes;
use cloom_clc::{Mode, Target};
use cloom_ir::{CastOp, FuncRef, Function, Linkage, Space, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// How the names begin.
const PREFIX: &str = "__cloom_spirv_";

/// The functions that are called so far.
#[derive(Default)]
pub(crate) struct Wrappers {
    source: String,
    /// By types and text.
    known: FxHashMap<String, FuncRef>,
    /// The structures that stand in the source.
    records: FxHashSet<String>,
    all: Vec<FuncRef>,
}

/// Whether integers are written with or without sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
}

/// A type in OpenCL C.
pub(crate) fn c_type(ty: Type, sign: Sign) -> String {
    let unsigned = if ty.is_int() && sign == Sign::Unsigned { "u" } else { "" };
    let name = scalar_name(ty.scalar);
    if ty.lanes == 1 { format!("{unsigned}{name}") } else { format!("{unsigned}{name}{}", ty.lanes) }
}

/// A pointer in OpenCL C.
pub(crate) fn c_pointer(space: Space, to: &str) -> String {
    let space = match space {
        Space::Private | Space::Context => "private ",
        Space::Global => "global ",
        Space::Constant => "constant ",
        Space::Local => "local ",
        Space::Generic => "",
    };
    format!("{space}{to}*")
}

/// An image's type in OpenCL C.
pub(crate) fn c_image(image: Image) -> String {
    let access = match image.access {
        2 => "write_only",
        3 => "read_write",
        _ => "read_only",
    };
    format!("{access} {}", image.name)
}

impl Context<'_, '_> {
    /// The function with these parameters, called `a`, `b`, …, whose body is the text: an expression, or statements in
    /// braces.
    fn wrapper(
        &mut self,
        ret: &str,
        params: &[String],
        text: &str,
        types: Vec<Type>,
        out: Option<Type>,
    ) -> Result<FuncRef> {
        let list: Vec<String> = params.iter().enumerate().map(|(i, p)| format!("{p} {}", param_name(i))).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        let body = match (text.starts_with('{'), ret) {
            (true, _) => text.to_owned(),
            (_, "void") => format!("{{ {text}; }}"),
            _ => format!("{{ return {text}; }}"),
        };
        // Types and text are all that decides about the function: equal ones share it.
        let key = format!("{ret} ({list}) {body}");
        self.charge(key.len() / 16)?;
        if let Some(&known) = self.wrappers.known.get(&key) {
            return Ok(known);
        }
        let name = format!("{PREFIX}{}", self.wrappers.known.len());
        let source = &mut self.wrappers.source;
        // Writing to a string cannot fail.
        let _ = writeln!(source, "{ret} {name}({list}) {body}");
        ensure!(source.len() <= limits::WRAPPERS, "too many different uses of built-in functions");
        let mut func = Function::new(name, types, out);
        // External until it has its body: `import_declared` looks for functions that other modules see.
        func.linkage = Linkage::External;
        let func = self.ir.funcs.push(func);
        self.wrappers.known.insert(key, func);
        self.wrappers.all.push(func);
        Ok(func)
    }

    /// The name of a structure of so many of an element, for parameters of such functions.
    pub fn record_of(&mut self, element: &str, count: u64) -> Result<String> {
        let name = format!("struct {PREFIX}{element}_{count}");
        self.charge(4)?;
        if self.wrappers.records.insert(name.clone()) {
            let source = &mut self.wrappers.source;
            let _ = writeln!(source, "{name} {{ {element} x[{count}]; }};");
            ensure!(source.len() <= limits::WRAPPERS, "too many different uses of built-in functions");
        }
        Ok(name)
    }

    /// Compiles what [`Context::wrapper`] has collected, and gives the functions their bodies.
    pub fn compile_wrappers(&mut self) -> Result<()> {
        if self.wrappers.source.is_empty() {
            return Ok(());
        }
        let options = BuildOptions {
            std: Some(ClStd::Cl3_0),
            no_warnings: true,
            // Macros and folders of the program must not change the text of these functions. Its permissions for
            // floating-point arithmetic hold in them as well.
            macros: Vec::new(),
            include_dirs: Vec::new(),
            warnings_are_errors: false,
            ..self.options.clone()
        };
        let target = Target { fma: self.contract, ..self.target.clone() };
        let input = cloom_clc::Input {
            name: "built-in functions",
            source: self.wrappers.source.as_bytes(),
            headers: &mut NoIncludes,
            options: &options,
            target: &target,
        };
        let output = cloom_clc::compile(input, Mode::User);
        let log = output.log();
        let Some(library) = output.module else {
            bail!("a built-in function is used with types that it does not have:\n{log}")
        };
        self.ir.import_declared(&library)?;
        for &func in &self.wrappers.all {
            let func = &mut self.ir.funcs[func];
            ensure!(!func.is_declaration(), "a built-in function has no body");
            func.linkage = Linkage::Internal;
        }
        Ok(())
    }
}

/// The name of parameter `i` in the text of a wrapper: `a` to `p`, then `a16` and so on.
pub(crate) fn param_name(i: usize) -> String {
    match u8::try_from(i) {
        Ok(n) if n < 16 => char::from(b'a' + n).to_string(),
        _ => format!("a{i}"),
    }
}

impl Fn<'_, '_, '_> {
    /// Calls a line of OpenCL C with these values: the types of result and parameters as it writes them, the
    /// expression, and the type of the result.
    pub fn call_c(&mut self, ret: &str, params: &[String], args: &[Value], text: &str, ty: Type) -> Result<Value> {
        let types = args.iter().map(|&a| self.ty(a)).collect();
        let func = self.cx.wrapper(ret, params, text, types, Some(ty))?;
        match self.b().call(func, args, Some(ty)) {
            Some(v) => Ok(v),
            None => bail!("it has no result"),
        }
    }

    /// The same without a result.
    pub fn run_c(&mut self, params: &[String], args: &[Value], text: &str) -> Result<()> {
        let types = args.iter().map(|&a| self.ty(a)).collect();
        let func = self.cx.wrapper("void", params, text, types, None)?;
        self.b().call(func, args, None);
        Ok(())
    }

    /// Calls a function of numbers by its name; all integers have one sign.
    pub fn call_numbers(&mut self, name: &str, sign: Sign, args: &[Value], ty: Type) -> Result<Value> {
        let params: Vec<String> = args.iter().map(|&a| c_type(self.ty(a), sign)).collect();
        let names: Vec<String> = (0..args.len()).map(param_name).collect();
        self.call_c(&c_type(ty, sign), &params, args, &format!("{name}({})", names.join(", ")), ty)
    }

    /// A truth value as an `int`, for functions that take one.
    pub fn truth_as_int(&mut self, v: Value) -> Value {
        let ty = self.ty(v).with_scalar(cloom_ir::Scalar::I32);
        self.b().cast(CastOp::Zext, v, ty)
    }

    /// The truth of what a function of OpenCL C gives.
    pub fn int_as_truth(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        let zero = self.b().iconst(ty, 0);
        self.b().icmp(cloom_ir::IntCc::Ne, v, zero)
    }
}
