//! How the value of a setting stands in the environment of a component.

/// Numbers, in decimal.
pub mod number {
    pub fn write(value: &impl ToString) -> Option<String> {
        Some(value.to_string())
    }

    pub fn read<T: std::str::FromStr>(text: &str) -> Option<T> {
        text.parse().ok()
    }
}

/// Durations in whole seconds.
pub mod seconds {
    use std::time::Duration;

    pub fn write(value: &Duration) -> Option<String> {
        Some(value.as_secs().to_string())
    }

    pub fn read(text: &str) -> Option<Duration> {
        text.parse().ok().map(Duration::from_secs)
    }
}

/// Durations in whole milliseconds.
pub mod milliseconds {
    use std::time::Duration;

    pub fn write(value: &Duration) -> Option<String> {
        Some(u64::try_from(value.as_millis()).unwrap_or(u64::MAX).to_string())
    }

    pub fn read(text: &str) -> Option<Duration> {
        text.parse().ok().map(Duration::from_millis)
    }
}

/// A word, if it is not the default; a word that is not known is the default.
pub mod word {
    use crate::Choice;

    pub fn write<T: Choice>(value: &T) -> Option<String> {
        (*value != T::default()).then(|| value.to_word().to_owned())
    }

    pub fn read<T: Choice>(text: &str) -> Option<T> {
        Some(T::from_word(text).unwrap_or_default())
    }
}

/// `1`, if it is set.
pub mod flag {
    pub fn write(value: &bool) -> Option<String> {
        value.then(|| "1".to_owned())
    }

    pub fn read(text: &str) -> Option<bool> {
        Some(text == "1")
    }
}

/// A text, if there is one.
pub mod text {
    pub fn write(value: &Option<impl ToString>) -> Option<String> {
        value.as_ref().map(ToString::to_string)
    }

    pub fn read<T: std::str::FromStr>(text: &str) -> Option<Option<T>> {
        text.parse().ok().map(Some)
    }
}

/// The database that a host has for a component, if it is not SQLite. Its address stays with the host.
pub mod engine {
    use crate::FromSetting;

    const POSTGRES: &str = "postgres";

    pub fn write<T>(address: &Option<T>) -> Option<String> {
        address.as_ref().map(|_| POSTGRES.to_owned())
    }

    pub fn read<T: FromSetting<str>>(text: &str) -> Option<Option<T>> {
        (text == POSTGRES).then(|| T::from_setting(text).ok())
    }
}
