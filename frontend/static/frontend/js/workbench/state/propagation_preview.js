// @ts-check
/**
 * The error-propagation rule, as a preview in the browser, and the errors that it makes of labels.
 *
 * The authority is annotation/core/propagation.py; the server works every answer out anew. Both are tested with
 * tests/propagation_cases.json. Pages ask here what errors there are, and nowhere else is the rule said again. Pure: no
 * DOM, no network.
 */

/** @typedef {-1 | 0 | 1} Value */
/** @typedef {"explicit" | "propagated"} Source */
/**
 * `propagates`: errors carry on to later steps; false where steps are alternatives. `others`: of these, an explicit +1
 * proposes −1 for those without a label.
 * @typedef {{suspend_on_user_turn: boolean, carry_forward: boolean, propagates?: boolean, others?: boolean}} Rules
 */
/** @typedef {{value: Value, root: number | null}} Proposal */
/**
 * One step and the label stored for it.
 * @typedef {object} StepInput
 * @property {number} message_index
 * @property {Value | null} value
 * @property {Source | null} source
 * @property {number | null} root          where the error began (of a −1 only)
 * @property {boolean} root_pinned         the annotator chose the root
 * @property {boolean} after_user_turn     a user message stands before this step
 */
/**
 * The present result of a step.
 * @typedef {object} StepResult
 * @property {number} message_index
 * @property {Value | null} value
 * @property {Source | null} source
 * @property {number | null} root
 * @property {boolean} root_pinned
 * @property {Proposal | null} proposal
 * @property {boolean} orphaned            a confirmed fill stood here and lost what it was filled from
 * @property {number | null} open          the root of the run that is open before this step, suspended or not
 */
/**
 * One error: where it began, the later steps that are its consequences, and the unlabelled ones for which −1 is
 * proposed. Message indexes.
 * @typedef {{root: number, members: number[], proposed: number[]}} ErrorRun
 */
/** @typedef {Omit<StepResult, "open">} Judged */
/** @typedef {{root: number | null, suspended: boolean, lastExplicit: Value | null}} Run */

/**
 * Judge every step of a trajectory, in order.
 * @param {readonly StepInput[]} steps strictly rising message indexes
 * @param {Rules} rules
 * @returns {StepResult[]} same length and order as `steps`
 */
export function resolve(steps, rules) {
  /** @type {Run} */
  const run = { root: null, suspended: false, lastExplicit: null };
  /** @type {Map<number, StepResult>} */
  const done = new Map();
  let previous = -1;
  const ground = rules.others === true && isRightSomewhere(steps);
  for (const step of steps) {
    if (step.message_index <= previous) {
      throw new RangeError(`steps must rise by message index: ${step.message_index} after ${previous}`);
    }
    previous = step.message_index;
    if (step.after_user_turn && rules.suspend_on_user_turn) run.suspended = true;
    const open = run.root;
    const result =
      rules.propagates === false
        ? alone(step, ground)
        : step.value !== null && step.source === "explicit"
          ? explicit(step, step.value, run, done)
          : filled(step, run, done, rules);
    done.set(step.message_index, { ...result, open });
  }
  return [...done.values()];
}

/**
 * Whether one of them is explicitly +1.
 * @param {readonly Pick<StepInput, "value" | "source">[]} steps
 */
export const isRightSomewhere = (steps) => steps.some((step) => step.value === 1 && step.source === "explicit");

/**
 * A step that has nothing to do with those before it: what is explicit stays. A fill of −1, as a proposal, has a ground
 * where another one is right.
 * @param {StepInput} step
 * @param {boolean} ground
 * @returns {Judged}
 */
function alone({ message_index, value, source }, ground) {
  const said = source === "explicit" ? value : null;
  if (ground && said === null) {
    const base = { message_index, root_pinned: false };
    if (value === -1) {
      return { ...base, value, source: "propagated", root: message_index, proposal: null, orphaned: false };
    }
    const proposal = { value: /** @type {const} */ (-1), root: message_index };
    return { ...base, value: null, source: null, root: null, proposal, orphaned: value !== null };
  }
  return {
    message_index,
    value: said,
    source: said === null ? null : "explicit",
    root: said === -1 ? message_index : null,
    root_pinned: false,
    proposal: null,
    orphaned: value !== null && said === null,
  };
}

/**
 * @param {StepInput} step
 * @param {Value} value
 * @param {Run} run
 * @param {Map<number, StepResult>} done
 * @returns {Judged}
 */
function explicit(step, value, run, done) {
  /** @type {number | null} */
  let root = null;
  let pinned = false;
  if (value === -1) {
    [root, pinned] = rootOfError(step, run, done);
    run.root = root;
    run.suspended = false;
  } else if (value === 1) {
    run.root = null;
    run.suspended = false;
  } else {
    run.suspended = true;
  }
  run.lastExplicit = value;
  return {
    message_index: step.message_index,
    value,
    source: "explicit",
    root,
    root_pinned: pinned,
    proposal: null,
    orphaned: false,
  };
}

/**
 * The root of an explicit −1, and whether the annotator's choice of it still holds.
 * @param {StepInput} step
 * @param {Run} run
 * @param {Map<number, StepResult>} done
 * @returns {[number, boolean]}
 */
function rootOfError(step, run, done) {
  if (step.root_pinned && step.root !== null) {
    if (step.root === step.message_index) return [step.root, true];
    const target = done.get(step.root);
    if (target && target.value === -1 && target.root !== null) return [target.root, true];
  }
  return [run.root ?? step.message_index, false];
}

/**
 * A step without an explicit label: a confirmed fill that still holds, else unlabelled with its proposal.
 * @param {StepInput} step
 * @param {Run} run
 * @param {Map<number, StepResult>} done
 * @param {Rules} rules
 * @returns {Judged}
 */
function filled(step, run, done, rules) {
  const hadFill = step.value !== null && step.source === "propagated";
  const base = { message_index: step.message_index, root_pinned: false };
  if (hadFill && step.value === -1) {
    const root = livingRoot(step.root, done);
    if (root !== null) {
      run.root = root;
      run.suspended = false;
      return { ...base, value: -1, source: "propagated", root, proposal: null, orphaned: false };
    }
  }
  if (hadFill && step.value === 1 && run.lastExplicit === 1) {
    return { ...base, value: 1, source: "propagated", root: null, proposal: null, orphaned: false };
  }
  return { ...base, value: null, source: null, root: null, proposal: propose(run, rules), orphaned: hadFill };
}

/**
 * The root a fill belongs to now, or null when the −1 it came from is gone.
 * @param {number | null} root
 * @param {Map<number, StepResult>} done
 * @returns {number | null}
 */
function livingRoot(root, done) {
  const origin = root === null ? undefined : done.get(root);
  return origin && origin.value === -1 && origin.source === "explicit" ? origin.root : null;
}

/**
 * @param {Run} run
 * @param {Rules} rules
 * @returns {Proposal | null}
 */
function propose(run, rules) {
  if (run.root !== null) return run.suspended ? null : { value: -1, root: run.root };
  if (rules.carry_forward && run.lastExplicit === 1) return { value: 1, root: null };
  return null;
}

/** @param {StepResult} step @returns {boolean} whether an error begins here */
export const isRoot = (step) => step.value === -1 && step.root === step.message_index;

/** @param {StepResult} step @returns {number | null} the root of the run that an explicit +1 closes; null for none */
export const closedRun = (step) => (step.value === 1 && step.source === "explicit" ? step.open : null);

/**
 * The errors of a trajectory, in the order of their first steps.
 * @param {readonly StepResult[]} results
 * @returns {ErrorRun[]}
 */
export function errorRuns(results) {
  /** @type {Map<number, ErrorRun>} */
  const runs = new Map();
  for (const { message_index: index, value, root, proposal } of results) {
    const from = value === -1 ? root : proposal?.value === -1 ? proposal.root : null;
    if (from === null) continue;
    const run = runs.get(from) ?? { root: from, members: [], proposed: [] };
    runs.set(from, run);
    if (value === null) run.proposed.push(index);
    else if (index !== from) run.members.push(index);
  }
  return [...runs.values()];
}

/**
 * The results that say the same as before, as the very objects they were: what is told apart by them stays as it is.
 * @param {readonly StepResult[]} before
 * @param {readonly StepResult[]} now
 */
export function keepSame(before, now) {
  return now.map((step, i) => {
    const was = before[i];
    const same =
      was !== undefined &&
      was.message_index === step.message_index &&
      was.value === step.value &&
      was.source === step.source &&
      was.root === step.root &&
      was.root_pinned === step.root_pinned &&
      was.orphaned === step.orphaned &&
      was.open === step.open &&
      was.proposal?.value === step.proposal?.value &&
      was.proposal?.root === step.proposal?.root;
    return same ? was : step;
  });
}
