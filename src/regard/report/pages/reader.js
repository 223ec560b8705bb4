// The list of texts: which are wanted, fifty to a page, drawn as far as one has scrolled; explainers; keyboard navigation.
"use strict";

{
  const PAGE = 50, STEP = 5; // texts of a page, and how many of them are drawn at a time
  const part = (id) => document.getElementById(id);
  const feed = part("feed"), end = part("feed-end");
  // the texts after the first page wait in a template, where they are parsed but not drawn
  const articles = [...feed.children, ...(part("more-texts")?.content.children ?? [])];
  const choices = { correct: part("correctness"), actual: part("actual-class"), predicted: part("predicted-class") };
  const many = (count) => count.toLocaleString("en");
  let wanted = articles, first = 0, words = null;

  // the words of the first view, as the others show the same text again, without what is only read out by screen readers
  function wordsOf(article) {
    const texts = [...(article.querySelector(".view") ?? article).querySelectorAll(".text")];
    return plain(texts.map((text) => [...text.childNodes].map((node) => (node.className === "visually-hidden" ? "" : node.textContent)).join("")).join(" "));
  }

  function plain(text) {
    return text.normalize("NFKC").toLowerCase();
  }

  function filter() {
    const query = plain(part("text-search").value.trim());
    if (query) words ??= articles.map(wordsOf);
    wanted = articles.filter((article, index) =>
      Object.entries(choices).every(([name, choice]) => !choice?.value || article.dataset[name].split(" ").includes(choice.value)) && (!query || words[index].includes(query)));
    wanted.forEach((article, index) => {
      article.setAttribute("aria-posinset", index + 1);
      article.setAttribute("aria-setsize", wanted.length);
    });
    turn(0);
  }

  // Show the page that begins with this text.
  function turn(to) {
    first = to;
    feed.replaceChildren();
    draw(STEP);
    rove(wanted[first]);
    const last = Math.min(first + PAGE, wanted.length), pages = wanted.length > PAGE;
    const of = pages ? `${many(first + 1)}–${many(last)} of ${many(wanted.length)}` : `${many(wanted.length)} of ${many(articles.length)}`;
    part("count").textContent = wanted.length ? `${of} shown` : "no matching texts";
    for (const pager of document.querySelectorAll(".pager")) {
      pager.hidden = !pages;
      pager.querySelector(".previous").disabled = first === 0;
      pager.querySelector(".next").disabled = last === wanted.length;
      pager.querySelector(".position").textContent = `page ${many(first / PAGE + 1)} of ${many(Math.ceil(wanted.length / PAGE))}`;
    }
  }

  // Draw more of this page's texts, now and whenever the end comes near.
  const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && draw(STEP), { rootMargin: "800px" });
  function draw(count) {
    const from = first + feed.children.length, last = Math.min(first + PAGE, wanted.length);
    feed.append(...wanted.slice(from, Math.min(from + count, last)));
    observer.unobserve(end);
    if (first + feed.children.length < last) observer.observe(end); // observed anew, it reports again if it is still near
  }

  // Only one text at a time is in the tab order.
  function rove(article) {
    for (const other of articles) other.tabIndex = other === article ? 0 : -1;
  }

  function turnBy(pages) {
    turn(first + pages * PAGE);
    part("texts").scrollIntoView();
    wanted[first].focus({ preventScroll: true });
  }

  function reach(index) {
    if (index < first || index >= first + PAGE) turn(index - (index % PAGE));
    draw(Math.max(index - first - feed.children.length + STEP, 0)); // and some below, so that it can be scrolled to the top
    return wanted[index];
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
    const to = wanted.indexOf(from) + step;
    if (!wanted[to]) return;
    event.preventDefault();
    const next = reach(to);
    rove(next);
    next.focus();
  }

  // A link to a text that is on another page, or hidden by a filter.
  function follow() {
    const target = articles.find((article) => article.id === location.hash.slice(1));
    if (!target) return;
    if (!wanted.includes(target)) {
      for (const choice of [...Object.values(choices), part("text-search")]) if (choice) choice.value = "";
      filter();
    }
    reach(wanted.indexOf(target)).scrollIntoView();
  }

  for (const choice of Object.values(choices)) choice?.addEventListener("change", filter);
  part("text-search").addEventListener("input", filter);
  part("method")?.addEventListener("change", showMethod);
  for (const pager of document.querySelectorAll(".pager")) {
    pager.querySelector(".previous").addEventListener("click", () => turnBy(-1));
    pager.querySelector(".next").addEventListener("click", () => turnBy(1));
  }
  feed.addEventListener("keydown", walk);
  feed.addEventListener("focusin", (event) => rove(event.target.closest("article")));
  addEventListener("beforeprint", () => draw(PAGE));
  addEventListener("hashchange", follow);
  part("filters").hidden = part("keys").hidden = false;
  if (part("method")) showMethod();
  filter();
  follow();
}
