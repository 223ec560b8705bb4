// The list of texts: which are shown, with which explainer, and keyboard navigation.
"use strict";

{
  const part = (id) => document.getElementById(id);
  const feed = part("feed"), articles = [...feed.children];
  // the words of the first view: the others show the same text again
  const words = articles.map((article) => plain([...article.querySelector(".view").querySelectorAll(".text")].map(written).join(" ")));
  const choices = { correct: part("correctness"), actual: part("actual-class"), predicted: part("predicted-class") };

  // without what is only read out by screen readers
  function written(text) {
    return [...text.childNodes].map((node) => (node.className === "visually-hidden" ? "" : node.textContent)).join("");
  }

  function plain(text) {
    return text.normalize("NFKC").toLowerCase();
  }

  function isWanted(article, index) {
    const query = plain(part("text-search").value.trim());
    const chosen = Object.entries(choices).every(([name, choice]) => !choice?.value || article.dataset[name] === choice.value);
    return chosen && (!query || words[index].includes(query));
  }

  function show() {
    articles.forEach((article, index) => (article.hidden = !isWanted(article, index)));
    const shown = articles.filter((article) => !article.hidden);
    shown.forEach((article, index) => {
      article.setAttribute("aria-posinset", index + 1);
      article.setAttribute("aria-setsize", shown.length);
    });
    part("count").textContent = shown.length ? `${shown.length} of ${articles.length} shown` : "no matching texts";
    rove(shown[0]);
  }

  // Only one text at a time is in the tab order.
  function rove(article) {
    for (const other of articles) other.tabIndex = other === article ? 0 : -1;
  }

  function showMethod() {
    const method = part("method").value;
    for (const article of articles) {
      const views = [...article.querySelectorAll(".view")];
      const has = views.some((view) => view.dataset.method === method);
      for (const view of views) view.hidden = has && view.dataset.method !== method; // a text without this explainer keeps its views
    }
  }

  function walk(event) {
    const step = { PageDown: 1, PageUp: -1 }[event.key], from = event.target.closest("article");
    if (!step || !from) return;
    const shown = articles.filter((article) => !article.hidden);
    const next = shown[shown.indexOf(from) + step];
    if (!next) return;
    event.preventDefault();
    rove(next);
    next.focus();
  }

  for (const choice of Object.values(choices)) choice?.addEventListener("change", show);
  part("text-search").addEventListener("input", show);
  part("method")?.addEventListener("change", showMethod);
  feed.addEventListener("keydown", walk);
  feed.addEventListener("focusin", (event) => rove(event.target.closest("article")));
  part("filters").hidden = part("keys").hidden = false;
  show();
}
