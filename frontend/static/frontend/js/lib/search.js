// @ts-check
/** Finding words in texts: where they stand, and which one is next. No page in here. */

/** More than so many finds are not counted. */
export const MOST = 2000;

/**
 * The occurrences of `query` in `text`, as [start, end], whatever the case of its letters. White space stands for any.
 * @param {string} text
 * @param {string} query
 * @param {number} [most]
 * @returns {[number, number][]}
 */
export function matches(text, query, most = MOST) {
  const words = query.trim().split(/\s+/u).filter(Boolean);
  if (!words.length) return [];
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&")).join("\\s+");
  /** @type {[number, number][]} */
  const found = [];
  for (const { 0: hit, index } of text.matchAll(new RegExp(pattern, "giu"))) {
    if (found.length >= most) break;
    found.push([index, index + hit.length]);
  }
  return found;
}

/**
 * The find after (or before) the current one, round the end; -1 when there is none.
 * @param {number} count
 * @param {number} current  -1: none yet
 * @param {1 | -1} way
 */
export function following(count, current, way) {
  if (!count) return -1;
  if (current < 0) return way > 0 ? 0 : count - 1;
  return (current + way + count) % count;
}
