// @ts-check
/**
 * Forms with data-passkey="create" or "get": before one is sent, the browser makes or uses a passkey, and what it says
 * goes along in the field `credential`. What the server asks for stands beside the form as JSON.
 */

/** @param {string} text in base64url @returns {ArrayBuffer} */
function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0)).buffer;
}

/** @param {ArrayBuffer | null} buffer @returns {string} in base64url */
function text(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer ?? new ArrayBuffer(0)));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {any[] | undefined} listed */
const credentials = (listed) => (listed ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

/** @param {any} asked the options, as JSON has them */
async function create(asked) {
  const options = {
    ...asked,
    challenge: bytes(asked.challenge),
    user: { ...asked.user, id: bytes(asked.user.id) },
    excludeCredentials: credentials(asked.excludeCredentials),
  };
  const made = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey: options }));
  const response = /** @type {AuthenticatorAttestationResponse} */ (made.response);
  return said(made, { attestationObject: text(response.attestationObject), transports: response.getTransports?.() });
}

/** @param {any} asked the options, as JSON has them */
async function use(asked) {
  const options = {
    ...asked,
    challenge: bytes(asked.challenge),
    allowCredentials: credentials(asked.allowCredentials),
  };
  const used = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey: options }));
  const response = /** @type {AuthenticatorAssertionResponse} */ (used.response);
  return said(used, {
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
    userHandle: response.userHandle ? text(response.userHandle) : null,
  });
}

/** @param {PublicKeyCredential} credential @param {Record<string, unknown>} response */
function said(credential, response) {
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { clientDataJSON: text(credential.response.clientDataJSON), ...response },
  };
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  const field = form.elements.namedItem("credential");
  const options = form.querySelector("script[type='application/json']");
  const failed = form.querySelector("[role='alert']");
  form.addEventListener("submit", async (event) => {
    if (!(field instanceof HTMLInputElement) || field.value) return;
    event.preventDefault();
    if (failed instanceof HTMLElement) failed.hidden = true;
    try {
      const asked = JSON.parse(options?.textContent ?? "{}").publicKey;
      field.value = JSON.stringify(await (form.dataset.passkey === "create" ? create(asked) : use(asked)));
    } catch {
      if (failed instanceof HTMLElement) failed.hidden = false;
      return;
    }
    form.requestSubmit();
  });
}
