//! The bill of materials: what is linked in, for programs that look for known faults or for licences. The form is
//! CycloneDX 1.6, which wheels have in a folder of their own.

use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;

/// A part of driver and program.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name where it is from.
    pub name: String,
    /// Its version there.
    pub version: String,
    /// As its author writes it.
    pub licence: String,
    /// Its package URL.
    pub url: String,
}

/// A licence in today's form: authors of crates also write a slash for a choice.
fn spdx(licence: &str) -> String {
    licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")
}

/// The licence of all parts together.
pub fn expression(own: &str, components: &[Component]) -> String {
    let own = spdx(own);
    let words = |licence: &str| licence.split(" OR ").map(str::to_owned).collect::<BTreeSet<_>>();
    let mut all = vec![own.clone()];
    for component in components {
        let licence = spdx(&component.licence);
        // The same choice in another order is the same.
        if !all.iter().any(|known| words(known) == words(&licence)) {
            all.push(licence);
        }
    }
    // Our own licence stays in front; the order of the others must not depend on that of the parts.
    all[1..].sort();
    let parts = all.iter().map(|l| if l.contains(' ') { format!("({l})") } else { l.clone() });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// The bill as a file. It has no time and no number of its own: the same parts make the same file.
pub fn write(own: &str, components: &[Component]) -> Result<String> {
    let entry = |c: &Component| {
        json!({
            "type": "library", "name": c.name, "version": c.version, "purl": c.url, "bom-ref": c.url,
            "licenses": [{ "expression": spdx(&c.licence) }],
        })
    };
    let mut components: Vec<&Component> = components.iter().collect();
    components.sort_by(|a, b| a.url.cmp(&b.url));
    let version = env!("CARGO_PKG_VERSION");
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "library", "name": "cloom", "version": version, "bom-ref": format!("cloom@{version}"),
            "licenses": [{ "expression": spdx(own) }],
        } },
        "components": components.into_iter().map(entry).collect::<Vec<_>>(),
    });
    let text = serde_json::to_string_pretty(&bill).context("cannot write the bill of materials")?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(name: &str, licence: &str) -> Component {
        let url = format!("pkg:cargo/{name}@1.0.0");
        Component { name: name.to_owned(), version: "1.0.0".to_owned(), licence: licence.to_owned(), url }
    }

    #[test]
    fn each_licence_is_named_once() {
        let all = [component("a", "MIT/Apache-2.0"), component("b", "Zlib"), component("c", "Zlib")];
        assert_eq!(expression("Apache-2.0 OR MIT", &all), "(Apache-2.0 OR MIT) AND Zlib");
    }

    #[test]
    fn the_bill_is_sorted_and_the_same_each_time() {
        let (a, b) = (component("a", "MIT/Apache-2.0"), component("b", "Zlib"));
        let text = write("MIT", &[b.clone(), a.clone()]).unwrap();
        assert_eq!(text, write("MIT", &[a, b]).unwrap());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["components"][0]["purl"], "pkg:cargo/a@1.0.0");
        assert_eq!(json["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
