// Passkeys. A form with `data-passkey` has a hidden field, `passkey`: before the form is sent, this asks the authenticator, and puts what it
// says into the field. What it is to be asked, a GET request for the form's own address says.

const toBytes = text =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), letter => letter.charCodeAt(0));
const toText = buffer =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// Browsers of before 2025 know neither `parse…FromJSON` nor `toJSON`.
const ids = list => (list ?? []).map(one => ({ ...one, id: toBytes(one.id) }));
const parsed = {
  create: options => PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? {
    ...options, challenge: toBytes(options.challenge), user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: ids(options.excludeCredentials),
  },
  get: options => PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? {
    ...options, challenge: toBytes(options.challenge), allowCredentials: ids(options.allowCredentials),
  },
};
const written = credential => {
  if (credential.toJSON) return credential.toJSON();
  const response = {};
  for (const part of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (credential.response[part]) response[part] = toText(credential.response[part]);
  return { id: credential.id, rawId: toText(credential.rawId), type: credential.type, response };
};

const ask = async form => {
  const answer = await fetch(form.action, { headers: { accept: "application/json" } });
  // Whoever has to sign in first is led there.
  if (answer.redirected) return void location.assign(answer.url);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const what = form.dataset.passkey, options = (await answer.json())[what];
  const credential = await navigator.credentials[what]({ publicKey: parsed[what](options) });
  form.elements.namedItem("passkey").value = JSON.stringify(written(credential));
  form.submit();
};

const say = (form, text) => {
  const old = form.querySelector(".problem[role=alert]"), line = old ?? document.createElement("p");
  line.className = "problem";
  line.setAttribute("role", "alert");
  line.textContent = text;
  if (!old) form.append(line);
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (!window.PublicKeyCredential) return say(form, form.dataset.unknown);
    // An authenticator takes no second passkey for the same user.
    ask(form).catch(error => say(form, error.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed));
  });
}
