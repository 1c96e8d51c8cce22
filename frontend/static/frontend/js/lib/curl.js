// @ts-check
/** A request as people write it: its address, and the command that sends it from a shell. Pure. */

/**
 * @typedef {object} Operation
 * @property {string} method
 * @property {string} path         with {names} to be filled in
 * @property {{name: string, where: string, required: boolean, type: string}[]} parameters
 * @property {string} media        of its body; empty without one
 * @property {string} example      of its body, as JSON
 */

/**
 * The address of a request below `/api/` of an origin.
 * @param {string} origin
 * @param {Operation} operation
 * @param {Readonly<Record<string, string>>} values   of the parameters, by name
 * @returns {string}
 */
export function addressOf(origin, { path, parameters }, values) {
  const filled = path.replace(/\{(\w+)\}/gu, (_, name) => encodeURIComponent(values[name] ?? ""));
  const url = new URL(filled, origin);
  for (const { name, where } of parameters) {
    if (where === "query" && values[name]) url.searchParams.append(name, values[name] ?? "");
  }
  if (url.origin !== origin || !url.pathname.startsWith("/api/")) throw new Error("not an address of the API");
  return url.href;
}

/** The required parameters that have no value. @param {Operation} operation @param {Record<string, string>} values */
export const missingOf = ({ parameters }, values) =>
  parameters.filter(({ name, required }) => required && !values[name]).map(({ name }) => name);

/** A word of a POSIX shell, whatever it holds. @param {string} word */
export const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * The command; the token is in $TRISTEP_TOKEN, so that it gets into no history and no chat.
 * @param {{method: string, url: string, media: string, body: string, file: string}} request  `file`: its name, if any
 */
export function curlOf({ method, url, media, body, file }) {
  const parts = [`curl -X ${method} ${quoted(url)}`, '-H "Authorization: Bearer $TRISTEP_TOKEN"'];
  if (media && (body || file)) parts.push(`-H ${quoted(`Content-Type: ${media}`)}`);
  if (file) parts.push(`--data-binary ${quoted(`@${file}`)}`);
  else if (body) parts.push(`--data ${quoted(body)}`);
  return parts.join(" \\\n  ");
}
