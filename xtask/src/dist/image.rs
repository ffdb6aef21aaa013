//! An image for containers, as an archive of the OCI image format: one layer with one executable, written without a
//! daemon. podman, skopeo and Docker (from version 25) load it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::pack;
use crate::command;
use crate::needs::AUTHORITIES;

/// The user in the image: a number that no system gives to a person.
const USER: &str = "65532";

/// A file of the image, which its content names.
#[derive(Debug)]
struct Blob {
    digest: String,
    bytes: u64,
}

/// Writes `NAME-VERSION.oci.tar`: an image that runs `executable`, with its data in the volume `/data`. It trusts the
/// authorities in this file, for requests and mails that it sends.
pub(super) fn write(
    dist: &Path,
    name: &str,
    version: &str,
    executable: &Path,
    authorities: &Path,
) -> Result<PathBuf, String> {
    let folder = dist.join("image");
    let written = fill(&folder, (name, version), executable, authorities).and_then(|()| {
        let file = dist.join(format!("{name}-{version}.oci.tar"));
        pack(&folder, ".", &file, &["--owner=0", "--group=0"])?;
        Ok(file)
    });
    let _ = fs::remove_dir_all(&folder);
    written
}

/// The folder of an image: blobs, an index and a mark.
fn fill(folder: &Path, (name, version): (&str, &str), executable: &Path, authorities: &Path) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder.join("blobs/sha256")).map_err(wrong)?;
    let (layer, content) = layer(folder, name, executable, authorities)?;
    let configuration = blob(folder, configuration(name, &content))?;
    let manifest = blob(folder, manifest(&configuration, &layer))?;
    let index = index(&manifest, version);
    fs::write(folder.join("index.json"), index.to_string()).map_err(wrong)?;
    fs::write(folder.join("oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }).to_string()).map_err(wrong)
}

/// The executable, the authorities and the folder for data, compressed; and the digest of what is compressed.
fn layer(folder: &Path, name: &str, executable: &Path, authorities: &Path) -> Result<(Blob, String), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let (root, tar) = (folder.join("root"), folder.join("layer.tar"));
    fs::create_dir_all(root.join("data")).map_err(wrong)?;
    fs::set_permissions(root.join("data"), Permissions::from_mode(0o700)).map_err(wrong)?;
    fs::copy(executable, root.join(name)).map_err(wrong)?;
    let inside = root.join(AUTHORITIES.trim_start_matches('/'));
    fs::create_dir_all(inside.parent().unwrap_or(&root)).map_err(wrong)?;
    fs::copy(authorities, inside).map_err(|error| format!("{}: {error}", authorities.display()))?;
    pack(&root, name, &tar, &["--owner=0", "--group=0"])?;
    pack(&root, "etc", &tar, &["--append", "--owner=0", "--group=0"])?;
    pack(&root, "data", &tar, &["--append", &format!("--owner={USER}"), &format!("--group={USER}")])?;
    fs::remove_dir_all(root).map_err(wrong)?;
    let content = digest(&tar)?;
    command::output("gzip", &["--no-name", "--best", &tar.to_string_lossy()])?;
    Ok((stored(folder, &folder.join("layer.tar.gz"))?, content))
}

fn blob(folder: &Path, content: Value) -> Result<Blob, String> {
    let file = folder.join("blob");
    fs::write(&file, content.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    stored(folder, &file)
}

/// Gives a file the name of its content.
fn stored(folder: &Path, file: &Path) -> Result<Blob, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", file.display());
    let (digest, bytes) = (digest(file)?, file.metadata().map_err(wrong)?.len());
    fs::rename(file, folder.join("blobs").join(digest.replace(':', "/"))).map_err(wrong)?;
    Ok(Blob { digest, bytes })
}

fn digest(file: &Path) -> Result<String, String> {
    let line = command::output("sha256sum", &[&file.to_string_lossy()])?;
    Ok(format!("sha256:{}", line.split(' ').next().unwrap_or_default()))
}

fn configuration(name: &str, content: &str) -> Value {
    json!({
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["SKEP_DATA=/data"],
            "Entrypoint": [format!("/{name}")],
            "Cmd": ["--listen", "0.0.0.0:8800"],
            "WorkingDir": "/data",
            "Volumes": { "/data": {} },
            "ExposedPorts": { "8800/tcp": {} },
        },
        "rootfs": { "type": "layers", "diff_ids": [content] },
    })
}

fn manifest(configuration: &Blob, layer: &Blob) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", configuration),
        "layers": [descriptor("layer.v1.tar+gzip", layer)],
    })
}

fn index(manifest: &Blob, version: &str) -> Value {
    let mut manifest = descriptor("manifest.v1+json", manifest);
    manifest["platform"] = json!({ "architecture": "amd64", "os": "linux" });
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest] })
}

fn descriptor(kind: &str, blob: &Blob) -> Value {
    json!({ "mediaType": format!("application/vnd.oci.image.{kind}"), "digest": blob.digest, "size": blob.bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry of a tar file that `./` begins.
    fn entry(archive: &Path, name: &str) -> String {
        command::output(
            "tar",
            &["--extract", "--to-stdout", "--file", &archive.to_string_lossy(), &format!("./{name}")],
        )
        .unwrap()
    }

    #[test]
    fn what_an_image_names_is_in_it() {
        let dist = std::env::temp_dir().join(format!("xtask-image-{}", std::process::id()));
        fs::create_dir_all(&dist).unwrap();
        let executable = dist.join("executable");
        fs::write(&executable, "bees").unwrap();
        let authorities = dist.join("authorities");
        fs::write(&authorities, "queens").unwrap();
        let archive = write(&dist, "hive", "1.2.3", &executable, &authorities).unwrap();
        let read = |digest: &Value| entry(&archive, &format!("blobs/{}", digest.as_str().unwrap().replace(':', "/")));
        let index: Value = serde_json::from_str(&entry(&archive, "index.json")).unwrap();
        let manifest: Value = serde_json::from_str(&read(&index["manifests"][0]["digest"])).unwrap();
        let configuration: Value = serde_json::from_str(&read(&manifest["config"]["digest"])).unwrap();
        assert_eq!(configuration["config"]["Entrypoint"][0], "/hive");
        // The layer is packed: its files are listed by tar itself.
        let layer = manifest["layers"][0]["digest"].as_str().unwrap().replace(':', "/");
        let listed = format!("tar -xOf {} ./blobs/{layer} | tar -tvzf - --numeric-owner", archive.display());
        let listed = command::output("sh", &["-c", &listed]).unwrap();
        assert!(listed.contains("0/0") && listed.contains(" hive") && listed.contains("65532/65532"), "{listed}");
        assert!(listed.contains(&AUTHORITIES[1..]), "{listed}");
        fs::remove_dir_all(dist).unwrap();
    }
}
