// @ts-check
/** The label of a step in the words of the page. */

/** @typedef {import("../state/labels.js").Label} Label */
/** @typedef {import("../state/labels.js").Value} Value */
/** @typedef {import("../state/propagation_preview.js").Proposal} Proposal */
/** @typedef {import("../state/propagation_preview.js").StepResult} StepResult */
/** @typedef {ReturnType<typeof makeStepText>} StepText */

/** @type {Record<string, string>} */
const MARK_KINDS = { 1: "plus", 0: "zero", "-1": "minus" };
/** @type {Record<string, string>} */
const SIGNS = { 1: "+1", 0: "0", "-1": "−1" };

/** @param {Value | null} value */
export const signOf = (value) => (value === null ? "–" : (SIGNS[value] ?? "–"));
/** The letter of a label in the strip of the run. @param {Value | null} value */
export const letterOf = (value) => kindOf(value).charAt(0);
/** @param {Value | null} value */
export const kindOf = (value) => (value === null ? "none" : (MARK_KINDS[value] ?? "none"));

/**
 * @param {import("../../lib/dom.js").Words} words
 * @param {(index: number | null) => number} numberOf
 * @param {boolean} propagates   errors carry on to later steps, so that it matters where one began
 */
export function makeStepText(words, numberOf, propagates) {
  /** @param {number} root @param {number} index */
  const rootText = (root, index) => (root === index ? words("root_self") : words("root_from", { n: numberOf(root) }));

  return {
    words,
    numberOf,
    rootText,

    /** The beginning of a step's error; empty when it is none. @param {StepResult} result */
    originText: ({ value, root, message_index: index }) =>
      propagates && value === -1 && root !== null ? rootText(root, index) : "",

    /** @param {Proposal} proposal */
    proposalText: ({ value, root }) =>
      !propagates
        ? words("proposal_others", { value: signOf(value) })
        : root === null
          ? words("proposal_carry", { value: signOf(value) })
          : words("proposal_from", { value: signOf(value), n: numberOf(root) }),

    /** @param {StepResult} result */
    stateText({ proposal, value, source }) {
      if (proposal) return words("proposed", { value: signOf(proposal.value) });
      if (value === null) return words("no_label");
      return words(source === "propagated" ? "confirmed" : "labelled", { value: signOf(value) });
    },

    /** @param {Label} label */
    marksOf: ({ unsure, flagged, note }) =>
      [unsure ? words("unsure") : "", flagged ? words("flagged") : "", note ? words("noted") : ""].filter(Boolean),
  };
}
