//! Writes what the fuzz targets begin with into `tools/fuzz/corpus`.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for (target, seeds) in skep_fuzz::seeds::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for (at, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{at}")), seed)?;
        }
    }
    Ok(())
}
