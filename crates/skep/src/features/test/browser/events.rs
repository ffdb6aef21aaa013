//! What Chromium tells without being asked: where the page is on its way to, and what went wrong in it.

use serde_json::{Value, json};

/// What has been heard so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The main frame of the page.
    pub(super) frame: String,
    /// The page is on its way to another one.
    pub(super) is_leaving: bool,
    /// The document that was loaded last, by the id of its loader.
    pub(super) loaded: String,
    /// Errors of the console, and requests that failed.
    pub(super) problems: Vec<String>,
}

impl Events {
    /// Takes note of an event. The result is a command that it asks for.
    pub(super) fn note(&mut self, event: &Value) -> Option<(&'static str, Value)> {
        let parameters = &event["params"];
        let is_of_page = parameters["frameId"] == *self.frame;
        match event["method"].as_str()? {
            "Page.frameRequestedNavigation" if is_of_page => {
                self.is_leaving = parameters["disposition"] == "currentTab";
            }
            "Page.lifecycleEvent" if is_of_page && parameters["name"] == "load" => {
                parameters["loaderId"].as_str().unwrap_or_default().clone_into(&mut self.loaded);
                self.is_leaving = false;
            }
            // A download, a response without content, or a place in the same page.
            "Page.frameStoppedLoading" | "Page.navigatedWithinDocument" if is_of_page => self.is_leaving = false,
            "Page.javascriptDialogOpening" => {
                return Some(("Page.handleJavaScriptDialog", json!({ "accept": true })));
            }
            "Runtime.consoleAPICalled" if matches!(parameters["type"].as_str(), Some("error" | "assert")) => {
                self.problems.push(format!("console.error: {}", arguments(&parameters["args"])));
            }
            "Runtime.exceptionThrown" => {
                self.problems.push(exception(&parameters["exceptionDetails"]));
            }
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                let entry = &parameters["entry"];
                let (text, url) = (entry["text"].as_str().unwrap_or_default(), entry["url"].as_str());
                // No page has asked for it.
                if url.is_none_or(|url| !url.ends_with("/favicon.ico")) {
                    self.problems.push(format!("{text} ({})", url.unwrap_or("no address")));
                }
            }
            _ => {}
        }
        None
    }
}

/// An exception with its place.
pub(super) fn exception(details: &Value) -> String {
    let thrown = &details["exception"];
    let text = thrown["description"].as_str().map_or_else(|| thrown["value"].to_string(), str::to_owned);
    format!("{}: {text}", details["text"].as_str().unwrap_or("Uncaught"))
}

fn arguments(values: &Value) -> String {
    let text = |value: &Value| {
        let described = value["description"].as_str().or_else(|| value["value"].as_str());
        described.map_or_else(|| value["value"].to_string(), str::to_owned)
    };
    values.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")
}
