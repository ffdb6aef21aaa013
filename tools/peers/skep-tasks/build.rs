//! Writes the services of `routes.rs`: a route is a part of its type, so 200 routes are 200 types.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::{env, fs, io};

const ROUTES: usize = 200;

/// Those that are mounted where there are few.
const FEW: usize = 2;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("parts.rs"), source())
}

fn source() -> String {
    let mut source = String::new();
    for number in 0..ROUTES {
        let _ = writeln!(
            source,
            "#[derive(Service)]\n#[service(GET \"/part{number}/{{id}}\")]\nstruct Part{number} {{ id: u32 }}\n\
             impl Handle for Part{number} {{ async fn handle(self, _cx: &mut Cx<'_>) -> Result {{ Ok(part(self.id)) }} }}"
        );
    }
    for (name, numbers) in [("FEW", 0..FEW), ("REST", FEW..ROUTES)] {
        let _ = writeln!(source, "const {name}: Services = services![{}];", list(numbers));
    }
    source
}

fn list(numbers: Range<usize>) -> String {
    let names: Vec<String> = numbers.map(|number| format!("Part{number}")).collect();
    names.join(", ")
}
