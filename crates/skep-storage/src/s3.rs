//! Files on a server that speaks S3, by the crate `object_store`.

mod bucket;
mod client;
mod timed;

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, BackoffConfig, GetOptions, GetRange, MultipartUpload, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, RetryConfig,
};
use sha2::{Digest, Sha256};
use skep::body::BodyError;
use skep::offload::Offload;
use skep::{Body, Error, Result};

pub(crate) use self::bucket::Bucket;
use self::client::{Connector, Refused};
use crate::bytes::{Written, next};
use crate::error::{Outcome, Problem};
use crate::key::{Key, hex};

#[derive(Debug)]
pub(crate) struct S3 {
    server: AmazonS3,
    prefix: Path,
}

/// What is sent at once, and held in memory: the least that S3 takes as a part.
const PART: usize = 5 << 20;

/// A server that is away is asked three times, within seconds: the response says when to come again.
const RETRIES: usize = 2;
const RETRY_TIME: Duration = Duration::from_secs(5);

impl S3 {
    /// Opens no connection. `keys`: the access key and the secret one.
    pub(crate) fn open(bucket: &Bucket, keys: Option<(&str, &str)>, timeout: Duration) -> Result<Self> {
        let keys = keys.ok_or_else(|| {
            Error::internal("storage.at names an S3 server: set storage.access_key and storage.secret_key, too")
        })?;
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(1),
            ..BackoffConfig::default()
        };
        let retry = RetryConfig { backoff, max_retries: RETRIES, retry_timeout: RETRY_TIME };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&bucket.name)
            .with_region(&bucket.region)
            .with_access_key_id(keys.0)
            .with_secret_access_key(keys.1)
            .with_retry(retry)
            .with_http_connector(Connector::new(timeout));
        if let Some(endpoint) = &bucket.endpoint {
            builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
        }
        let server = builder.build().map_err(|error| Error::internal(format!("storage.at: {error}")))?;
        Ok(Self { server, prefix: bucket.prefix.clone() })
    }

    fn path(&self, path: &str) -> Path {
        path.split('/').fold(self.prefix.clone(), Path::join)
    }

    pub(crate) async fn write(
        &self,
        key: &Key,
        content_type: &str,
        body: Body,
        pool: &dyn Offload,
    ) -> Outcome<Written> {
        self.server.put(&self.path(&key.note()), PutPayload::new()).await.map_err(of_bucket)?;
        let attributes = Attributes::from_iter([(Attribute::ContentType, content_type.to_owned())]);
        let mut incoming = Incoming { body, pool, hash: Sha256::new(), size: 0 };
        let (path, first) = (self.path(&key.path()), incoming.part().await?);
        if first.content_length() < PART {
            let options = PutOptions { attributes, ..PutOptions::default() };
            self.server.put_opts(&path, first, options).await.map_err(of_bucket)?;
        } else {
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            let mut upload = self.server.put_multipart_opts(&path, options).await.map_err(of_bucket)?;
            if let Err(problem) = incoming.send(&mut *upload, first).await {
                // What cannot be reached cannot be told; what is left of it, the rules of the bucket remove.
                let _ = upload.abort().await;
                return Err(problem);
            }
        }
        Ok(Written { size: incoming.size, sha256: hex(&incoming.hash.finalize()) })
    }

    pub(crate) async fn read(&self, key: &Key, part: Range<u64>) -> Outcome<Body> {
        let left = part.end - part.start;
        let options = GetOptions { range: Some(GetRange::Bounded(part)), ..GetOptions::default() };
        let found = self.server.get_opts(&self.path(&key.path()), options).await?;
        Ok(Body::stream(Outgoing { stream: found.into_stream(), left }))
    }

    pub(crate) async fn has(&self, key: &Key) -> Outcome<bool> {
        self.is_there(&key.path()).await
    }

    pub(crate) async fn is_noted(&self, key: &Key) -> Outcome<bool> {
        self.is_there(&key.note()).await
    }

    async fn is_there(&self, path: &str) -> Outcome<bool> {
        match self.server.head(&self.path(path)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file, and its note.
    pub(crate) async fn remove(&self, key: &Key) -> Outcome<()> {
        self.delete(&key.path()).await?;
        self.remove_note(key).await
    }

    pub(crate) async fn remove_note(&self, key: &Key) -> Outcome<()> {
        self.delete(&key.note()).await
    }

    async fn delete(&self, path: &str) -> Outcome<()> {
        match self.server.delete(&self.path(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn notes(&self) -> Outcome<Vec<(Key, SystemTime)>> {
        let all: Vec<_> = self.server.list(Some(&self.path(Key::NOTES))).try_collect().await?;
        let note = |meta: object_store::ObjectMeta| {
            let key = meta.location.filename().and_then(Key::parse);
            key.zip(Some(SystemTime::from(meta.last_modified)))
        };
        Ok(all.into_iter().filter_map(note).collect())
    }
}

/// A file that is being written.
struct Incoming<'p> {
    body: Body,
    pool: &'p dyn Offload,
    hash: Sha256,
    size: u64,
}

impl Incoming<'_> {
    /// The next part: at least [`PART`] bytes, but for the last one.
    async fn part(&mut self) -> Outcome<PutPayload> {
        let (mut pieces, mut size) = (Vec::new(), 0);
        while size < PART
            && let Some(bytes) = next(&mut self.body, self.pool).await?
        {
            self.hash.update(&bytes);
            size += bytes.len();
            pieces.push(bytes);
        }
        self.size += size as u64;
        Ok(pieces.into_iter().collect())
    }

    /// One part after the other, so that no two are in memory.
    async fn send(&mut self, upload: &mut dyn MultipartUpload, first: PutPayload) -> Outcome<()> {
        let mut part = first;
        while part.content_length() > 0 {
            upload.put_part(part).await?;
            part = self.part().await?;
        }
        upload.complete().await?;
        Ok(())
    }
}

/// A file that is being read: as long as was said.
struct Outgoing {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    left: u64,
}

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<http_body::Frame<Bytes>, BodyError>>> {
        self.stream.poll_next_unpin(cx).map(|piece| {
            Some(piece?.map_err(BodyError::from).map(|bytes| {
                self.left = self.left.saturating_sub(bytes.len() as u64);
                http_body::Frame::data(bytes)
            }))
        })
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.left)
    }
}

impl From<object_store::Error> for Problem {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as E;
        match error {
            E::NotFound { .. } => Self::Missing(error.into()),
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Self::Broken(
                format!("the S3 server refuses storage.access_key or storage.secret_key, or what they may do: {error}")
                    .into(),
            ),
            E::Generic { .. } if Refused::is_in(&error) => {
                Self::Broken(format!("the S3 server of storage.at does not take this: {error}").into())
            }
            E::Generic { .. } => Self::Away(format!("the S3 server of storage.at: {error}").into()),
            other => Self::Broken(other.into()),
        }
    }
}

/// Where something is written, what is missing is the bucket.
fn of_bucket(error: object_store::Error) -> Problem {
    match error {
        object_store::Error::NotFound { .. } => Problem::Broken(format!("storage.at: no such bucket: {error}").into()),
        other => other.into(),
    }
}
