// Decide about doubtful labels, by keyboard or mouse, and save the whole table with the new ones.
"use strict";

{
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const articles = [...document.querySelectorAll("article[data-row]")];
  const place = new Map(data.numbers.map((number, index) => [number, index]));
  const decisions = new Map(); // row -> label
  const status = document.getElementById("status");
  let current = 0, isSaved = true;

  function select(index) {
    current = index;
    articles.forEach((article, number) => {
      article.tabIndex = number === index ? 0 : -1;
      article.classList.toggle("current", number === index);
    });
  }

  function moveTo(index) {
    if (index < 0 || index >= articles.length) return;
    select(index);
    articles[index].focus({ preventScroll: true });
    articles[index].scrollIntoView({ block: "nearest" });
  }

  function draw(article) {
    const { label, suggested } = article.dataset, decided = decisions.get(Number(article.dataset.row));
    mark(article.querySelector(".accept"), decided === suggested);
    mark(article.querySelector(".leave"), decided === label);
    const line = article.querySelector(".decision");
    line.replaceChildren();
    if (decided === undefined) return;
    const name = document.createElement("bdi");
    name.textContent = decided;
    line.append(decided === label ? "stays " : "becomes ", name);
  }

  function mark(button, isChosen) {
    button.classList.toggle("chosen-button", isChosen);
    button.setAttribute("aria-pressed", String(isChosen));
  }

  function report() {
    const changed = articles.filter((one) => (decisions.get(Number(one.dataset.row)) ?? one.dataset.label) !== one.dataset.label).length;
    status.textContent = `${decisions.size} of ${articles.length} decided, ${changed} changed${isSaved ? "" : "; not saved yet"}`;
  }

  // undefined: undo
  function decide(index, label) {
    const article = articles[index], row = Number(article.dataset.row);
    if (label === undefined) decisions.delete(row);
    else decisions.set(row, label);
    isSaved = false;
    draw(article);
    report();
  }

  function field(value) {
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }

  function corrected() {
    const rows = data.rows.map((row) => [...row]);
    for (const [number, label] of decisions) rows[place.get(number)][data.label] = label;
    return [data.columns, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
  }

  function save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([corrected()], { type: "text/csv;charset=utf-8" }));
    link.download = data.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    isSaved = true;
    report();
  }

  const go = (label) => {
    decide(current, label);
    moveTo(current + 1);
  };
  const keys = {
    j: () => moveTo(current + 1),
    k: () => moveTo(current - 1),
    a: () => go(articles[current].dataset.suggested),
    l: () => go(articles[current].dataset.label),
    o: () => articles[current].querySelector(".other").focus(),
    u: () => decide(current, undefined),
    d: save,
  };
  data.classes.slice(0, 9).forEach((name, index) => (keys[index + 1] = () => go(name)));

  articles.forEach((article, index) => {
    const other = article.querySelector(".other");
    article.addEventListener("focusin", () => select(index));
    article.querySelector(".accept").addEventListener("click", () => decide(index, article.dataset.suggested));
    article.querySelector(".leave").addEventListener("click", () => decide(index, article.dataset.label));
    other.addEventListener("change", () => {
      if (other.value !== "") decide(index, other.tagName === "SELECT" ? data.classes[Number(other.value)] : other.value);
    });
    draw(article);
  });
  document.getElementById("save")?.addEventListener("click", save);
  document.addEventListener("keydown", (event) => {
    if (!articles.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select")) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.tagName === "INPUT")) moveTo(current);
      return;
    }
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("beforeunload", (event) => {
    if (!isSaved) event.preventDefault();
  });
  if (articles.length) select(0);
}
