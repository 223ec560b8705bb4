// What a page does around redrawing a result: keep the keyboard position, show crossed-out words at once, tell screen readers.
import { confidence, shown } from "./answer.js";
import { $ } from "./elements.js";

// The focused element, so that redrawing does not lose the keyboard position.
export function currentFocus() {
  const element = document.activeElement, article = element?.closest?.("#results article");
  if (!article) return null;
  const selector = element.matches(".w") ? `.w[data-index="${element.dataset.index}"]` : element.matches(".bar") ? ".bar" : "summary";
  return { card: [...$("results").children].indexOf(article), selector, index: [...article.querySelectorAll(selector)].indexOf(element) };
}

export function restoreFocus(focus) {
  if (focus === null) return;
  const elements = $("results").children[focus.card]?.querySelectorAll(focus.selector);
  elements?.[Math.min(focus.index, elements.length - 1)]?.focus({ preventScroll: true });
}

// Shows crossed-out words at once, before the result arrives.
export function markCrossed(crossed) {
  for (const span of document.querySelectorAll("#results .w[role]")) {
    const out = crossed.has(Number(span.dataset.index));
    span.classList.toggle("out", out);
    span.setAttribute("aria-pressed", out ? "true" : "false");
  }
}

// A result in one sentence, for screen readers.
export function statusText(run, result) {
  const probability = confidence(result), sure = probability && `, ${probability}`;
  const before = result.before ? `; with all words ${shown(result.before.prediction)}` : "";
  return `${run.name}: ${shown(result.prediction)}${sure}${before}.`;
}
