use skep::form::Messages;

const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen." };

fn main() {}
