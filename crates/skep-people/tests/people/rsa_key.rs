//! A key of RSA that was made for tests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rsa::BoxedUint;

const P: &str = concat!(
    "-1Vq5ZY1C41IYYX-VpEHhkUciJT3pHI48wSpbSOmdaQnDGqStAk0AZLOjKTTaRO0YScdNZodNyvzfcZ_LcF29wEOA0VluP5yi0DB",
    "2VCO02UBqq4WnWH3M_Sce3FZOnInAXq16KU3OlDG39dNrbpZ0uUbVGH0RHcT5e1pjj_J6Hk",
);
const Q: &str = concat!(
    "6FoS0lEdyiWn3oTr_lsV63QSHwPNdBzrlUDIF6D08DMw9NLTvMZGctzmMvGPjuy1zsV3bJtQ_s_BZS68TefiPKuQJo_59s4OjwXU",
    "yfedcel-r_aWzOalp6AofkoW3fSX8LhmxnparzrTFLSC_K5of3WB46LIkDj7ydAwtK6icb0",
);

pub(crate) fn key() -> rsa::PrivateKey {
    let number = |text: &str| BoxedUint::from_be_slice_vartime(&URL_SAFE_NO_PAD.decode(text).unwrap());
    rsa::PrivateKey::from_p_q(number(P), number(Q), BoxedUint::from(65537_u64)).unwrap()
}
