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
