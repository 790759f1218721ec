//! The operations of one x86 instruction, from its line of assembly.
//!
//! In comes an instruction in AT&T syntax (`op source, …, destination`); out go its operations by class. The class
//! follows from the mnemonic, loads and stores from the operands in memory, the width from the widest register. How
//! many micro-operations a model of processor makes of an instruction is not known here: that is part of what a class
//! is measured to take.

use cloom_target::ops::{Class, Counts, Op};

/// An instruction in its parts.
struct Inst<'a> {
    prefix: &'a str,
    name: &'a str,
    operands: Vec<&'a str>,
}

impl<'a> Inst<'a> {
    fn parse(line: &'a str) -> Inst<'a> {
        let text = line.split('#').next().unwrap_or_default().trim();
        let word = |text: &'a str| text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (mut name, mut rest) = word(text);
        let mut prefix = "";
        while matches!(name, "lock" | "rep" | "repe" | "repne" | "data16" | "notrack") || name.starts_with('{') {
            prefix = name;
            (name, rest) = word(rest.trim_start());
        }
        Inst { prefix, name, operands: operands(rest) }
    }

    fn memory(&self) -> Option<&'a str> {
        self.operands.iter().find(|o| is_memory(o)).copied()
    }

    fn to_memory(&self) -> bool {
        self.operands.last().is_some_and(|o| is_memory(o))
    }

    /// Whether all operands are registers.
    fn only_registers(&self) -> bool {
        self.operands.iter().all(|o| o.starts_with('%'))
    }

    /// Bytes of the widest vector register; 0 if there is none.
    fn vector_bytes(&self) -> u8 {
        let widths = self.operands.iter().filter(|o| !is_memory(o)).map(|o| register_bytes(o));
        widths.max().unwrap_or(0)
    }

    fn has_mask_register(&self) -> bool {
        self.operands.iter().any(|o| o.starts_with("%k"))
    }
}

/// Splits at the commas outside of parentheses.
fn operands(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut list) = (0i32, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(text[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() {
        list.push(last);
    }
    list
}

fn is_memory(operand: &str) -> bool {
    operand.contains('(') || operand.starts_with("%fs:")
}

/// Bytes of a vector register; 0 for other operands.
fn register_bytes(operand: &str) -> u8 {
    match operand.get(..4) {
        Some("%zmm") => 64,
        Some("%ymm") => 32,
        Some("%xmm") => 16,
        _ => 0,
    }
}

fn starts(name: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|p| name.starts_with(p))
}

/// Adds the operations of an instruction to the counts. `fused` says that the instruction before it was a comparison,
/// with which a conditional jump is one operation.
pub fn count(line: &str, fused: bool, counts: &mut Counts) {
    let inst = Inst::parse(line);
    if fused && is_conditional_jump(inst.name) {
        return;
    }
    let mut add = |class, bytes, n| counts.add(Op::new(class, bytes), n);
    add(Class::Issue, 8, 1);
    // An exchange with memory is atomic without the prefix.
    if inst.prefix == "lock" || inst.name.starts_with("xchg") && inst.memory().is_some() {
        return add(Class::Atomic, 8, 1);
    }
    let bytes = inst.vector_bytes();
    match () {
        () if bytes > 0 => vector(&inst, bytes, &mut add),
        () if inst.has_mask_register() => mask(&inst, &mut add),
        () => scalar(&inst, &mut add),
    }
}

/// Whether a conditional jump after this instruction is one operation with it.
pub fn fuses(line: &str) -> bool {
    starts(Inst::parse(line).name, &["cmp", "test"]) && Inst::parse(line).vector_bytes() == 0
}

fn is_conditional_jump(name: &str) -> bool {
    name.starts_with('j') && !name.starts_with("jmp")
}

/// Whether control may go elsewhere after this instruction: the next one begins a block.
pub fn ends_block(line: &str) -> bool {
    starts(Inst::parse(line).name, &["j", "ret", "ud2"])
}

fn scalar(inst: &Inst<'_>, add: &mut impl FnMut(Class, u8, u64)) {
    let name = inst.name;
    if starts(name, &["nop", "vzero", "mfence", "sfence"]) {
        return;
    }
    if name.starts_with("call") {
        return add(Class::Call, 8, 1);
    }
    if starts(name, &["push", "pop", "ret"]) {
        return add(if name.starts_with("push") { Class::Store } else { Class::Load }, 8, 1);
    }
    if starts(name, &["prefetch"]) {
        return add(Class::Load, 8, 1);
    }
    if starts(name, &["div", "idiv"]) {
        add(Class::ScalarDivide, 8, 1);
    } else if !name.starts_with("mov") || inst.memory().is_none() && !(inst.only_registers() && is_plain_move(name)) {
        // A move of a register is done by renaming; one from or to memory is the load or store.
        add(Class::Scalar, 8, 1);
    }
    if inst.memory().is_none() || name.starts_with("lea") {
        return;
    }
    let only_reads = starts(name, &["cmp", "test", "bt"]) && !starts(name, &["bts", "btr", "btc"]);
    let only_writes = starts(name, &["mov", "set"]) && inst.to_memory();
    if !only_writes {
        add(Class::Load, 8, 1);
    }
    // Multiplications and divisions of one operand, and indirect jumps, read it.
    let one_read = inst.operands.len() == 1 && starts(name, &["mul", "imul", "div", "idiv", "jmp"]);
    if inst.to_memory() && !only_reads && !one_read {
        add(Class::Store, 8, 1);
    }
}

/// `movl`, `movq`, …, but not `movzbl` and its like, which change the value.
fn is_plain_move(name: &str) -> bool {
    matches!(name, "mov" | "movb" | "movw" | "movl" | "movq" | "movabsq")
}

fn mask(inst: &Inst<'_>, add: &mut impl FnMut(Class, u8, u64)) {
    match (inst.memory().is_some(), inst.to_memory()) {
        (true, true) => add(Class::Store, 8, 1),
        (true, false) => add(Class::Load, 8, 1),
        _ => add(Class::Shuffle, 16, 1),
    }
}

fn vector(inst: &Inst<'_>, bytes: u8, add: &mut impl FnMut(Class, u8, u64)) {
    let name = inst.name.strip_prefix('v').unwrap_or(inst.name);
    if name.contains("gather") || name.contains("scatter") {
        let class = if name.contains("gather") { Class::Gather } else { Class::Scatter };
        return add(class, bytes, elements(inst, name));
    }
    let one_lane = name.ends_with("ss") || name.ends_with("sd");
    if let Some(memory) = inst.memory() {
        // A load of one lane, or of one number that is repeated, moves at most 8 bytes, however wide the register is.
        let narrow = one_lane
            || memory.contains("{1to")
            || starts(name, &["movd", "movq", "movh", "movl", "insertps", "extractps", "pinsr", "pextr"]);
        let is_narrow = narrow && !starts(name, &["movdq", "movddup"]) || starts(name, &["broadcasts", "pbroadcast"]);
        let width = if is_narrow { 8 } else { bytes };
        let writes = inst.to_memory() && !starts(name, &["comi", "ucomi", "ptest", "test"]);
        add(if writes { Class::Store } else { Class::Load }, width, 1);
    }
    if let Some(class) = vector_class(inst, name) {
        add(class, bytes, 1);
        if class.is_vector_arithmetic() {
            add(Class::Vector, bytes, 1);
        }
    }
}

/// The lanes of a gather or scatter: as many as both the indices and the elements have.
fn elements(inst: &Inst<'_>, name: &str) -> u64 {
    let index = match () {
        () if inst.operands.iter().any(|o| is_memory(o) && o.contains("%zmm")) => 64,
        () if inst.operands.iter().any(|o| is_memory(o) && o.contains("%ymm")) => 32,
        () => 16,
    };
    // `gatherdps`: indices of 32 bits and elements of 32 bits; `pgatherqd`: of 64 and of 32.
    let kind = name.trim_start_matches('p').trim_start_matches("gather").trim_start_matches("scatter");
    let index_size = if kind.starts_with('q') { 8 } else { 4 };
    let element_size = if kind.ends_with("pd") || kind.ends_with('q') && kind.len() > 1 { 8 } else { 4 };
    let element = u64::from(inst.vector_bytes());
    (index / index_size).min(element / element_size).max(1)
}

fn vector_class(inst: &Inst<'_>, name: &str) -> Option<Class> {
    const MOVES: &[&str] =
        &["movap", "movup", "movdq", "movnt", "lddqu", "maskmov", "pmaskmov", "movss", "movsd", "movd", "movq"];
    const SHUFFLES: &[&str] = &[
        "shuf",
        "pshuf",
        "perm",
        "unpck",
        "punpck",
        "insert",
        "pinsr",
        "extract",
        "pextr",
        "broadcast",
        "pbroadcast",
        "pack",
        "palign",
        "align",
        "pmov",
        "compress",
        "expand",
        "pcompress",
        "pexpand",
        "pslldq",
        "psrldq",
        "movh",
        "movl",
        "movs",
        "movddup",
        "movmsk",
    ];
    const PRODUCTS: &[&str] = &["pmul", "pmadd", "pdp"];
    let from_memory = inst.memory().is_some() && !inst.to_memory();
    match () {
        // Zero of no input, and moves done by renaming.
        () if is_zero_idiom(inst, name) => None,
        () if starts(name, &["zero"]) => None,
        () if starts(name, MOVES) && !starts(name, &["movddup"]) => match () {
            () if inst.memory().is_some() => None,
            () if starts(name, &["movd", "movq"]) && !starts(name, &["movdq"]) => Some(Class::Shuffle),
            () if starts(name, &["movss", "movsd"]) => Some(Class::Shuffle),
            // Under a mask it is a blend.
            () if inst.operands.last().is_some_and(|o| o.contains("{%k")) => Some(Class::Integer),
            () => None,
        },
        // A load repeats its value by itself.
        () if from_memory && starts(name, &["broadcast", "pbroadcast", "movddup"]) => None,
        () if inst.to_memory() && starts(name, &["extractf", "extracti", "movh", "movl"]) => None,
        () if starts(name, SHUFFLES) => Some(Class::Shuffle),
        // Before the general `p` for integers below.
        () if starts(name, PRODUCTS) => Some(Class::Multiply),
        () if starts(name, &["div", "sqrt"]) => match name.ends_with('d') {
            true => Some(Class::DivideDouble),
            false => Some(Class::Divide),
        },
        () if starts(name, &["and", "or", "xor", "blend"]) => Some(Class::Integer),
        () if starts(name, &["cvt", "ucomi", "comi", "tt"]) => Some(Class::Float),
        () if starts(name, &["p", "ternlog", "test", "db", "mpsadbw", "gf2", "aes"]) => Some(Class::Integer),
        () if starts(name, &["mul", "fm", "fnm"]) => Some(Class::Fma),
        () => Some(Class::Float),
    }
}

/// `vpxor %xmm0, %xmm0, %xmm0`: a core knows that the result is zero.
fn is_zero_idiom(inst: &Inst<'_>, name: &str) -> bool {
    let same = inst.operands.windows(2).all(|pair| pair[0] == pair[1]);
    starts(name, &["xorp", "pxor"]) && inst.operands.len() >= 2 && same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let mut counts = Counts::default();
        count(line, false, &mut counts);
        counts.0.retain(|op, _| !matches!(op.class, Class::Issue | Class::Vector));
        counts.to_string()
    }

    #[test]
    fn instructions_have_the_operations_that_a_core_does() {
        let cases = [
            ("vfmadd231ps (%rax,%rcx,4), %ymm1, %ymm2", "load32=1 fma32=1"),
            ("vmovups %zmm0, 64(%rdi)", "store64=1"),
            ("vmovups 64(%rdi), %zmm0 {%k1} {z}", "load64=1"),
            ("vmovdqu64 (%rdi), %ymm0", "load32=1"),
            ("vmovaps %zmm0, %zmm1", ""),
            ("vmovaps %zmm0, %zmm1 {%k1}", "integer64=1"),
            ("vmovss (%rax), %xmm0", "load8=1"),
            ("vmovd %eax, %xmm0", "shuffle16=1"),
            ("vbroadcastss 4(%rax), %zmm0", "load8=1"),
            ("vpbroadcastd %eax, %zmm0", "shuffle64=1"),
            ("vaddps (%rax){1to16}, %zmm0, %zmm1", "load8=1 float64=1"),
            ("vgatherdps (%rax,%ymm1,4), %ymm0 {%k1}", "gather32=8"),
            ("vgatherqps %xmm3, (%rax,%ymm1,4), %xmm0", "gather16=4"),
            ("vpgatherqd %xmm3, (%rax,%xmm1,4), %xmm0", "gather16=2"),
            ("vpgatherdq (%rax,%xmm1,8), %ymm0 {%k1}", "gather32=4"),
            ("vpscatterdd %zmm0, (%rax,%zmm1,4) {%k1}", "scatter64=16"),
            ("vdivps %ymm0, %ymm1, %ymm2", "divide32=1"),
            ("vsqrtpd (%rax), %zmm2", "load64=1 divide-double64=1"),
            ("sqrtss %xmm0, %xmm1", "divide16=1"),
            ("vpmulld %zmm0, %zmm1, %zmm2", "multiply64=1"),
            ("vpaddd %zmm0, %zmm1, %zmm2", "integer64=1"),
            ("vxorps %xmm0, %xmm0, %xmm0", ""),
            ("vxorps %xmm0, %xmm1, %xmm0", "integer16=1"),
            ("vpermd (%rax), %zmm1, %zmm2", "load64=1 shuffle64=1"),
            ("vextractf128 $1, %ymm1, (%rax)", "store32=1"),
            ("vpcmpgtd %zmm1, %zmm2, %k1", "integer64=1"),
            ("vmaxps %ymm0, %ymm1, %ymm1", "float32=1"),
            ("vcmpltps %zmm1, %zmm2, %k1", "float64=1"),
            ("vinsertps $16, (%rsi,%r12,4), %xmm4, %xmm4", "load8=1 shuffle16=1"),
            ("vucomiss (%rax), %xmm0", "load8=1 float16=1"),
            ("kortestw %k0, %k1", "shuffle16=1"),
            ("kmovw %eax, %k1", "shuffle16=1"),
            ("lock\t\tincl\t(%rcx)", "atomic8=1"),
            ("xchgl %eax, (%rcx)", "atomic8=1"),
            ("addl %eax, (%rcx)", "load8=1 store8=1 scalar8=1"),
            ("addl (%rcx), %eax", "load8=1 scalar8=1"),
            ("cmpl $3, (%rcx)", "load8=1 scalar8=1"),
            ("movq %rax, %rbx", ""),
            ("movl $3, %ebx", "scalar8=1"),
            ("movzbl (%rax), %ebx", "load8=1"),
            ("movl %ebx, 4(%rsp)", "store8=1"),
            ("leaq 4(%rax,%rbx), %rcx", "scalar8=1"),
            ("idivl %ecx", "scalar-divide8=1"),
            ("callq memcpy@PLT", "call8=1"),
            ("pushq %rbx", "store8=1"),
            ("jmpq *(%rax)", "load8=1 scalar8=1"),
            ("vzeroupper", ""),
            ("movaps %xmm0, (%rax) # 16-byte Spill", "store16=1"),
            ("mulps %xmm0, %xmm1", "fma16=1"),
        ];
        for (line, wanted) in cases {
            assert_eq!(of(line), wanted, "{line}");
        }
    }

    #[test]
    fn a_comparison_and_its_jump_are_one() {
        assert!(
            fuses("cmpq %rax, %rbx")
                && fuses("testb $1, %al")
                && !fuses("vtestps %xmm0, %xmm1")
                && !fuses("addq %rax, %rbx")
        );
        let mut counts = Counts::default();
        count("jne .LBB0_1", true, &mut counts);
        assert_eq!(counts, Counts::default());
        count("jmp .LBB0_1", true, &mut counts);
        assert_eq!(counts.of_class(Class::Scalar), 1);
        assert!(ends_block("jne .L1") && ends_block("retq") && !ends_block("callq f"));
    }
}
