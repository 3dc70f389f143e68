//! `sixlock cloud`, and what `sixlock up` shares with it.

use std::error::Error;

use rustix::process::nice;
use sixlock_cloud::{Backups, Config, MailSettings, Tls};
use tokio::signal::unix::{SignalKind, signal};

use crate::announce::announce;
use crate::args::{Backup, Cloud, CloudAction, CloudOptions};
use crate::documents::DOCUMENTS;
use crate::keys::secret_file;

/// How nice the threads of HTTP are to those that serve devices: many requests at once, of whomever, do not hold up a device's post.
const NICE: i32 = 5;

pub(crate) fn run(args: &Cloud) -> Result<(), Box<dyn Error>> {
    match &args.action {
        None => serve(args),
        Some(CloudAction::Backup(Backup { file, data })) => {
            sixlock_cloud::back_up(data, file)?;
            to_stdout!(
                "{} holds all of {}, its keys too: keep it as safe as that",
                file.display(),
                data.display()
            );
            Ok(())
        }
        Some(CloudAction::Restore(Backup { file, data })) => {
            sixlock_cloud::restore(file, data)?;
            to_stdout!("start the cloud: sixlock cloud --data {}", data.display());
            Ok(())
        }
    }
}

fn serve(args: &Cloud) -> Result<(), Box<dyn Error>> {
    // What serves devices and writes the database has threads of its own, which this one starts. If a priority is refused, posts wait longer.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_start(|| {
            let _ = nice(NICE);
        })
        .build()?;
    runtime.block_on(async {
        let cloud = sixlock_cloud::start(config(&args.cloud)?, None).await?;
        announce(&cloud, &args.cloud.data)?;
        warn_of_unnamed_clients(&args.cloud);
        until_told_to_stop().await?;
        cloud.stop().await?;
        Ok(())
    })
}

pub(crate) fn config(options: &CloudOptions) -> Result<Config, Box<dyn Error>> {
    Ok(Config {
        data: options.data.clone(),
        http: options.listen,
        coap: options.coap,
        coaps: options.coaps,
        max_sessions: options.max_sessions,
        dtls_timeout: options.dtls_timeout,
        dtls_retransmissions: options.dtls_retransmissions,
        shards: options.shards,
        device_authorities: options.device_authorities.clone(),
        tls: options
            .tls_cert
            .clone()
            .zip(options.tls_key.clone())
            .map(|(certificates, key)| Tls { certificates, key }),
        behind_proxy: options.behind_proxy,
        trusted_proxies: options.trusted_proxies.clone(),
        hosts: options.hosts.clone(),
        sign_up: options.sign_up,
        oidc: options.oidc.as_deref().map(secret_file::read).transpose()?,
        keep: options.keep,
        poll_allow: options.poll_allow.clone(),
        alert_allow: options.alert_allow.clone(),
        broker_allow: options.broker_allow.clone(),
        mail: options.smtp.clone().zip(options.mail_from.clone()).map(|(server, from)| MailSettings {
            server,
            from,
            password: options.smtp_password.clone(),
        }),
        backups: options.backup_to.clone().zip(options.backup_every).map(|(folder, every)| Backups {
            folder,
            every,
            keep: options.backup_keep as usize,
        }),
        log: options.log,
        documents: DOCUMENTS,
    })
}

/// Says what is missing where a proxy is in front, and all clients look like one.
fn warn_of_unnamed_clients(options: &CloudOptions) {
    if options.behind_proxy && options.trusted_proxies.is_empty() {
        to_stderr!(
            "all that comes through the proxy counts as one address, for the record and for limits: wrong passwords of one \
             make all wait; say where the proxy is with --trusted-proxy ADDRESS"
        );
    }
}

/// Returns when a person or the system asks for the end.
pub(crate) async fn until_told_to_stop() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use sixlock_cloud::{OidcSettings, create_private};

    use super::*;

    fn read(text: &str) -> Result<OidcSettings, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provider.toml");
        create_private(&file, text).unwrap();
        secret_file::read(&file).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_of_a_provider_that_cannot_be_used_is_refused_with_its_line_and_the_cause() {
        const GOOD: &str = "issuer = \"https://id.example.org\"\nclient_id = \"sixlock\"\n";
        let all = format!(
            "{GOOD}client_secret = \"s3cret\"\nlabel = \"Farm account\"\nname_claim = \"nickname\"\nsign_up = true\n\
             scopes = [\"openid\"]\naudiences = [\"farm\"]\nurl = \"https://sixlock.example.org\"\n"
        );
        assert!(read(&all).unwrap().sign_up);
        let usual = read(GOOD).unwrap();
        assert!(!usual.sign_up && usual.client_secret.is_none() && usual.name_claim == "preferred_username");
        for (text, expected) in [
            (
                "issuer = \"http://id.example.org\"\nclient_id = \"a\"".to_owned(),
                "line 1: it begins with https://",
            ),
            (format!("{GOOD}client_sekret = \"s3cret\""), "line 3: unknown field `client_sekret`, expected"),
            (format!("{GOOD}client_secret = \"\""), "line 3: it has 1 to 1024 characters"),
            (format!("{GOOD}client_secret = \"s3cr\u{e9}t\""), "line 3: it has 1 to 1024 characters"),
            (format!("{GOOD}sign_up = \"yes\""), "line 3: invalid type"),
            (format!("{GOOD}\nscopes = [\"openid\", \"a b\"]"), "line 4: each scope has"),
            (format!("{GOOD}label = \"a\\u202eb\""), "line 3: it has 1 to 64 characters"),
            (format!("{GOOD}url = \"https://example.org/sixlock\""), "line 3: it has no path"),
            ("issuer = \"https://id.example.org\"".to_owned(), "missing field `client_id`"),
            (format!("{GOOD}label = "), "line 3: "),
        ] {
            let said = read(&text).unwrap_err();
            assert!(said.contains("provider.toml: ") && said.contains(expected), "{said}");
            assert!(!said.contains("s3cr"), "{said}");
        }
    }
}
