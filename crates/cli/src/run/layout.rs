//! How an element of a buffer, or a value, lies in memory: numbers, arrays and structures. Parses and prints them, with
//! the names of the members.

use super::number::Element;
use std::ops::Range;

/// The layout of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// A number or a short vector.
    Number(Element),
    /// So many of another type.
    Array(usize, Box<Layout>),
    /// A structure, or a union, whose first member counts.
    Record { bytes: usize, is_union: bool, members: Vec<Member> },
    /// So many bytes of which nothing is known.
    Opaque(usize),
}

/// A member of a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    name: String,
    offset: usize,
    layout: Layout,
}

/// What the numbers of a value are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fill<'a> {
    /// This number, or one for each component.
    Text(&'a str),
    /// The index of the element.
    Index,
    Random,
}

/// Numbers for a part of an element.
pub struct Filling<'a> {
    part: Range<usize>,
    layout: &'a Layout,
    fill: Fill<'a>,
}

impl From<&cloom_compiler::Layout> for Layout {
    fn from(layout: &cloom_compiler::Layout) -> Layout {
        use cloom_compiler::Layout as L;
        match layout {
            L::Number { scalar, lanes } => {
                let name = if *lanes == 1 { (*scalar).to_owned() } else { format!("{scalar}{lanes}") };
                Element::named(&name).map_or(Layout::Opaque(1), Layout::Number)
            }
            L::Array { count, element } => Layout::Array(*count as usize, Box::new(Layout::from(&**element))),
            L::Record { size, is_union, members } => {
                let member = |m: &cloom_compiler::Member| Member {
                    name: m.name.clone(),
                    offset: m.offset as usize,
                    layout: Layout::from(&m.layout),
                };
                let members = members.iter().map(member).collect();
                Layout::Record { bytes: *size as usize, is_union: *is_union, members }
            }
            L::Opaque { size } => Layout::Opaque(*size as usize),
        }
    }
}

impl Layout {
    /// That of the type with this name, a pointer or not, where no source says more.
    pub fn named(type_name: &str) -> Layout {
        Element::named(type_name.trim_end_matches('*').trim()).map_or(Layout::Opaque(1), Layout::Number)
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Layout::Number(element) => element.bytes(),
            Layout::Array(count, of) => count * of.bytes(),
            Layout::Record { bytes, .. } | Layout::Opaque(bytes) => *bytes,
        }
        // An empty structure has no bytes, and callers divide by this number.
        .max(1)
    }

    /// The number that it is, if it is one.
    pub fn number(&self) -> Option<Element> {
        if let Layout::Number(element) = self { Some(*element) } else { None }
    }

    /// The part of that name: `a`, `a.b`, `a[3].b`.
    fn part(&self, path: &str) -> Option<(usize, &Layout)> {
        if path.is_empty() {
            return Some((0, self));
        }
        match self {
            Layout::Array(count, of) => {
                let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
                let index: usize = index.parse().ok().filter(|i| i < count)?;
                let (offset, found) = of.part(rest.strip_prefix('.').unwrap_or(rest))?;
                Some((index * of.bytes() + offset, found))
            }
            Layout::Record { members, .. } => members.iter().find_map(|m| {
                let rest = path.strip_prefix(m.name.as_str())?;
                let rest = match rest.chars().next() {
                    // The members of an anonymous structure have their own names.
                    _ if m.name.is_empty() => rest,
                    None | Some('[') => rest,
                    Some('.') => &rest[1..],
                    // The name goes on: `mass` begins with the member `m` and is another one.
                    Some(_) => return None,
                };
                if m.name.is_empty() && rest.is_empty() {
                    return None;
                }
                let (offset, found) = m.layout.part(rest)?;
                Some((m.offset + offset, found))
            }),
            Layout::Number(_) | Layout::Opaque(_) => None,
        }
    }

    /// The names of the members, for messages.
    pub fn names(&self) -> Vec<String> {
        match self {
            Layout::Record { members, .. } => {
                let name = |m: &Member| match &m.layout {
                    inner if m.name.is_empty() => inner.names(),
                    inner @ Layout::Record { .. } => {
                        inner.names().into_iter().map(|n| format!("{}.{n}", m.name)).collect()
                    }
                    _ => vec![m.name.clone()],
                };
                members.iter().flat_map(name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the text begins with the name of a member.
    pub fn has_member(&self, text: &str) -> bool {
        text.split_once('=').is_some_and(|(path, _)| self.part(path.trim()).is_some())
    }

    /// Reads what the numbers are: one fill for all of them, or `member=FILL,member=FILL` for a structure.
    pub fn fillings<'a>(&'a self, text: &'a str) -> Result<Vec<Filling<'a>>, String> {
        let fill = |text: &'a str| match text.trim() {
            "index" => Fill::Index,
            "random" => Fill::Random,
            number => Fill::Text(number),
        };
        let all = 0..self.bytes();
        if !text.contains('=') {
            return Ok(vec![Filling { part: all, layout: self, fill: fill(text) }]);
        }
        let mut fillings = Vec::new();
        // A part without a name belongs to the vector before it: `pos=1,2,3,mass=5`.
        let mut starts: Vec<usize> = vec![0];
        starts.extend(
            text.match_indices(',')
                .map(|(at, _)| at + 1)
                .filter(|&at| text[at..].split(',').next().is_some_and(|part| part.contains('='))),
        );
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(text.len(), |next| next - 1);
            let (path, value) = text[start..end].split_once('=').ok_or("give member=FILL")?;
            let (offset, layout) = self.part(path.trim()).ok_or_else(|| {
                let names = self.names();
                let have = if names.is_empty() {
                    "it is no structure".into()
                } else {
                    format!("there are: {}", names.join(", "))
                };
                format!("there is no member `{}`; {have}", path.trim())
            })?;
            fillings.push(Filling { part: offset..offset + layout.bytes(), layout, fill: fill(value) });
        }
        Ok(fillings)
    }

    /// Writes the numbers of this layout.
    fn write(&self, out: &mut [u8], number: &mut impl FnMut(Element) -> Result<Vec<u8>, String>) -> Result<(), String> {
        match self {
            Layout::Number(element) => {
                let bytes = number(*element)?;
                out[..bytes.len()].copy_from_slice(&bytes);
            }
            Layout::Array(_, of) => {
                for chunk in out.chunks_exact_mut(of.bytes()) {
                    of.write(chunk, number)?;
                }
            }
            Layout::Record { members, is_union, .. } => {
                let count = if *is_union { 1 } else { members.len() };
                for m in members.iter().take(count) {
                    m.layout.write(&mut out[m.offset..m.offset + m.layout.bytes()], number)?;
                }
            }
            Layout::Opaque(_) => {
                for byte in out {
                    let bytes = number(Element::BYTE)?;
                    *byte = bytes[0];
                }
            }
        }
        Ok(())
    }

    /// Element `index` of a buffer.
    pub fn element(
        &self,
        fillings: &[Filling<'_>],
        index: usize,
        random: &mut impl FnMut() -> u64,
    ) -> Result<Vec<u8>, String> {
        // Padding, the rest of a union and members that the text does not name stay zero: every run starts with the
        // same bytes.
        let mut out = vec![0; self.bytes()];
        for Filling { part, layout, fill } in fillings {
            layout.write(&mut out[part.clone()], &mut |element| match fill {
                Fill::Index => Ok(element.of(index as i64)),
                Fill::Random => Ok(element.random(&mut *random)),
                Fill::Text(text) => {
                    element.parse(text).map_err(|e| format!("{e}; FILL is a number, `index` or `random`"))
                }
            })?;
        }
        Ok(out)
    }

    /// Whether all elements of a buffer are equal with these numbers.
    pub fn is_constant(fillings: &[Filling<'_>]) -> bool {
        fillings.iter().all(|f| matches!(f.fill, Fill::Text(_)))
    }

    /// Writes an element; `bytes` has as many as it takes.
    pub fn show(&self, bytes: &[u8]) -> String {
        match self {
            Layout::Number(element) => element.show(bytes),
            Layout::Array(_, of) => {
                let parts: Vec<String> = bytes.chunks_exact(of.bytes()).map(|b| of.show(b)).collect();
                format!("[{}]", parts.join(", "))
            }
            Layout::Record { members, .. } => {
                let member = |m: &Member| {
                    let value = m.layout.show(&bytes[m.offset..m.offset + m.layout.bytes()]);
                    if m.name.is_empty() { value } else { format!("{}: {value}", m.name) }
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            Layout::Opaque(_) => bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "),
        }
    }

    /// The numbers of an element, in order, with where they are.
    pub fn numbers(&self, at: usize, visit: &mut impl FnMut(usize, Element)) {
        match self {
            Layout::Number(element) => visit(at, *element),
            Layout::Array(count, of) => (0..*count).for_each(|i| of.numbers(at + i * of.bytes(), visit)),
            Layout::Record { members, is_union, .. } => {
                let count = if *is_union { 1 } else { members.len() };
                members.iter().take(count).for_each(|m| m.layout.numbers(at + m.offset, visit));
            }
            Layout::Opaque(bytes) => (0..*bytes).for_each(|i| visit(at + i, Element::BYTE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Layout {
        let number = |name: &str| Layout::Number(Element::named(name).unwrap());
        let member = |name: &str, offset, layout| Member { name: name.into(), offset, layout };
        let inner = Layout::Record { bytes: 4, is_union: false, members: vec![member("id", 0, number("ushort"))] };
        Layout::Record {
            bytes: 32,
            is_union: false,
            members: vec![
                member("pos", 0, number("float3")),
                member("tags", 16, Layout::Array(2, Box::new(inner))),
                member(
                    "",
                    24,
                    Layout::Record { bytes: 4, is_union: false, members: vec![member("mass", 0, number("float"))] },
                ),
            ],
        }
    }

    fn filled(text: &str, index: usize) -> Result<String, String> {
        let body = body();
        let fillings = body.fillings(text)?;
        body.element(&fillings, index, &mut || u64::MAX).map(|bytes| body.show(&bytes))
    }

    #[test]
    fn members_are_filled_and_printed_by_name() {
        assert_eq!(
            filled("pos=1,2,3,mass=0.5,tags[1].id=7", 0).unwrap(),
            "{pos: (1, 2, 3), tags: [{id: 0}, {id: 7}], {mass: 0.5}}"
        );
        assert_eq!(filled("index", 4).unwrap(), "{pos: (4, 4, 4), tags: [{id: 4}, {id: 4}], {mass: 4}}");
        assert!(filled("mass=random", 0).unwrap().contains("mass: 0.99"));
        assert!(filled("speed=1", 0).unwrap_err().contains("pos, tags, mass"));
        assert!(filled("tags[2].id=1", 0).is_err() && filled("pos=1,2", 0).is_err());
        assert!(body().has_member("mass=1") && !body().has_member("n=1"));
    }
}
