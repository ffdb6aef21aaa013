//! Accounts as applications have them: who gets in, what guards know of users, and what attackers learn.

mod accounts;
mod oidc;
mod passkeys;
mod ready;
mod rsa_key;
mod signed;
