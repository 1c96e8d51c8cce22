// Two providers of OpenID Connect for the tests: a certified one (oidc-provider), and one that is wrong in the way
// that its address names (/expired, /unsigned, …), whose tokens jose signs. Prints their addresses as one line of
// JSON, and ends when its standard input does.

import { createServer } from "node:http";

import { CompactSign, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const [callback] = process.argv.slice(2);
const CLIENT = "tristep";
const SECRET = "a-secret-of-the-tests-0123456789-0123456789";
/** subject → claims, as the tests set them */
const people = new Map();

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)));
const body = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
const json = (response, value, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

// ── The right one ─────────────────────────
const rightServer = createServer();
const right = await listen(rightServer);
const keys = await generateKeyPair("RS256", { extractable: true });
const provider = new Provider(right, {
  clients: [
    {
      client_id: CLIENT,
      client_secret: SECRET,
      redirect_uris: [callback],
      token_endpoint_auth_method: "client_secret_basic",
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(keys.privateKey)), kid: "right", use: "sig", alg: "RS256" }] },
  cookies: { keys: ["a key of the tests"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username", "groups"] },
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  interactions: { url: (_context, interaction) => `/as/${interaction.uid}` },
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
  // everybody has agreed to everything
  loadExistingGrant: async (context) => {
    const grant = new context.oidc.provider.Grant({
      clientId: context.oidc.client.clientId,
      accountId: context.oidc.session.accountId,
    });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
const serve = provider.callback();
rightServer.on("request", async (request, response) => {
  if (!request.url.startsWith("/as/")) return serve(request, response);
  // who signs in is whom the test names in a header; nobody does not want to
  const who = request.headers["x-person"];
  const result = who ? { login: { accountId: who } } : { error: "access_denied", error_description: "no" };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
});

// ── The wrong one ─────────────────────────
const pair = await generateKeyPair("RS256", { extractable: true });
const other = await generateKeyPair("RS256", { extractable: true });
const publicKey = { ...(await exportJWK(pair.publicKey)), kid: "wrong", use: "sig", alg: "RS256" };
const header = { alg: "RS256", kid: "wrong" };
const now = () => Math.floor(Date.now() / 1000);
const signed = (claims, key = pair.privateKey, protectedHeader = header) =>
  new SignJWT(claims).setProtectedHeader(protectedHeader).sign(key);
const TOKENS = {
  "wrong-issuer": (claims) => signed({ ...claims, iss: "http://127.0.0.1:9/other" }),
  "wrong-audience": (claims) => signed({ ...claims, aud: "somebody-else" }),
  "two-audiences": (claims) => signed({ ...claims, aud: [CLIENT, "somebody-else"] }),
  "other-party": (claims) => signed({ ...claims, azp: "somebody-else" }),
  "wrong-nonce": (claims) => signed({ ...claims, nonce: "another" }),
  "no-nonce": ({ nonce: _nonce, ...claims }) => signed(claims),
  expired: (claims) => signed({ ...claims, iat: now() - 7200, exp: now() - 3600 }),
  "no-expiry": ({ exp: _exp, ...claims }) => signed(claims),
  "from-the-future": (claims) => signed({ ...claims, iat: now() + 3600, exp: now() + 7200 }),
  unsigned: async (claims) => new UnsecuredJWT(claims).encode(),
  "other-key": (claims) => signed(claims, other.privateKey),
  "unknown-key": (claims) => signed(claims, pair.privateKey, { alg: "RS256", kid: "unknown" }),
  // the public key passed off as a secret
  "public-key-as-secret": async (claims) =>
    signed(claims, new TextEncoder().encode(await exportSPKI(pair.publicKey)), { alg: "HS256", kid: "wrong" }),
  "client-secret": (claims) => signed(claims, new TextEncoder().encode(SECRET), { alg: "HS256", kid: "wrong" }),
  "no-claims": () =>
    new CompactSign(new TextEncoder().encode('"text"')).setProtectedHeader(header).sign(pair.privateKey),
  "no-token": async () => undefined,
  garbage: async () => "not.a.token",
};
/** code → what it was given for */
const codes = new Map();
const held = new Set();

const wrongServer = createServer(async (request, response) => {
  const url = new URL(request.url, wrong);
  if (url.pathname === "/people") {
    people.clear();
    for (const [sub, claims] of Object.entries(JSON.parse(await body(request)))) people.set(sub, claims);
    return json(response, {});
  }
  const [, how, ...rest] = url.pathname.split("/");
  const issuer = `${wrong}/${how}`;
  const page = rest.join("/");
  if (how === "slow" && page === "jwks") return held.add(response);
  if (how === "huge" && page === "jwks") {
    response.writeHead(200, { "content-type": "application/json" });
    const block = Buffer.alloc(65536, 32);
    const more = () => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", more);
    return more();
  }
  if (how === "redirecting" && page === "jwks") {
    response.writeHead(302, { location: `${right}/jwks` });
    return response.end();
  }
  if (how === "broken" && page === "jwks") return json(response, { error: "server_error" }, 500);
  if (how === "not-json" && page === "jwks") return response.end("<html>");
  if (how === "refusing" && page === "token") return json(response, { error: "invalid_grant", secret: SECRET }, 400);
  if (how === "listing" && page === "token") return json(response, ["access_token"]);
  if (page === ".well-known/openid-configuration") {
    return json(response, {
      issuer: how === "other-name" ? right : issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: how === "unsafe" ? "http://provider.example/token" : `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      ...(how === "two-people" ? { userinfo_endpoint: `${issuer}/userinfo` } : {}),
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    });
  }
  if (page === "authorize") {
    const code = `${codes.size}`;
    codes.set(code, url.searchParams);
    const back = new URL(url.searchParams.get("redirect_uri"));
    back.searchParams.set("code", code);
    back.searchParams.set("state", url.searchParams.get("state"));
    if (how === "mixed-up") back.searchParams.set("iss", right);
    response.writeHead(302, { location: back.href });
    return response.end();
  }
  if (page === "token") {
    const asked = codes.get(new URLSearchParams(await body(request)).get("code"));
    const claims = {
      ...people.get("maya"),
      iss: issuer,
      sub: "maya",
      aud: CLIENT,
      nonce: asked?.get("nonce"),
      iat: now(),
      exp: now() + 300,
    };
    const token = await (TOKENS[how] ?? signed)(claims);
    return json(response, { access_token: "an-access-token", token_type: "Bearer", id_token: token });
  }
  if (page === "userinfo") return json(response, { sub: "tomas" });
  if (page === "jwks") return json(response, { keys: [publicKey] });
  return json(response, {}, 404);
});
const wrong = await listen(wrongServer);

console.log(JSON.stringify({ right, wrong, client: CLIENT, secret: SECRET, tokens: Object.keys(TOKENS) }));
process.stdin.resume().on("end", () => process.exit());
