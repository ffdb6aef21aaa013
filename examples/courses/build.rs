//! Compiles again when a file is added to one of these folders.

fn main() {
    for folder in ["languages", "migrations", "static"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
