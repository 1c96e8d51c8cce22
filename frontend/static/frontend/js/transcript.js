// @ts-check
/** Long texts of a trajectory open and close in place, on every page that shows one. */

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-unfold]") : null;
  const text = button?.previousElementSibling;
  if (!(button instanceof HTMLElement) || !text) return;
  const open = text.classList.toggle("text--folded") === false;
  button.setAttribute("aria-expanded", String(open));
  for (const words of button.querySelectorAll("[data-when]")) {
    if (words instanceof HTMLElement) words.hidden = (words.dataset.when === "open") !== open;
  }
});
