//! The kinds of security events, and their words.

use std::fmt;

/// What happened.
///
/// ```
/// use skep_people::EventKind;
/// assert_eq!(EventKind::SignedIn.as_str(), "signed in");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// Somebody signed in.
    SignedIn,
    /// A password was right, and a second factor is asked for.
    FirstFactorPassed,
    /// Somebody was signed in by a remember-me cookie.
    Remembered,
    /// A name or password was wrong.
    SignInRefused,
    /// A code of the second factor was wrong.
    SecondFactorRefused,
    /// Five codes of the second factor were wrong: the first one has to be proved again.
    CodesGuessed,
    /// A name, or the codes of an account, were tried too often: recorded once an hour for each, and for an address now
    /// and then.
    Throttled,
    /// Mails with links were asked for too often: likewise.
    LinkThrottled,
    /// Somebody signed in from a browser that had not signed in before: only in [`Notice`](super::super::Notice)s.
    NewDevice,
    /// A user set up a second factor.
    SecondFactorAdded,
    /// A user has new recovery codes: for [`record`](super::super::record).
    RecoveryCodesMade,
    /// A user has confirmed another address.
    AddressChanged,
    /// A recovery code was used up.
    RecoveryCodeUsed,
    /// A remember-me cookie was used twice: one of the two users of it is a thief. All sessions of the account have
    /// ended.
    RememberMeReused,
    /// Somebody signed out.
    SignedOut,
    /// All sessions of a user were ended.
    SignedOutEverywhere,
    /// One session of a user was ended from another one.
    SessionEnded,
    /// A rule refused a user who is signed in.
    Refused,
    /// A link was asked for: to sign in, to sign up, to reset a password, to confirm an address.
    LinkRequested,
    /// A link was invalid, or no longer valid.
    LinkRefused,
    /// An address was confirmed.
    AddressConfirmed,
    /// A user changed the password.
    PasswordChanged,
    /// A password was reset by a link.
    PasswordReset,
    /// A user added a passkey.
    PasskeyAdded,
    /// A user removed a passkey.
    PasskeyRemoved,
    /// The signature counter of a passkey did not go up: somebody may have a copy of it. The sign-in was refused.
    PasskeyCopied,
    /// Roles or rights have changed: for [`record`](super::super::record).
    RightsChanged,
    /// Something of the application's own: for [`record`](super::super::record).
    Other(&'static str),
}

impl EventKind {
    /// The words of the log line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed in",
            Self::FirstFactorPassed => "first factor passed",
            Self::Remembered => "signed in by remember-me",
            Self::SignInRefused => "sign-in refused",
            Self::SecondFactorRefused => "second factor refused",
            Self::CodesGuessed => "five codes refused",
            Self::Throttled => "throttled",
            Self::LinkThrottled => "link throttled",
            Self::NewDevice => "new device",
            Self::SecondFactorAdded => "second factor added",
            Self::RecoveryCodesMade => "recovery codes made",
            Self::AddressChanged => "address changed",
            Self::RecoveryCodeUsed => "recovery code used",
            Self::RememberMeReused => "remember-me cookie used twice",
            Self::SignedOut => "signed out",
            Self::SignedOutEverywhere => "signed out everywhere",
            Self::SessionEnded => "session ended",
            Self::Refused => "refused",
            Self::LinkRequested => "link requested",
            Self::LinkRefused => "link refused",
            Self::AddressConfirmed => "address confirmed",
            Self::PasswordChanged => "password changed",
            Self::PasswordReset => "password reset",
            Self::PasskeyAdded => "passkey added",
            Self::PasskeyRemoved => "passkey removed",
            Self::PasskeyCopied => "passkey may have been copied",
            Self::RightsChanged => "rights changed",
            Self::Other(text) => text,
        }
    }

    /// True if the owner of the account gets a mail.
    pub(super) const fn has_notice(self) -> bool {
        matches!(
            self,
            Self::NewDevice
                | Self::PasswordChanged
                | Self::PasswordReset
                | Self::SecondFactorAdded
                | Self::RecoveryCodesMade
                | Self::PasskeyAdded
                | Self::AddressChanged
                | Self::CodesGuessed
        )
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
