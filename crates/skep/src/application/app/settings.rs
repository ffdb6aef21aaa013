//! The settings that an application declares.

use super::App;
use crate::context::setup::StartError;
use crate::settings::{self, Declared, RawSetting, Row, Settings};

impl App {
    /// Declares settings of the application: a struct that derives [`Settings`](crate::settings), where an example is.
    /// [`Cx::settings`](crate::Cx::settings) and [`Site::settings`](crate::Site::settings) lend it out.
    #[must_use]
    pub fn settings<T: Settings>(mut self) -> Self {
        let declared = const { Declared::of::<T>() };
        if self.settings.iter().any(|known| known.table() == declared.table()) {
            self.problems.push(format!("two structs of settings have the table \"{}\"", declared.table()));
        } else {
            self.settings.push(declared);
        }
        self
    }

    /// Adds settings that a [mount](Self::mount) reads itself, from [`Setup::settings`](crate::Setup::settings): a host
    /// of components, whose components have settings.
    #[must_use]
    pub fn mounted_settings(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.mounted_settings.extend(rows);
        self
    }

    /// The settings that the application declares, to read or to document them.
    #[must_use]
    pub fn setting_rows(&self) -> Vec<Row> {
        self.settings.iter().flat_map(Declared::rows).chain(self.mounted_settings.iter().cloned()).collect()
    }

    /// Checks the values of the settings that the application declares.
    pub fn check_settings(&self, settings: Vec<RawSetting>) -> Result<(), StartError> {
        self.load_settings(settings).map(drop).map_err(|problems| StartError { problems })
    }

    pub(super) fn load_settings(&self, mut settings: Vec<RawSetting>) -> Result<Vec<settings::Loaded>, Vec<String>> {
        settings.retain(|raw| self.mounted_settings.iter().all(|row| row.name != raw.name));
        settings::load_all(&self.settings, settings)
    }
}
