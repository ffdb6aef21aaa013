//! Writes what the fuzz targets begin with into `tools/fuzz/corpus`.

use std::fs;
use std::path::Path;

const FORMS: &[&str] = &[
    "a=x&b=one%0D%0Atwo&c=ann%40example.org&d=https%3A%2F%2Fexample.org&e=-3&f=1.25&g=2026-11-21&h=18:30&i=2026-11-21T18:30",
    "a=&j=on&k=note&l=note&l=question&m=1.5&m=&m=-2e3",
    "n.0.name=x&n.0.count=1&n.7.name=y&n.7.count=9&n.7.gift=on&n.7.id=3&n.2.name=",
    "a=%00&a=%ff&%=&=&&a&+=+&n.x.name=1&n.00.count=2&n.4294967295.name=z",
];

const ADDRESSES: &[&str] =
    &["a%20b?q=%C3%A9&list=1&list=2", "-7/one/two%2Fthree?n=3", "%2e%2e/%2E?q=+&q", "~../a//b/?list=&n=07", "form?x#y"];

const LINKS: &[&str] =
    &["..\u{1}a/../b\u{1}+ &=?#%\u{1}one\u{1}", "\u{1}\u{1}", "é/\\\u{1}//x\u{1}javascript:", "~.%2e\u{0}"];

const HEADS: &[&str] = &[
    "Content-Disposition: form-data; name=\"text\"",
    "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain",
    "content-disposition: form-data; name=file; filename*=UTF-8''%e2%82%ac.png",
    "Content-Disposition: form-data; name=\"file\"; filename=\"\"\r\nContent-Type: application/octet-stream",
];

fn main() -> std::io::Result<()> {
    let texts = |list: &[&str]| list.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    write("form", &texts(FORMS))?;
    write("address", &texts(ADDRESSES))?;
    write("link", &texts(LINKS))?;
    let mut bodies = Vec::new();
    for (at, head) in HEADS.iter().enumerate() {
        let mut body = vec![u8::try_from(at * 5).unwrap_or_default()];
        for content in ["", "text\r\n--", "\r\n--bb\r\n--b \u{e9}"] {
            body.extend_from_slice(format!("--b\r\n{head}\r\n\r\n{content}\r\n").as_bytes());
        }
        body.extend_from_slice(b"--b--\r\n");
        bodies.push(body);
    }
    write("multipart", &bodies)
}

fn write(target: &str, seeds: &[Vec<u8>]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    seeds.iter().enumerate().try_for_each(|(at, seed)| fs::write(folder.join(format!("seed-{at}")), seed))
}
