// @ts-check
/**
 * Texts that were typed and not sent, kept in the browser under a name of their own.
 *
 * A text that was sent is kept until it is known to have arrived: a form may fail on its way. It has arrived when the
 * place it goes to holds more than it did when it was sent.
 */

const PREFIX = "tristep:draft:";
/** A draft that nobody has touched for so long is let go, in ms. */
const KEPT_FOR = 30 * 24 * 3600 * 1000;

/** @typedef {{text: string, at: number, sent: number | null}} Draft  `sent`: how much the place held then */

/** @param {{storage: Storage | null, now?: () => number}} options */
export function makeDrafts({ storage, now = Date.now }) {
  // without storage (private windows, full disks) nothing is kept
  /** @template T @param {T} otherwise @param {() => T} work */
  function trying(otherwise, work) {
    try {
      return work();
    } catch {
      return otherwise;
    }
  }

  /** @param {string} name @returns {Draft | null} */
  const stored = (name) => trying(null, () => JSON.parse(storage?.getItem(PREFIX + name) ?? "null"));

  /** @param {string} name @param {string} text @param {number | null} sent */
  function store(name, text, sent) {
    return trying(false, () => {
      if (!storage) return false;
      if (text.trim()) storage.setItem(PREFIX + name, JSON.stringify({ text, at: now(), sent }));
      else storage.removeItem(PREFIX + name);
      return true;
    });
  }

  trying(undefined, () => {
    for (const key of Object.keys(storage ?? {}).filter((one) => one.startsWith(PREFIX))) {
      const draft = stored(key.slice(PREFIX.length));
      if (!draft || now() - draft.at > KEPT_FOR) storage?.removeItem(key);
    }
  });

  return {
    /** Keep a text, and forget an empty one: whether it is safe. @param {string} name @param {string} text */
    write: (name, text) => store(name, text, null),
    /**
     * Note that it is on its way.
     * @param {string} name
     * @param {string} text
     * @param {number} held   by the place it goes to
     */
    send: (name, text, held) => store(name, text, held),
    /** The text that has not arrived, "" without one. @param {string} name @param {number} held  by its place now */
    read(name, held) {
      const draft = stored(name);
      if (draft === null || typeof draft.text !== "string") return "";
      if (draft.sent === null || held <= draft.sent) return draft.text;
      store(name, "", null);
      return "";
    },
  };
}
