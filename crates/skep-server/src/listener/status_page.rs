//! Where the status page is.

use std::time::Duration;

use skep_settings::{FromSetting, HOUR, settings};

use super::address::{Address, address};

settings! {
    /// The settings `status.*`: the page for operators.
    #[derive(Clone, Debug)]
    pub(crate) struct StatusPage in "status" {
        /// Address of `/-/status` and `/-/metrics`: a loopback address such as `127.0.0.1:9100`, or
        /// `unix:/run/app/status.sock`, whose `mode` is 0600 unless it is set as for `listen`. Empty means none, and
        /// nothing is counted.
        listen: StatusAddress = Text, "";
        /// List requests that take longer than this on the status page, with where the time went.
        slow: Duration = Duration(1..=HOUR), 500;
    }
}

/// Where the status page is: an address of this machine that others do not reach, or nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusAddress(pub(crate) Option<Address>);

impl FromSetting<str> for StatusAddress {
    fn from_setting(text: &str) -> Result<Self, String> {
        let address = Some(text).filter(|text| !text.is_empty()).map(status_address);
        address.transpose().map(Self)
    }
}

/// Only addresses of this machine: the page shows what only operators may see.
fn status_address(text: &str) -> Result<Address, String> {
    let address = address(text)?;
    let is_local = match &address {
        Address::Tcp { addresses, .. } => addresses.iter().all(|address| address.ip().is_loopback()),
        Address::Unix(_) => true,
        Address::Inherited(_) => false,
    };
    let problem = "expected an address that only this machine reaches, such as 127.0.0.1:9100 or unix:/run/app/status.sock: metrics and \
                   status are for operators";
    if is_local { Ok(address) } else { Err(problem.to_owned()) }
}
