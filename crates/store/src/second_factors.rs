//! Second factors: one-time codes, which a user proves to have beside the password, and recovery codes in their place.

use serde::Serialize;
use sqlx::Connection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::UserId;
use crate::secrets::{self, hex};
use crate::store::Store;
use crate::token_digest::TokenDigest;
use crate::totp::{self, SECRET};

/// How many recovery codes a user is given.
const RECOVERY_CODES: usize = 10;

/// Whether a user has a second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SecondFactor {
    /// Whether it is asked for.
    pub confirmed: bool,
    /// Recovery codes that are left.
    pub recovery_codes: i64,
}

/// A secret of one-time codes. It is told once, when it is made.
pub struct TotpSecret([u8; SECRET]);

impl TotpSecret {
    /// It as programs for codes take it: in base 32.
    pub fn text(&self) -> String {
        totp::base32(&self.0)
    }

    /// The code that it gives at the time `now`, in milliseconds since 1970.
    pub fn code(&self, now: i64) -> String {
        totp::of_step(&self.0, totp::step(now))
    }
}

/// What a secret is sealed for. No identity, for which device keys are sealed, begins like this.
fn context(owner: UserId) -> Vec<u8> {
    [&b"\0second factor"[..], &owner.0.to_be_bytes()].concat()
}

impl Store {
    /// Makes a secret for `owner`, who is not asked for its codes before [`Store::confirm_second_factor`]. Fails if there is one that
    /// is confirmed.
    pub async fn begin_second_factor(&self, owner: UserId) -> Result<TotpSecret, Error> {
        let secret = secrets::random::<SECRET>()?;
        let sealed = self.master.seal(&context(owner), &secret)?;
        let begun = sqlx::query(
            "INSERT INTO second_factors (owner, secret, confirmed, last_step)
             SELECT id, $2, FALSE, 0 FROM users WHERE id = $1
             ON CONFLICT (owner) DO UPDATE SET secret = excluded.secret, last_step = 0 WHERE NOT confirmed",
        )
        .bind(owner.0)
        .bind(sealed)
        .execute(&mut *self.writer.lock().await)
        .await?;
        if begun.rows_affected() == 0 {
            return Err(Error::Full("there is a second factor already; remove it first"));
        }
        Ok(TotpSecret(secret))
    }

    /// Asks for codes from now on, if `code` is the present one. Gives the recovery codes, which are told this once; `None` if the code
    /// is wrong, or there is nothing to confirm.
    pub async fn confirm_second_factor(
        &self,
        owner: UserId,
        code: &str,
        now: i64,
    ) -> Result<Option<Vec<String>>, Error> {
        let Some((step, _)) = self.step_of_code(owner, code, now, false).await? else { return Ok(None) };
        let codes = (0..RECOVERY_CODES).map(|_| recovery_code()).collect::<Result<Vec<_>, _>>()?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let confirmed = sqlx::query(
            "UPDATE second_factors SET confirmed = TRUE, last_step = $1 WHERE owner = $2 AND NOT confirmed",
        )
        .bind(step)
        .bind(owner.0)
        .execute(&mut *transaction)
        .await?;
        if confirmed.rows_affected() == 0 {
            return Ok(None);
        }
        for code in &codes {
            sqlx::query("INSERT INTO recovery_codes (owner, digest) VALUES ($1, $2)")
                .bind(owner.0)
                .bind(&digest(code).bytes()[..])
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(Some(codes))
    }

    /// Removes the second factor of `owner`, if there is one, with the recovery codes.
    pub async fn remove_second_factor(&self, owner: UserId) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        for sql in
            ["DELETE FROM recovery_codes WHERE owner = $1", "DELETE FROM second_factors WHERE owner = $1"]
        {
            sqlx::query(sql).bind(owner.0).execute(&mut *transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Whether `owner` has a second factor.
    pub async fn second_factor(&self, owner: UserId) -> Result<SecondFactor, Error> {
        let (confirmed, recovery_codes) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM second_factors WHERE owner = $1 AND confirmed),
             (SELECT count(*) FROM recovery_codes WHERE owner = $1)",
        )
        .bind(owner.0)
        .fetch_one(&self.readers)
        .await?;
        Ok(SecondFactor { confirmed, recovery_codes })
    }

    /// Whether `code` is a one-time code of `owner` at the time `now`, or a recovery code. Either is used up by this.
    pub async fn use_code(&self, owner: UserId, code: &str, now: i64) -> Result<bool, Error> {
        if let Some((step, last)) = self.step_of_code(owner, code, now, true).await?
            && step > last
        {
            let used = sqlx::query(
                "UPDATE second_factors SET last_step = $1 WHERE owner = $2 AND confirmed AND last_step < $1",
            )
            .bind(step)
            .bind(owner.0)
            .execute(&mut *self.writer.lock().await)
            .await?;
            return Ok(used.rows_affected() > 0);
        }
        let used = sqlx::query("DELETE FROM recovery_codes WHERE owner = $1 AND digest = $2")
            .bind(owner.0)
            .bind(&digest(code).bytes()[..])
            .execute(&mut *self.writer.lock().await)
            .await?;
        Ok(used.rows_affected() > 0)
    }

    /// The step of time that `code` is of, and the latest one that was used. `None` if it is of none near `now`.
    async fn step_of_code(
        &self,
        owner: UserId,
        code: &str,
        now: i64,
        confirmed: bool,
    ) -> Result<Option<(i64, i64)>, Error> {
        let row: Option<(Vec<u8>, i64)> = sqlx::query_as(
            "SELECT secret, last_step FROM second_factors WHERE owner = $1 AND confirmed = $2",
        )
        .bind(owner.0)
        .bind(confirmed)
        .fetch_optional(&self.readers)
        .await?;
        let Some((sealed, last)) = row else { return Ok(None) };
        let secret = self.master.open_sealed(&context(owner), &sealed)?;
        let secret: &[u8; SECRET] = secret.bytes().try_into().map_err(|_| Error::SealedKey)?;
        Ok(totp::step_of(secret, code, now).map(|step| (step, last)))
    }
}

/// Eighty random bits, in groups of digits.
fn recovery_code() -> Result<String, Error> {
    let digits = hex(&secrets::random::<10>()?);
    Ok([&digits[..5], &digits[5..10], &digits[10..15], &digits[15..]].join("-"))
}

/// That of a recovery code, however it is typed.
fn digest(code: &str) -> TokenDigest {
    let digits: String = code.chars().filter(char::is_ascii_hexdigit).collect();
    TokenDigest::of(&digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_code_is_asked_for_once_confirmed_and_works_once() {
        const NOW: i64 = 1_700_000_000_000;
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let used = async |code: &str, now| store.use_code(ann, code, now).await.unwrap();
        let has = async || store.second_factor(ann).await.unwrap();

        let first = store.begin_second_factor(ann).await.unwrap();
        let secret = store.begin_second_factor(ann).await.unwrap();
        assert!(!has().await.confirmed);
        assert!(!used(&secret.code(NOW), NOW).await, "it is not confirmed");
        assert_eq!(store.confirm_second_factor(ann, &first.code(NOW), NOW).await.unwrap(), None);
        let codes = store.confirm_second_factor(ann, &secret.code(NOW), NOW).await.unwrap().unwrap();
        assert_eq!(has().await, SecondFactor { confirmed: true, recovery_codes: 10 });
        assert!(matches!(store.begin_second_factor(ann).await, Err(Error::Full(_))));

        assert!(!used(&secret.code(NOW), NOW).await, "it was used to confirm");
        let later = NOW + 60_000;
        assert!(used(&secret.code(later), later).await);
        assert!(!used(&secret.code(later), later).await, "a code works once");
        assert!(!used(&secret.code(later - 30_000), later).await, "nor does one before it");
        let typed = codes[3].to_uppercase().replace('-', " ");
        assert!(used(&typed, later).await && !used(&typed, later).await, "a recovery code works once");
        assert_eq!(has().await.recovery_codes, 9);
        let bob = store.add_user("bob", "", "long enough".into(), false).await.unwrap().id;
        assert!(!store.use_code(bob, &codes[4], later).await.unwrap(), "codes are their user's");

        store.remove_second_factor(ann).await.unwrap();
        assert_eq!(has().await, SecondFactor { confirmed: false, recovery_codes: 0 });
        assert!(!used(&codes[5], later).await);
    }
}
