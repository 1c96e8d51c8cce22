// @ts-check
/**
 * Small comforts for every page. Everything works without them: they never do what the server should.
 */

import { goToFirstError } from "../lib/form_errors.js";
import { listenForPalette } from "./palette.js";

/** A form that is sent once cannot be sent twice; coming back with the back button frees it again. */
function guardForms() {
  // On the window, so that a page's own script has had its say before.
  window.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    const button = event.submitter;
    if (button instanceof HTMLElement) button.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      form.removeAttribute("data-sent");
      for (const busy of form.querySelectorAll("[aria-busy]")) busy.removeAttribute("aria-busy");
    }
  });
}

/** Buttons with data-copy="ID" copy the value of the field with that id, and say so. */
function copyButtons() {
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    const field = document.getElementById(button.dataset.copy ?? "");
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      return; // the text is selected: Ctrl+C is one key away
    }
    const before = button.textContent;
    button.textContent = button.dataset.done ?? before;
    setTimeout(() => (button.textContent = before), 1500);
  });
}

/**
 * Buttons with data-dialog="ID" open a native dialog; those with data-close close the one they stand in.
 * `command` does the same without a script; for browsers that do not know it yet, it is done here.
 */
function dialogs() {
  const native = "commandForElement" in HTMLButtonElement.prototype;
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const commander = native ? null : target?.closest("button[commandfor]");
    const commanded = document.getElementById(commander?.getAttribute("commandfor") ?? "");
    if (commanded instanceof HTMLDialogElement) {
      if (commander?.getAttribute("command") === "close") commanded.close();
      else commanded.showModal();
    }
    const opener = target?.closest("[data-dialog]");
    if (opener instanceof HTMLElement) {
      const dialog = document.getElementById(opener.dataset.dialog ?? "");
      if (dialog instanceof HTMLDialogElement) dialog.showModal();
    }
    const closer = target?.closest("[data-close]");
    const open = closer?.closest("dialog");
    if (open instanceof HTMLDialogElement) open.close();
  });
}

/** Menus close on Escape and on a click elsewhere. */
function menus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (event.target instanceof Node && !menu.contains(event.target)) menu.removeAttribute("open");
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      event.preventDefault(); // it has done what it was pressed for
      menu.removeAttribute("open");
      const summary = menu.querySelector("summary");
      if (summary instanceof HTMLElement && menu.contains(document.activeElement)) summary.focus();
    }
  });
}

/** Fields with data-autosubmit send their form when they change (filters; the button stays for others). */
function autoSubmit() {
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (field instanceof HTMLSelectElement && field.dataset.autosubmit !== undefined) field.form?.requestSubmit();
  });
}

/**
 * Rows of a list are chosen by boxes with `form="ID"`: data-choose-all="ID" chooses all of them, and the form says how
 * many are chosen.
 */
function choosing() {
  for (const form of document.querySelectorAll("form[data-chosen]")) {
    if (!(form instanceof HTMLFormElement)) continue;
    /** @type {NodeListOf<HTMLInputElement>} */
    const all = document.querySelectorAll(`input[data-choose-all="${form.id}"]`);
    /** @type {NodeListOf<HTMLInputElement>} */
    const rows = document.querySelectorAll(`input[name="chosen"][form="${form.id}"]`);
    const boxes = [...rows];
    const count = form.querySelector("[data-words]");
    const buttons = form.querySelectorAll("button");
    const show = () => {
      const chosen = boxes.filter((box) => box.checked).length;
      form.dataset.chosen = String(chosen);
      if (count instanceof HTMLElement) count.textContent = (count.dataset.words ?? "").replace("{n}", String(chosen));
      for (const button of buttons) button.disabled = !chosen;
      for (const box of all) {
        box.checked = chosen === boxes.length;
        box.indeterminate = chosen > 0 && chosen < boxes.length;
      }
    };
    for (const box of all) {
      box.closest("[hidden]")?.removeAttribute("hidden");
      box.addEventListener("change", () => {
        for (const one of boxes) one.checked = box.checked;
        show();
      });
    }
    document.addEventListener("change", (event) => {
      if (event.target instanceof HTMLInputElement && boxes.includes(event.target)) show();
    });
    // the browser may have kept the boxes from before
    window.addEventListener("pageshow", show);
    show();
  }
}

/** On a narrow page the navigation is a strip: bring the current page's entry into view. */
function showCurrent() {
  const current = document.querySelector(".sidenav [aria-current]");
  const strip = current?.closest(".sidenav");
  if (current instanceof HTMLElement && strip instanceof HTMLElement && strip.scrollWidth > strip.clientWidth) {
    strip.scrollLeft = current.offsetLeft - strip.clientWidth / 3;
  }
}

guardForms();
copyButtons();
dialogs();
menus();
autoSubmit();
choosing();
showCurrent();
goToFirstError(document);
listenForPalette();
