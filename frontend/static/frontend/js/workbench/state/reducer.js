// @ts-check
/**
 * The workbench's state as a pure reducer: labels, focus, what has been seen, undo. No DOM, no network.
 *
 * A label that the person edits is "dirty" until the server has stored it. What merely follows from an edit (a
 * root that moves, a fill that loses its root) is worked out here and by the server alike, and is not sent.
 * Saving is in sync.js.
 */

import { NO_LABEL, labelOf, sameLabel } from "./labels.js";
import { judgementOf } from "./merge.js";
import { keepSame, resolve } from "./propagation_preview.js";
import { confirmable, labelAt, nextUnlabelled, stepToExplain } from "./selectors.js";

/** @typedef {import("./labels.js").Key} Key */
/** @typedef {import("./labels.js").Label} Label */
/** @typedef {import("./labels.js").Labels} Labels */
/** @typedef {import("./labels.js").StepRef} StepRef */
/** @typedef {import("./labels.js").Problem} Problem */
/** @typedef {import("./labels.js").Rules} Rules */
/** @typedef {import("./labels.js").StepResult} StepResult */
/** @typedef {import("./labels.js").Value} Value */
/** @typedef {{needs_discussion: boolean, broken: boolean}} Marks flags on the trajectory as a whole */
/**
 * @typedef {object} State
 * @property {boolean} open
 * @property {Rules} rules
 * @property {readonly StepRef[]} steps
 * @property {Labels} labels
 * @property {ReadonlyMap<Key, number>} versions       the versions that `labels` began from
 * @property {Labels} base                             what the server held at those versions
 * @property {readonly StepResult[]} results           the rule's answer for `labels`
 * @property {ReadonlySet<Key>} dirty                  edited and not known to be stored
 * @property {ReadonlyMap<Key, Problem>} problems      what could not be stored, to be told
 * @property {number} focus                            position in `steps`
 * @property {ReadonlySet<number>} seen                message indexes of proposals that have been on screen
 * @property {readonly Labels[]} past                  labels before each undoable action, the last one last
 * @property {readonly Labels[]} future
 * @property {Marks} marks
 * @property {boolean} marksDirty
 * @property {number | null} last                      the step that was judged last, by message index
 * @property {boolean} unasked                         nobody wants to be asked about it
 * @property {Value | null} preset                     the outcome that is shown while none is set
 * @property {boolean} others                          −1 is to be proposed for the options without a label
 */
/**
 * @typedef {{type: "value", key: Key, value: Value | null}
 *   | {type: "edit", key: Key, change: Partial<Pick<Label, "unsure" | "flagged" | "note" | "reason" | "closes">>}
 *   | {type: "root", key: number, root: number}
 *   | {type: "confirm", only?: true}
 *   | {type: "others"}
 *   | {type: "keepMine", key: Key}
 *   | {type: "unasked"}
 *   | {type: "mark", change: Partial<Marks>}
 *   | {type: "focus", position: number}
 *   | {type: "seen", index: number}
 *   | {type: "undo"}
 *   | {type: "redo"}
 *   | {type: "close"}} Action
 */

const UNDO_DEPTH = 200;

/**
 * @param {{open: boolean, rules: Rules, steps: any[], outcome: any, marks?: Marks, preset?: Value | null}} page  what
 *   the page was sent with; of a step only what is said of it
 * @returns {State}
 */
export function initialState(page) {
  /** @type {Map<Key, Label>} */
  const labels = new Map(page.steps.map((step) => [step.message_index, labelOf(step)]));
  labels.set("outcome", labelOf(page.outcome));
  /** @type {Map<Key, number>} */
  const versions = new Map(page.steps.map((step) => [step.message_index, step.version ?? 0]));
  versions.set("outcome", page.outcome.version);
  /** @type {State} */
  const state = {
    open: page.open,
    rules: page.rules,
    steps: page.steps.map((step) => ({ index: step.message_index, afterUserTurn: Boolean(step.after_user_turn) })),
    labels,
    versions,
    results: [],
    dirty: new Set(),
    base: labels,
    problems: new Map(),
    focus: 0,
    seen: new Set(),
    past: [],
    future: [],
    marks: page.marks ?? { needs_discussion: false, broken: false },
    marksDirty: false,
    last: null,
    unasked: false,
    preset: page.preset ?? null,
    others: false,
  };
  const settled = settle(state, labels);
  const first = nextUnlabelled(settled, -1);
  return { ...settled, focus: first ?? 0 };
}

/**
 * @param {State} state
 * @param {Action} action
 * @returns {State} the same object when nothing has changed
 */
export function reduce(state, action) {
  switch (action.type) {
    case "focus":
      return moveFocus(state, action.position);
    case "seen":
      return markSeen(state, action.index);
    case "close":
      return state.open ? { ...state, open: false } : state;
  }
  if (!state.open) return state;
  switch (action.type) {
    case "value":
      return setValue(state, action.key, action.value);
    case "edit":
      return edit(state, action.key, action.change);
    case "root":
      return pinRoot(state, action.key, action.root);
    case "confirm":
      return confirm(state, action.only === true);
    case "others":
      return proposeOthers(state);
    case "keepMine":
      return keepMine(state, action.key);
    case "unasked":
      return stepToExplain(state) === null ? state : { ...state, unasked: true };
    case "mark":
      return { ...state, marks: { ...state.marks, ...action.change }, marksDirty: true };
    case "undo":
      return undoRedo(state, state.past, "past");
    case "redo":
      return undoRedo(state, state.future, "future");
  }
}

/**
 * Bring labels into a state and apply the rule to them, as the server does.
 * @param {State} state
 * @param {Labels} labels
 * @returns {State}
 */
export function settle(state, labels) {
  const inputs = state.steps.map(({ index, afterUserTurn }) => {
    const { value, source, root, root_pinned } = labels.get(index) ?? NO_LABEL;
    return { message_index: index, value, source, root, root_pinned, after_user_turn: afterUserTurn };
  });
  const results = keepSame(state.results, inPlace(inputs, state));
  const settled = new Map(labels);
  for (const { message_index: index, value, source, root, root_pinned } of results) {
    const label = settled.get(index) ?? NO_LABEL;
    if (label.value !== value || label.root !== root || label.root_pinned !== root_pinned) {
      settled.set(index, { ...label, value, source, root, root_pinned });
    }
  }
  return { ...state, labels: settled, results, seen: stillSeen(state, results) };
}

/**
 * The rule's answers in the places of the steps: alternatives are shown in an order of chance, and the rule takes steps
 * in theirs. What it proposes for alternatives is shown once somebody has asked for it.
 * @param {readonly import("./propagation_preview.js").StepInput[]} inputs
 * @param {Pick<State, "rules" | "others">} state
 */
function inPlace(inputs, { rules, others }) {
  if (rules.propagates !== false) return resolve(inputs, rules);
  const inOrder = [...inputs].sort((one, other) => one.message_index - other.message_index);
  const answers = new Map(resolve(inOrder, rules).map((step) => [step.message_index, step]));
  return inputs.flatMap(({ message_index: index }) => {
    const step = answers.get(index);
    return step ? [others ? step : { ...step, proposal: null }] : [];
  });
}

/**
 * Propose −1 for every option that has no label, and go to the first; asked again, take the proposals back.
 * @param {State} state
 */
function proposeOthers(state) {
  const proposed = state.results.some((step) => step.proposal !== null);
  const asked = settle({ ...state, others: !proposed }, state.labels);
  const first = asked.results.findIndex((step) => step.proposal !== null);
  return first < 0 ? asked : moveFocus(asked, first);
}

/**
 * A proposal that changes has not been seen yet.
 * @param {State} state
 * @param {readonly StepResult[]} results
 */
function stillSeen(state, results) {
  const before = new Map(state.results.map((step) => [step.message_index, step.proposal]));
  const kept = results.filter((step) => {
    const was = before.get(step.message_index);
    const now = step.proposal;
    const same = was && now && was.value === now.value && was.root === now.root;
    return same && state.seen.has(step.message_index);
  });
  return new Set(kept.map((step) => step.message_index));
}

/**
 * One undoable action: these labels change.
 * @param {State} state
 * @param {Iterable<[Key, Label]>} changes
 * @returns {State}
 */
function changeLabels(state, changes) {
  const labels = new Map(state.labels);
  const dirty = new Set(state.dirty);
  // a change in another window is news until the next one here
  const problems = new Map([...state.problems].filter(([, { kind }]) => kind !== "elsewhere"));
  for (const [key, label] of changes) {
    labels.set(key, label);
    dirty.add(key);
    problems.delete(key);
  }
  const past = [...state.past.slice(-UNDO_DEPTH + 1), state.labels];
  return settle({ ...state, dirty, problems, past, future: [] }, labels);
}

/**
 * @param {State} state
 * @param {Key} key
 * @param {Value | null} value
 */
function setValue(state, key, value) {
  const label = labelAt(state, key);
  if (key === "outcome") {
    return label.value === value ? agreed(state, key) : changeLabels(state, [[key, { ...label, value, reason: "" }]]);
  }
  if (label.value === value && (value === null || label.source === "explicit")) return agreed(state, key);
  const reason = label.value === value ? label.reason : "";
  /** @type {Label} */
  const changed = {
    ...label,
    value,
    source: value === null ? null : "explicit",
    root: null,
    root_pinned: false,
    closes: "",
    reason,
  };
  return { ...changeLabels(state, [[key, changed]]), last: key, unasked: false };
}

/**
 * Judged as it is stored already: there is nothing left to tell about it.
 * @param {State} state
 * @param {Key} key
 */
function agreed(state, key) {
  if (!state.problems.has(key)) return state;
  return { ...state, problems: new Map([...state.problems].filter(([other]) => other !== key)) };
}

/**
 * After a conflict: what was judged here, after all.
 * @param {State} state
 * @param {Key} key
 */
function keepMine(state, key) {
  const mine = state.problems.get(key)?.mine;
  return mine ? changeLabels(state, [[key, { ...labelAt(state, key), ...judgementOf(mine) }]]) : state;
}

/**
 * @param {State} state
 * @param {Key} key
 * @param {Partial<Label>} change
 */
function edit(state, key, change) {
  const label = labelAt(state, key);
  const edited = { ...label, ...change };
  const same = Object.entries(change).every(([name, value]) => label[/** @type {keyof Label} */ (name)] === value);
  return same ? state : changeLabels(state, [[key, edited]]);
}

/**
 * Choose the root of an explicit −1: the step itself (a new error) or an earlier root. A confirmed fill becomes
 * an explicit label by it: somebody has judged it.
 * @param {State} state
 * @param {number} key
 * @param {number} root
 */
function pinRoot(state, key, root) {
  const label = labelAt(state, key);
  if (label.value !== -1 || label.root === root) return state;
  return changeLabels(state, [[key, { ...label, source: "explicit", root, root_pinned: true }]]);
}

/**
 * @param {State} state
 * @param {boolean} only  the focused step's proposal alone
 */
function confirm(state, only) {
  const positions = confirmable(state).filter((position) => !only || position === state.focus);
  const last = positions.at(-1);
  if (last === undefined) return state;
  /** @type {[Key, Label][]} */
  const changes = [];
  for (const position of positions) {
    const step = state.results[position];
    if (!step?.proposal) continue;
    const label = labelAt(state, step.message_index);
    const { value, root } = step.proposal;
    changes.push([step.message_index, { ...label, value, root, source: "propagated", root_pinned: false, closes: "" }]);
  }
  return moveFocus(changeLabels(state, changes), last + 1);
}

/**
 * @param {State} state
 * @param {number} position
 */
function moveFocus(state, position) {
  const focus = Math.max(0, Math.min(position, state.steps.length - 1));
  return focus === state.focus ? state : { ...state, focus };
}

/**
 * @param {State} state
 * @param {number} index
 */
function markSeen(state, index) {
  const proposed = state.results.some((step) => step.message_index === index && step.proposal);
  return proposed && !state.seen.has(index) ? { ...state, seen: new Set([...state.seen, index]) } : state;
}

/**
 * Undo or redo: back to the labels of another time, as one change of everything that differs.
 * @param {State} state
 * @param {readonly Labels[]} times
 * @param {"past" | "future"} way
 * @returns {State}
 */
function undoRedo(state, times, way) {
  const labels = times.at(-1);
  if (!labels) return state;
  const changed = [...labels].filter(([key, label]) => !sameLabel(label, labelAt(state, key)));
  const moved = changeLabels(state, changed);
  const rest = times.slice(0, -1);
  const history =
    way === "past"
      ? { past: rest, future: [...state.future, state.labels] }
      : { past: [...state.past, state.labels], future: rest };
  const first = changed.map(([key]) => state.steps.findIndex((step) => step.index === key)).find((i) => i >= 0);
  return moveFocus({ ...moved, ...history }, first ?? state.focus);
}
