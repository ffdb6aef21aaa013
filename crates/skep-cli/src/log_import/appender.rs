//! Appenders of Log4perl, and the outputs that do the same.

use std::fmt::Write;

use super::level;

/// What a configuration says of one appender.
#[derive(Debug, Default)]
pub(super) struct Appender {
    class: String,
    file: Option<String>,
    stderr: Option<bool>,
    size: Option<u64>,
    keep: Option<u64>,
    facility: Option<String>,
    threshold: Option<String>,
    layout: String,
    pattern: Option<String>,
}

impl Appender {
    /// Takes an option. Returns why it has no equivalent.
    pub(super) fn take(&mut self, option: &str, value: &str) -> Option<String> {
        let text = || Some(value.to_owned());
        match option {
            "" => value.clone_into(&mut self.class),
            "filename" => self.file = text(),
            "stderr" => self.stderr = Some(value != "0"),
            "size" => self.size = value.parse().ok(),
            "max" => self.keep = value.parse().ok(),
            "facility" => self.facility = text(),
            "Threshold" => {
                self.threshold = level(value);
                return self.threshold.is_none().then(|| "is no level".to_owned());
            }
            "layout" => value.rsplit("::").next().unwrap_or_default().clone_into(&mut self.layout),
            "layout.ConversionPattern" => self.pattern = text(),
            // What happens anyway: lines are appended, whole, in UTF-8, and a file that is gone is made again.
            "mode" if value == "append" => {}
            "autoflush"
            | "syswrite"
            | "utf8"
            | "recreate"
            | "recreate_check_interval"
            | "create_at_logtime"
            | "name" => {}
            _ => return Some("has no equivalent".to_owned()),
        }
        None
    }

    /// The output, or why there is none.
    pub(super) fn describe(&self) -> Result<String, String> {
        let class = self.class.as_str();
        let mut out = match class.rsplit("::").next().unwrap_or_default() {
            "Screen" | "ScreenColoredLevels" => {
                if self.stderr == Some(false) {
                    "stdout".to_owned()
                } else {
                    "stderr".to_owned()
                }
            }
            "File" | "FileRotate" if class.starts_with("Log::") => {
                let file = self.file.as_ref().ok_or("it has no filename")?;
                format!("file:{}", word(file))
            }
            "Syslog" => "syslog".to_owned(),
            _ => return Err(format!("{class} has no equivalent")),
        };
        let is_syslog = out == "syslog";
        for (name, value) in [
            ("facility", self.facility.clone().filter(|_| is_syslog)),
            ("rotate", self.size.map(|size| format!("{size}B"))),
            ("keep", self.keep.map(|keep| keep.to_string())),
            ("level", self.threshold.clone()),
        ] {
            if let Some(value) = value {
                let _ = write!(out, " {name}={value}");
            }
        }
        if let Some(pattern) = self.pattern().filter(|_| !is_syslog) {
            let _ = write!(out, " pattern={}", word(&pattern));
        }
        Ok(out)
    }

    fn pattern(&self) -> Option<String> {
        match (self.layout.as_str(), &self.pattern) {
            (_, Some(pattern)) => Some(pattern.clone()),
            ("SimpleLayout", None) => Some("%p - %m".to_owned()),
            ("NoopLayout", None) => Some("%m".to_owned()),
            _ => None,
        }
    }
}

/// A value with quotes, if it needs them.
fn word(text: &str) -> String {
    if text.contains(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\\')) {
        return format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    }
    text.to_owned()
}
