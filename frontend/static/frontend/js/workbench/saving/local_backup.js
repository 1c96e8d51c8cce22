// @ts-check
/**
 * Changes that are not stored yet, kept in the browser: they survive a reload, a crash and a lost network.
 *
 * One entry for each page that is open, under the person and the assignment; gone as soon as the server has
 * acknowledged it. Without storage (private windows, full disks) the page goes on without a net.
 */

/** @typedef {import("./sync.js").Backup} Backup */

/**
 * @param {object} options
 * @param {Storage | null} options.storage
 * @param {number} options.user
 * @param {number} options.assignment
 * @param {string} options.id   this page's own
 */
export function makeLocalBackup({ storage, user, assignment, id }) {
  const prefix = `tristep:${user}:${assignment}:`;
  const own = prefix + id;
  let written = "";

  /** @template T @param {T} otherwise @param {() => T} work @returns {T} */
  function trying(otherwise, work) {
    try {
      return work();
    } catch {
      return otherwise;
    }
  }

  return {
    own,
    /** @param {Backup | null} kept @returns {boolean} whether it is safe there */
    write(kept) {
      const text = kept ? JSON.stringify(kept) : "";
      if (text === written) return true;
      return trying(false, () => {
        if (!storage) return false;
        if (text) storage.setItem(own, text);
        else storage.removeItem(own);
        written = text;
        return true;
      });
    },
    /** The entries of other pages for the same assignment, open or gone. @returns {string[]} */
    others() {
      return trying([], () =>
        storage ? Object.keys(storage).filter((name) => name.startsWith(prefix) && name !== own) : [],
      );
    },
    /** @param {string} name @returns {Backup | null} */
    read(name) {
      return trying(null, () => {
        const kept = JSON.parse(storage?.getItem(name) ?? "null");
        return kept?.v === 1 && Array.isArray(kept.ops) && Array.isArray(kept.edits) ? kept : null;
      });
    },
    /** @param {string} name */
    remove(name) {
      trying(undefined, () => storage?.removeItem(name));
    },
  };
}
