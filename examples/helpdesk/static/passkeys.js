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

const ask = async (form, more, asked) => {
  const answer = await fetch(form.action, { headers: { accept: "application/json" }, signal: more?.signal });
  // Whoever has to sign in first is led there.
  if (answer.redirected) return void location.assign(answer.url);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const what = form.dataset.passkey, options = (await answer.json())[what];
  asked?.(options);
  const credential = await navigator.credentials[what]({ publicKey: parsed[what](options), ...more });
  form.elements.namedItem("passkey").value = JSON.stringify(written(credential));
  form.submit();
};

// Conditional mediation: as long as such a request is pending, the browser offers passkeys where a user types a name, in a field with
// `autocomplete="username webauthn"`. A browser has one request at a time, so the button ends this one.
let pending = new AbortController();
const offer = async form => {
  const { signal } = pending = new AbortController();
  if (!document.querySelector("input[autocomplete~=webauthn]")) return;
  if (!(await window.PublicKeyCredential?.isConditionalMediationAvailable?.()) || signal.aborted) return;
  const renew = async () => {
    if (document.hidden) await new Promise(seen => document.addEventListener("visibilitychange", seen, { once: true }));
    if (signal.aborted) return;
    pending.abort();
    offer(form);
  };
  // The server forgets the challenge after `timeout`, which browsers ignore here.
  const asked = options => setTimeout(renew, options.timeout * 0.9);
  ask(form, { mediation: "conditional", signal }, asked).catch(() => {});
};

const say = (form, text) => {
  const old = form.querySelector(".problem[role=alert]"), line = old ?? document.createElement("p");
  line.className = "problem";
  line.setAttribute("role", "alert");
  line.textContent = text;
  if (!old) form.append(line);
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const offered = form.dataset.passkey === "get";
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (!window.PublicKeyCredential) return say(form, form.dataset.unknown);
    pending.abort();
    ask(form).catch(error => {
      // An authenticator takes no second passkey for the same user.
      say(form, error.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed);
      if (offered) offer(form);
    });
  });
  if (offered) offer(form);
}
