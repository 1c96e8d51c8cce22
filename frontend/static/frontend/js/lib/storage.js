// @ts-check

/** The browser's storage; it may be refused altogether. @returns {Storage | null} */
export function ownStorage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
