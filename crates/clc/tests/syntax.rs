//! The shape of the tree: precedence, casts against vector literals, names of types, declarators, statements.

mod common;

use cloom_clc::source::Session;
use cloom_clc::syntax::ast::*;
use common::{codes, parse};

/// Trees as text with all parentheses.
struct Show<'a>(&'a Session);

impl Show<'_> {
    fn expr(&self, e: &Expr) -> String {
        let name = |s| self.0.names.text(s);
        match &e.kind {
            ExprKind::Ident(s) => name(*s).to_owned(),
            ExprKind::Int(i) => {
                let suffix = format!("{}{}", if i.unsigned { "u" } else { "" }, if i.long { "l" } else { "" });
                format!("{}{suffix}{}", i.value, if i.decimal { "" } else { "#" })
            }
            ExprKind::Float(f) => format!("{:?}{:?}", f.double, f.suffix),
            ExprKind::Char(c) => format!("'{c}'"),
            ExprKind::Bool(b) => b.to_string(),
            ExprKind::Str(s) => format!("{:?}", String::from_utf8_lossy(&s.bytes)),
            ExprKind::Paren(e) => self.expr(e),
            ExprKind::Unary { op: op @ (UnaryOp::PostInc | UnaryOp::PostDec), operand } => {
                format!("({}{})", self.expr(operand), op.text())
            }
            ExprKind::Unary { op, operand } => format!("({}{})", op.text(), self.expr(operand)),
            ExprKind::Binary { op, lhs, rhs, .. } => {
                format!("({} {} {})", self.expr(lhs), op.text(), self.expr(rhs))
            }
            ExprKind::Assign { op, lhs, rhs, .. } => {
                format!("({} {}= {})", self.expr(lhs), op.map_or("", BinaryOp::text), self.expr(rhs))
            }
            ExprKind::Conditional { cond, then, els } => {
                let then = then.as_ref().map_or(String::new(), |t| self.expr(t));
                format!("({} ? {then} : {})", self.expr(cond), self.expr(els))
            }
            ExprKind::Comma { lhs, rhs } => format!("({}, {})", self.expr(lhs), self.expr(rhs)),
            ExprKind::Call { callee, args } => format!("{}({})", self.expr(callee), self.exprs(args)),
            ExprKind::Index { base, index } => format!("{}[{}]", self.expr(base), self.expr(index)),
            ExprKind::Member { base, name: n, arrow } => {
                format!("{}{}{}", self.expr(base), if *arrow { "->" } else { "." }, name(n.name))
            }
            ExprKind::Cast { ty, operand } => format!("cast<{}>({})", self.type_name(ty), self.expr(operand)),
            ExprKind::VectorLit { ty, elems } => format!("vec<{}>({})", self.type_name(ty), self.exprs(elems)),
            ExprKind::CompoundLit { ty, init } => format!("lit<{}>{}", self.type_name(ty), self.list(init)),
            ExprKind::Query { query, arg } => format!("{query:?}({})", self.arg(arg)),
            ExprKind::Offsetof { ty, path } => format!("offsetof({}{})", self.type_name(ty), self.path(path)),
            ExprKind::TypedCall { name: f, args } => {
                let args: Vec<String> = args.iter().map(|a| self.arg(a)).collect();
                format!("{}<{}>", name(f.name), args.join(", "))
            }
            ExprKind::Selection { control, choices } => {
                let choice = |(ty, e): &(Option<TypeName>, Expr)| {
                    let ty = ty.as_ref().map_or("default".into(), |t| self.type_name(t));
                    format!("{ty}: {}", self.expr(e))
                };
                format!(
                    "generic({}, {})",
                    self.expr(control),
                    choices.iter().map(choice).collect::<Vec<_>>().join(", ")
                )
            }
            ExprKind::Statements(block) => format!("({{{}}})", block.stmts.len()),
            ExprKind::Block(literal) => {
                let ret = literal.ret.as_ref().map_or(String::new(), |ty| self.type_name(ty));
                format!("^{ret}({}){{{}}}", literal.params.len(), literal.body.stmts.len())
            }
            ExprKind::Error => "<error>".into(),
        }
    }

    fn exprs(&self, list: &[Expr]) -> String {
        list.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn arg(&self, arg: &TypeOrExpr) -> String {
        match arg {
            TypeOrExpr::Type(t) => format!("type {}", self.type_name(t)),
            TypeOrExpr::Expr(e) => self.expr(e),
        }
    }

    fn path(&self, path: &[Designator]) -> String {
        path.iter()
            .map(|d| match d {
                Designator::Field(n) => format!(".{}", self.0.names.text(n.name)),
                Designator::Index(e) => format!("[{}]", self.expr(e)),
                Designator::Range(a, b) => format!("[{} ... {}]", self.expr(a), self.expr(b)),
            })
            .collect()
    }

    fn list(&self, list: &InitList) -> String {
        let entries = list.entries.iter().map(|e| {
            let path = self.path(&e.designators);
            let eq = if path.is_empty() { "" } else { "=" };
            format!("{path}{eq}{}", self.init(&e.value))
        });
        format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
    }

    fn init(&self, init: &Initializer) -> String {
        match init {
            Initializer::Expr(e) => self.expr(e),
            Initializer::List(l) => self.list(l),
        }
    }

    fn attrs(&self, attrs: &[Attribute]) -> String {
        attrs
            .iter()
            .map(|a| {
                let args: Vec<_> = a.args.iter().map(|a| self.arg(a)).collect();
                format!("@{}({}) ", self.0.names.text(a.name.name), args.join(", "))
            })
            .collect()
    }

    fn quals(&self, q: &Qualifiers) -> String {
        let mut words = Vec::new();
        words.extend(q.space.map(|s| format!("{:?} ", s.0)));
        words.extend(q.access.map(|s| format!("{:?} ", s.0)));
        words.extend(q.is_const.map(|_| "const ".to_owned()));
        words.extend(q.is_volatile.map(|_| "volatile ".to_owned()));
        words.extend(q.is_restrict.map(|_| "restrict ".to_owned()));
        words.concat()
    }

    fn specs(&self, s: &DeclSpecs) -> String {
        let name = |s| self.0.names.text(s);
        let tag = |t: &Option<Ident>| t.map_or("?", |t| name(t.name)).to_owned();
        let ty = match &s.ty {
            TypeSpec::Builtin(b) => format!("{b:?}"),
            TypeSpec::Typedef(n) => name(n.name).to_owned(),
            TypeSpec::Record(r) => {
                let fields = r.fields.as_ref().map_or(String::new(), |f| {
                    let fields = f.iter().map(|f| {
                        let names: Vec<_> = f
                            .declarators
                            .iter()
                            .map(|d| format!("{}{}", self.declarator(&d.declarator), self.attrs(&d.attrs)))
                            .collect();
                        format!("{} {}", self.specs(&f.specs), names.join(", "))
                    });
                    format!("{{{}}}", fields.collect::<Vec<_>>().join("; "))
                });
                let word = if r.is_union { "union" } else { "struct" };
                format!("{word} {}{}{fields}", self.attrs(&r.attrs), tag(&r.tag))
            }
            TypeSpec::Enum(e) => {
                let list = e.enumerators.as_ref().map_or(String::new(), |l| {
                    let list = l.iter().map(|e| {
                        let value = e.value.as_ref().map_or(String::new(), |v| format!("={}", self.expr(v)));
                        format!("{}{value}", name(e.name.name))
                    });
                    format!("{{{}}}", list.collect::<Vec<_>>().join(", "))
                });
                format!("enum {}{list}", tag(&e.tag))
            }
            TypeSpec::Typeof(arg) => format!("typeof({})", self.arg(arg)),
            TypeSpec::Error => "<error>".into(),
        };
        let storage = s.storage.map_or(String::new(), |s| format!("{:?} ", s.0));
        let kernel = if s.kernel.is_some() { "kernel " } else { "" };
        let inline = if s.inline.is_some() { "inline " } else { "" };
        format!("{storage}{kernel}{inline}{}{}{ty}", self.attrs(&s.attrs), self.quals(&s.quals))
    }

    /// Read from the name outwards.
    fn declarator(&self, d: &Declarator) -> String {
        let mut out = d.name.map_or(String::new(), |n| self.0.names.text(n.name).to_owned());
        for step in &d.derivations {
            out += &match &step.kind {
                DerivationKind::Pointer { quals, .. } => format!(" *{}", self.quals(quals).trim_end()),
                DerivationKind::Block { quals } => format!(" ^{}", self.quals(quals).trim_end()),
                DerivationKind::Array { size, .. } => {
                    format!(" [{}]", size.as_ref().map_or(String::new(), |s| self.expr(s)))
                }
                DerivationKind::Function { params, variadic } => {
                    let mut list: Vec<_> = params
                        .iter()
                        .map(|p| format!("{} {}", self.specs(&p.specs), self.declarator(&p.declarator)))
                        .collect();
                    list.extend(variadic.map(|_| "...".to_owned()));
                    format!(" ({})", list.join("; "))
                }
            };
        }
        out
    }

    fn type_name(&self, t: &TypeName) -> String {
        format!("{}{}", self.specs(&t.specs), self.declarator(&t.declarator))
    }

    fn declaration(&self, d: &Declaration) -> String {
        let list = d.declarators.iter().map(|d| {
            let init = d.init.as_ref().map_or(String::new(), |i| format!(" = {}", self.init(i)));
            format!("{}{}{init}", self.attrs(&d.attrs), self.declarator(&d.declarator))
        });
        format!("{}: {}", self.specs(&d.specs), list.collect::<Vec<_>>().join(", "))
    }

    fn stmt(&self, s: &Stmt) -> String {
        let opt = |e: &Option<Expr>| e.as_ref().map_or(String::new(), |e| self.expr(e));
        let hints = |h: &LoopHints| match h.unroll {
            Unroll::Unspecified => String::new(),
            u => format!("{u:?} "),
        };
        match &s.kind {
            StmtKind::Block(b) => self.block(b),
            StmtKind::Declaration(d) => self.declaration(d),
            StmtKind::StaticAssert(a) => format!("assert {}", self.expr(&a.condition)),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Empty => ";".into(),
            StmtKind::If { cond, then, els } => {
                let els = els.as_ref().map_or(String::new(), |e| format!(" else {}", self.stmt(e)));
                format!("if {} {}{els}", self.expr(cond), self.stmt(then))
            }
            StmtKind::Switch { value, body } => format!("switch {} {}", self.expr(value), self.stmt(body)),
            StmtKind::While { cond, body, hints: h } => {
                format!("{}while {} {}", hints(h), self.expr(cond), self.stmt(body))
            }
            StmtKind::DoWhile { body, cond, hints: h } => {
                format!("{}do {} while {}", hints(h), self.stmt(body), self.expr(cond))
            }
            StmtKind::For { init, cond, step, body, hints: h } => {
                format!("{}for ({} | {} | {}) {}", hints(h), self.stmt(init), opt(cond), opt(step), self.stmt(body))
            }
            StmtKind::Goto(n) => format!("goto {}", self.0.names.text(n.name)),
            StmtKind::Break => "break".into(),
            StmtKind::Continue => "continue".into(),
            StmtKind::Return(e) => format!("return {}", opt(e)),
            StmtKind::Labelled { labels, body } => {
                let labels = labels.iter().map(|l| match l {
                    StmtLabel::Name(n) => format!("{}: ", self.0.names.text(n.name)),
                    StmtLabel::Case { value, end: None, .. } => format!("case {}: ", self.expr(value)),
                    StmtLabel::Case { value, end: Some(e), .. } => {
                        format!("case {}..{}: ", self.expr(value), self.expr(e))
                    }
                    StmtLabel::Default(_) => "default: ".into(),
                });
                format!("{}{}", labels.collect::<String>(), self.stmt(body))
            }
            StmtKind::Pragma(p) => format!("{:?}", p.kind),
            StmtKind::Error => "<error>".into(),
        }
    }

    fn block(&self, b: &Block) -> String {
        format!("{{{}}}", b.stmts.iter().map(|s| self.stmt(s)).collect::<Vec<_>>().join(" ; "))
    }

    fn item(&self, item: &Item) -> String {
        match &item.kind {
            ItemKind::Function(f) => {
                let head = format!("{} {}", self.specs(&f.specs), self.declarator(&f.declarator));
                format!("{head} {}{}", self.attrs(&f.attrs), self.block(&f.body))
            }
            ItemKind::Declaration(d) => self.declaration(d),
            ItemKind::Pragma(p) => format!("{:?}", p.kind),
            ItemKind::StaticAssert(a) => format!("assert {}", self.expr(&a.condition)),
        }
    }
}

/// The items of a program that must be right.
#[track_caller]
fn items(source: &str) -> Vec<String> {
    let (session, unit) = parse(source.as_bytes());
    assert!(codes(&session).is_empty(), "{}", cloom_clc::render(&session.sources, &session.diags));
    unit.items.iter().map(|i| Show(&session).item(i)).collect()
}

/// An expression in a function in which `vec` is a vector type, `num` a scalar one and `x` a variable.
#[track_caller]
fn expr(source: &str) -> String {
    let source = format!("typedef float4 vec; typedef int num; struct s {{ int m; }};\nvoid f(int x) {{ {source}; }}");
    let last = items(&source).pop().unwrap();
    let body = last.split_once(" {").unwrap().1;
    body[..body.len() - 1].to_owned()
}

#[test]
fn precedence_and_associativity() {
    assert_eq!(expr("a + b * c - d"), "((a + (b * c)) - d)");
    assert_eq!(expr("a | b ^ c & d == e < f << g + h * i"), "(a | (b ^ (c & (d == (e < (f << (g + (h * i))))))))");
    assert_eq!(
        expr("a * b + c << d < e == f & g ^ h | i && j || k"),
        "((((((((((a * b) + c) << d) < e) == f) & g) ^ h) | i) && j) || k)"
    );
    assert_eq!(expr("a = b += c ? d : e ? f : g, h"), "((a = (b += (c ? d : (e ? f : g)))), h)");
    assert_eq!(expr("a ? b, c : d"), "(a ? (b, c) : d)");
    assert_eq!(expr("a ?: b"), "(a ?  : b)");
    assert_eq!(expr("-a * !b - ~*c++ + &d[1].e->f"), "((((-a) * (!b)) - (~(*(c++)))) + (&d[1].e->f))");
    assert_eq!(expr("++x--"), "(++(x--))");
    assert_eq!(expr("f(a, (b, c))(d)[e]"), "f(a, (b, c))(d)[e]");
    assert_eq!(expr("a / b / c % d"), "(((a / b) / c) % d)");
    assert_eq!(expr("a - -b - --c"), "((a - (-b)) - (--c))");
}

#[test]
fn casts_and_vector_literals() {
    let float4 = "Vector(Float, 4)";
    assert_eq!(expr("(float4)(1, 2, 3, 4).xy"), format!("vec<{float4}>(1, 2, 3, 4).xy"));
    assert_eq!(expr("(float4)(x) * 2"), format!("(vec<{float4}>(x) * 2)"));
    assert_eq!(expr("(vec)(x, x).s01 + 1"), "(vec<vec>(x, x).s01 + 1)");
    assert_eq!(expr("(num)(x).m"), "cast<num>(x.m)");
    assert_eq!(expr("(int)(a, b)"), "cast<Scalar(Int)>((a, b))");
    assert_eq!(expr("(float4)x"), format!("cast<{float4}>(x)"));
    assert_eq!(expr("-(float4)(x)"), format!("(-vec<{float4}>(x))"));
    assert_eq!(expr("(float4)((float2)(1, 2), 3, 4)"), format!("vec<{float4}>(vec<Vector(Float, 2)>(1, 2), 3, 4)"));
    assert_eq!(expr("(int *)(x)"), "cast<Scalar(Int) *>(x)");
    assert_eq!(expr("(float4 *)(x)"), format!("cast<{float4} *>(x)"));
    assert_eq!(expr("(global const uint4 *)x + 1"), "(cast<Global const Vector(UInt, 4) *>(x) + 1)");
    assert_eq!(expr("(int (*)[4])x"), "cast<Scalar(Int) * [4]>(x)");
    assert_eq!(expr("(x)(1)"), "x(1)");
    assert_eq!(expr("(x) + 1"), "(x + 1)");
    assert_eq!(expr("(num)+1"), "cast<num>((+1))");
    assert_eq!(expr("(float4){1, 2}.x"), format!("lit<{float4}>{{1, 2}}.x"));
    assert_eq!(expr("(struct s){ .m = 3 }.m"), "lit<struct s>{.m=3}.m");
    assert_eq!(expr("(int[]){ [2] = 1, 5 }[0]"), "lit<Scalar(Int) []>{[2]=1, 5}[0]");
}

#[test]
fn queries() {
    assert_eq!(
        expr("sizeof(int) + sizeof x + sizeof (x) + sizeof(x[0]) * 2"),
        "(((Sizeof(type Scalar(Int)) + Sizeof(x)) + Sizeof(x)) + (Sizeof(x[0]) * 2))"
    );
    assert_eq!(expr("sizeof (int){1}"), "Sizeof(lit<Scalar(Int)>{1})");
    assert_eq!(
        expr("vec_step(float3) + __alignof__(double2) + sizeof -x"),
        "((VecStep(type Vector(Float, 3)) + Alignof(type Vector(Double, 2))) + Sizeof((-x)))"
    );
    assert_eq!(expr("__builtin_offsetof(struct s, m.n[2])"), "offsetof(struct s.m.n[2])");
}

#[test]
fn constants() {
    assert_eq!(expr("0x10u + 010 + 7UL + 'a' + true"), "((((16u# + 8#) + 7ul) + '97') + true)");
    assert_eq!(expr("1.5f + 2.h + 3e2"), "((1.5Float + 2.0Half) + 300.0None)");
    assert_eq!(expr("f(\"a\" \"\\n\" \"b\")"), "f(\"a\\nb\")");
}

#[test]
fn names_of_types_follow_scopes() {
    assert_eq!(expr("int num = 1; num * x"), "Scalar(Int): num = 1 ; (num * x)");
    assert_eq!(expr("num * y"), "num: y *");
    assert_eq!(expr("{ int num; num = 2; } num y"), "{Scalar(Int): num ; (num = 2)} ; num: y");
    assert_eq!(
        expr("for (int vec = 0; vec < 3; vec++) vec + 1; vec v"),
        "for (Scalar(Int): vec = 0 | (vec < 3) | (vec++)) (vec + 1) ; vec: v"
    );
    assert_eq!(expr("int uint = 3; (uint) + 1"), "Scalar(Int): uint = 3 ; (uint + 1)");
    assert_eq!(
        items("typedef int t; void f(int t, int y) { t * y; }")[1],
        "Void f (Scalar(Int) t; Scalar(Int) y) {(t * y)}"
    );
    assert_eq!(items("typedef unsigned int uint; uint x;"), ["Typedef Scalar(UInt): uint", "uint: x"]);
    assert_eq!(
        items("typedef float f4 __attribute__((ext_vector_type(4))); constant f4 v = (f4)(1, 2, 3, 4);")[1],
        "Constant f4: v = vec<f4>(1, 2, 3, 4)"
    );
    assert_eq!(
        items("enum { vec3 = 1 << 2, B, }; int a[vec3];"),
        ["enum ?{vec3=(1 << 2), B}: ", "Scalar(Int): a [vec3]"]
    );
}

#[test]
fn declarations() {
    assert_eq!(items("int *a[3], (*b)[4], **const c, d = 1;"), ["Scalar(Int): a [3] *, b * [4], c *const *, d = 1"]);
    assert_eq!(
        items("unsigned long int x; long unsigned y; short z; signed char c; char d; unsigned u; long long l;"),
        ["ULong: x", "ULong: y", "Short: z", "Char: c", "Char: d", "UInt: u", "Long: l"]
            .map(|s| format!("Scalar({}", s.replacen(':', "):", 1)))
    );
    assert_eq!(
        items("kernel void f(global const float * restrict a, read_only image2d_t i, sampler_t s, local int l[]);"),
        [
            "kernel Void: f (Global const Scalar(Float) a *restrict; ReadOnly Image(D2) i; Sampler s; Local Scalar(Int) l [])"
        ]
    );
    assert_eq!(
        items("__kernel __attribute__((reqd_work_group_size(8, 4, 1), __vec_type_hint__(float4))) void f(void) {}"),
        ["kernel @reqd_work_group_size(8, 4, 1) @vec_type_hint(type Vector(Float, 4)) Void f () {}"]
    );
    assert_eq!(items("int printf(constant char *, ...);"), ["Scalar(Int): printf (Constant Scalar(Char)  *; ...)"]);
    assert_eq!(
        items(
            "typedef struct __attribute__((packed)) n { int v[2], w; struct n *next; union { float f; uint u; }; } n_t;"
        ),
        [
            "Typedef struct @packed() n{Scalar(Int) v [2], w; struct n next *; union ?{Scalar(Float) f; Scalar(UInt) u} }: n_t"
        ]
    );
    assert_eq!(
        items("constant int t[2][3] = { { 1, 2, 3 }, [1] = { [2] = 4 } };"),
        ["Constant Scalar(Int): t [2] [3] = {{1, 2, 3}, [1]={[2]=4}}"]
    );
    assert_eq!(
        items("static inline float4 g(float4 a) { return a; }"),
        ["Static inline Vector(Float, 4) g (Vector(Float, 4) a) {return a}"]
    );
    assert_eq!(items("typeof(int) a; __typeof__(a + 1) b; ;"), ["typeof(type Scalar(Int)): a", "typeof((a + 1)): b"]);
    assert_eq!(items("_Static_assert(sizeof(int) == 4, \"odd\");"), ["assert (Sizeof(type Scalar(Int)) == 4)"]);
    assert_eq!(
        items("int f(int a, int (b), int), x;"),
        ["Scalar(Int): f (Scalar(Int) a; Scalar(Int) b; Scalar(Int) ), x"]
    );
}

#[test]
fn statements() {
    assert_eq!(expr("if (a) if (b) c; else d; else if (e) f; else g"), "if a if b c else d else if e f else g");
    assert_eq!(
        expr("switch (x) { case 1: case 2 ... 3: a; break; default: { b; } }"),
        "switch x {case 1: case 2..3: a ; break ; default: {b}} ; ;"
    );
    assert_eq!(
        expr("do a; while (b); while (c) ; for (;;) continue"),
        "do a while b ; while c ; ; for (; |  | ) continue"
    );
    assert_eq!(
        expr("for (i = 0, j = 1; i < 3; i++, j--) { } goto end; end: return"),
        "for (((i = 0), (j = 1)) | (i < 3) | ((i++), (j--))) {} ; goto end ; end: return "
    );
    assert_eq!(expr("__attribute__((opencl_unroll_hint(4))) for (;;) break"), "Factor(4) for (; |  | ) break");
    assert_eq!(
        expr(
            "\n#pragma unroll\nwhile (a) { \n#pragma unroll 2\n do ; while (b); \n#pragma OPENCL FP_CONTRACT OFF\n c; }"
        ),
        "Enable while a {Factor(2) do ; while b ; FpContract(Some(false)) ; c} ; ;"
    );
    assert_eq!(expr("return (int)1"), "return cast<Scalar(Int)>(1)");
    assert_eq!(expr("l: if (a) goto l; { m: }"), "l: if a goto l ; {m: ;} ; ;");
}

#[test]
fn spans_cover_what_they_name() {
    let source = "void f(int x) { x = g(x + 1) * -x; }";
    let (session, unit) = parse(source.as_bytes());
    let text = |span| session.sources.text(span);
    let ItemKind::Function(f) = &unit.items[0].kind else { panic!("no function") };
    assert_eq!(text(unit.items[0].span), source);
    assert_eq!(text(f.body.span), "{ x = g(x + 1) * -x; }");
    assert_eq!(text(f.params()[0].span), "int x");
    let stmt = &f.body.stmts[0];
    assert_eq!(text(stmt.span), "x = g(x + 1) * -x;");
    let StmtKind::Expr(Expr { kind: ExprKind::Assign { rhs, op_span, .. }, .. }) = &stmt.kind else {
        panic!("no assignment")
    };
    assert_eq!((text(rhs.span), text(*op_span)), ("g(x + 1) * -x", "="));
    let ExprKind::Binary { lhs, rhs, .. } = &rhs.kind else { panic!("no product") };
    assert_eq!((text(lhs.span), text(rhs.span)), ("g(x + 1)", "-x"));
}
