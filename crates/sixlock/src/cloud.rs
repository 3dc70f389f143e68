//! `sixlock cloud`, and what `sixlock up` shares with it.

use std::error::Error;

use rustix::process::nice;
use sixlock_cloud::{Backups, Config, MailSettings, Tls};
use tokio::signal::unix::{SignalKind, signal};

use crate::announce::announce;
use crate::args::{Backup, Cloud, CloudAction, CloudOptions};

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
        let cloud = sixlock_cloud::start(config(&args.cloud), None).await?;
        announce(&cloud, &args.cloud.data)?;
        warn_of_unnamed_clients(&args.cloud);
        until_told_to_stop().await?;
        cloud.stop().await?;
        Ok(())
    })
}

pub(crate) fn config(options: &CloudOptions) -> Config {
    Config {
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
        keep: options.keep,
        poll_allow: options.poll_allow.clone(),
        alert_allow: options.alert_allow.clone(),
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
    }
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
