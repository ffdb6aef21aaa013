//! Prints the reference page of all settings: `cargo run -p skep-server --example configuration >
//! docs/configuration.md`.

fn main() {
    print!("{}", skep_server::reference());
}
