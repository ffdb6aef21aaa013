//! The address of a bucket.

use object_store::path::Path;
use url::Url;

/// A bucket, and what in it is ours: `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(super) name: String,
    pub(super) prefix: Path,
    /// Of a server other than Amazon's.
    pub(super) endpoint: Option<String>,
    pub(super) region: String,
}

/// What servers other than Amazon's go by, where nothing is said.
const REGION: &str = "us-east-1";

impl Bucket {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("expected s3://BUCKET: {error}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("keys do not belong here: set storage.access_key and storage.secret_key".to_owned());
        }
        if url.port().is_some() {
            return Err("a bucket has no port: expected s3://BUCKET?endpoint=http://HOST:PORT".to_owned());
        }
        let name = url.host_str().filter(|host| !host.is_empty()).ok_or("expected the name of a bucket after s3://")?;
        let prefix = Path::from_url_path(url.path()).map_err(|error| format!("the prefix is no path: {error}"))?;
        let mut bucket = Self { name: name.to_owned(), prefix, endpoint: None, region: REGION.to_owned() };
        for (option, value) in url.query_pairs() {
            match &*option {
                "endpoint" if is_http(&value) => {
                    bucket.endpoint = Some(value.trim_end_matches('/').to_owned());
                }
                "endpoint" => return Err(format!("endpoint is {value:?}: expected an https or http URL")),
                "region" if !value.is_empty() => bucket.region = value.into_owned(),
                other => return Err(format!("{other:?} is no option: expected endpoint and region")),
            }
        }
        Ok(bucket)
    }
}

fn is_http(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_bucket_prefix_and_server() {
        let bucket = Bucket::parse("s3://shop/files/2026?endpoint=http://localhost:9000/&region=eu").unwrap();
        assert_eq!((&*bucket.name, bucket.prefix.as_ref(), &*bucket.region), ("shop", "files/2026", "eu"));
        assert_eq!(bucket.endpoint.as_deref(), Some("http://localhost:9000"));
        assert_eq!(Bucket::parse("s3://shop").unwrap().prefix.as_ref(), "");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, problem) in [
            ("s3://", "expected"),
            ("s3://key:secret@shop", "keys do not belong here"),
            ("s3://shop?endpoint=localhost", "expected an https or http URL"),
            ("s3://shop?size=3", "no option"),
            ("s3://localhost:9000/shop", "s3://BUCKET?endpoint=http://HOST:PORT"),
        ] {
            let error = Bucket::parse(text).unwrap_err();
            assert!(error.contains(problem) && !error.contains("secret@"), "{text}: {error}");
        }
    }
}
