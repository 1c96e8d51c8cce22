// @ts-check
/**
 * One label, changed here and elsewhere since both last agreed. Pure.
 *
 * A note, a mark and a judgement are merged apart from each other. Two different judgements are a conflict: the
 * stored one stands, and the person is told and can choose.
 */

/** @typedef {import("./labels.js").Label} Label */

const JUDGEMENT = /** @type {const} */ (["value", "source", "root", "root_pinned", "closes", "reason"]);

/**
 * @param {Label} base     what both began with
 * @param {Label} mine
 * @param {Label} theirs   what is stored now
 * @returns {{label: Label, conflict: boolean}}
 */
export function merge(base, mine, theirs) {
  const judged = JUDGEMENT.some((name) => mine[name] !== base[name]);
  const conflict = judged && byHand(base, theirs) && !agree(mine, theirs);
  const judgement = judged && !conflict ? mine : theirs;
  return {
    label: {
      ...judgementOf(judgement),
      unsure: mine.unsure === base.unsure ? theirs.unsure : mine.unsure,
      flagged: mine.flagged === base.flagged ? theirs.flagged : mine.flagged,
      note: mergeNotes(base.note, mine.note, theirs.note),
    },
    conflict,
  };
}

/** @param {Label} label */
export function judgementOf({ value, source, root, root_pinned, closes, reason }) {
  return { value, source, root, root_pinned, closes, reason };
}

/**
 * Whether somebody has judged anew, as opposed to what the rule makes of a label by itself (a root that moves,
 * a fill that loses its root).
 * @param {Label} base
 * @param {Label} theirs
 */
function byHand(base, theirs) {
  if (theirs.value === null && base.source === "propagated") return false;
  return (
    theirs.value !== base.value ||
    theirs.source !== base.source ||
    theirs.closes !== base.closes ||
    theirs.reason !== base.reason ||
    (theirs.root_pinned && theirs.root !== base.root)
  );
}

/**
 * Whether two labels judge alike.
 * @param {Label} mine
 * @param {Label} theirs
 */
export function agree(mine, theirs) {
  const sameRoot = mine.root === theirs.root || !(mine.root_pinned && theirs.root_pinned);
  return mine.value === theirs.value && mine.closes === theirs.closes && mine.reason === theirs.reason && sameRoot;
}

/**
 * Both texts when both were written; nothing that was written is lost.
 * @param {string} base
 * @param {string} mine
 * @param {string} theirs
 */
function mergeNotes(base, mine, theirs) {
  if (mine === base || theirs.includes(mine)) return theirs;
  if (theirs === base || mine.includes(theirs)) return mine;
  return `${theirs}\n\n${mine}`;
}
