// @ts-check
/**
 * Saving, put together: every action is saved; what is not stored yet is kept in the browser; other windows with the
 * same assignment learn what is; and the page says how it stands.
 */

import { newOpId } from "../../lib/api.js";
import { byRole, setText } from "../../lib/dom.js";
import { ownStorage } from "../../lib/storage.js";
import { makeLocalBackup } from "./local_backup.js";
import { makeSaver } from "./saver.js";
import { takeAnswer } from "./sync.js";
import { holdOn, ifGone, joinTabs } from "./tabs.js";

/** @typedef {import("../../lib/dom.js").Words} Words */
/** @typedef {import("./saver.js").Status} Status */

/** A save that takes longer is told, in ms. */
const SLOW_SAVE = 300;
/** The time between looks for changes that closed pages have left, in ms. */
const LOOK_AGAIN = 5000;

/** @typedef {ReturnType<typeof startSaving>} Saving */

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {{user: number, assignment: number, urls: {labels: string, marks: string}}} options.page
 * @param {Words} options.words
 */
export function startSaving({ store, page, words }) {
  const elsewhere = byRole(document, "elsewhere", HTMLElement);
  const showStatus = statusOnPage(words);
  /** Whether the browser keeps unsaved changes. */
  let kept = true;

  const id = newOpId();
  const backup = makeLocalBackup({ storage: ownStorage(), user: page.user, assignment: page.assignment, id });
  const tabs = joinTabs({
    id,
    name: `tristep:${page.user}:${page.assignment}`,
    count: (others) => setText(elsewhere, others && store.get().open ? words("elsewhere_open") : ""),
    saved: (answer) => store.replace(takeAnswer(store.get(), null, answer)),
    closed: () => saver.stop(),
  });
  const saver = makeSaver({
    getState: store.get,
    setState: store.replace,
    showStatus(status, reason) {
      showStatus(status, reason, kept);
      if (status === "closed") store.dispatch({ type: "close" });
    },
    backUp: (waiting) => (kept = backup.write(waiting)),
    broadcast: (answer) => tabs.tell({ type: "saved", answer }),
    urls: page.urls,
  });
  store.subscribe((state, cause) => {
    if (cause === "action" && (state.dirty.size || state.marksDirty)) void saver.changed();
  });

  /** Take up what pages that are gone have left behind. */
  async function rescue() {
    if (!store.get().open) return;
    for (const name of backup.others()) {
      await ifGone(
        name,
        () => tabs.knows(name.split(":").at(-1) ?? ""),
        () => {
          const left = backup.read(name);
          if (left) saver.restore(left);
          backup.remove(name);
        },
      );
    }
  }
  holdOn(backup.own);
  setInterval(() => void rescue(), LOOK_AGAIN);

  return {
    saver,
    rescue,
    /** Other windows with this trajectory learn that it is not open any more. */
    tellClosed: () => tabs.tell({ type: "closed" }),
  };
}

/**
 * The words of the badge and the banner. Most saves take a few milliseconds: to say so each time would be noise; one
 * that takes longer is told.
 * @param {Words} words
 */
function statusOnPage(words) {
  const badge = byRole(document, "save", HTMLElement);
  const banner = byRole(document, "banner", HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let slow;

  /** @param {Status} status @param {string} reason @param {boolean} kept */
  return (status, reason, kept) => {
    const calm = status === "saved" || status === "conflict";
    clearTimeout(slow);
    badge.dataset.status = status;
    if (status === "saving") {
      slow = setTimeout(() => setText(badge, words("saving")), SLOW_SAVE);
      return;
    }
    setText(badge, words(calm ? status : "unsaved"));
    const net = kept || status === "closed" ? "" : ` ${words("unkept")}`;
    setText(banner, calm ? "" : words(status, { reason }) + net);
  };
}
