//! The table of routes.

use super::App;
use crate::application::endpoint::Endpoint;
use crate::application::mount::MountPoint;
use crate::routing::route::RouteLine;
use crate::routing::router::Entry;

impl App {
    /// The table of routes, in the order in which they were mounted.
    #[must_use]
    pub fn routes(&self) -> Vec<RouteLine> {
        let services = self.services.iter().map(|entry| self.route_line(entry));
        let folders = self.folders.iter().map(|folder| {
            let path = format!("{}{{*path}}", folder.prefix);
            RouteLine {
                method: "GET".to_owned(),
                guards: self.surroundings.guards_of_path(&path),
                path,
                target: folder.files.to_string(),
                open: None,
                source: None,
            }
        });
        let mounts = self.mounts.iter().map(MountPoint::route).map(|mut line| {
            line.guards = self.surroundings.guards_of_path(&line.path);
            line
        });
        services.chain(folders).chain(mounts).collect()
    }

    fn route_line(&self, entry: &Entry<Endpoint>) -> RouteLine {
        let required = entry.requirement.required.iter().map(|name| format!("{name}="));
        let fixed = entry.requirement.when.map(|(name, value)| format!("{name}={value}"));
        let query: Vec<String> = required.chain(fixed).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        RouteLine {
            method: entry.method.to_string(),
            path: format!("{}{mark}{}", entry.pattern, query.join("&")),
            target: entry.name.clone(),
            guards: self.surroundings.guards_of(entry),
            open: entry.endpoint.route().and_then(|route| route.open),
            source: entry.endpoint.route().map(|route| route.source),
        }
    }
}
