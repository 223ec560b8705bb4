// Decide about doubtful labels, by keyboard or mouse, and save the whole table with the new ones.
"use strict";

{
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const articles = [...document.querySelectorAll("article[data-doubt]")];
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

  function draw(index) {
    const article = articles[index], { row, label, suggested } = data.doubtful[index], decided = decisions.get(row);
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
    const changed = changes().length;
    status.textContent = `${decisions.size} of ${articles.length} decided, ${changed} changed${isSaved ? "" : "; not saved yet"}`;
  }

  // A label that stays is left as the file has it, which may have spaces around it.
  function changes() {
    return data.doubtful.filter(({ row, label }) => (decisions.get(row) ?? label) !== label);
  }

  // undefined: undo
  function decide(index, label) {
    const { row } = data.doubtful[index];
    if (label === undefined) decisions.delete(row);
    else decisions.set(row, label);
    isSaved = false;
    draw(index);
    report();
  }

  function field(value) {
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  }

  // Whether a spreadsheet would run a cell, by the same rule as for the files that commands write.
  function isFormula(text) {
    return /^[\t\r]*[=+\-@][^]*\w/.test(text) && Number.isNaN(Number(text));
  }

  function corrected() {
    const rows = data.rows.map((row) => [...row]);
    for (const { row } of changes()) rows[place.get(row)][data.label] = decisions.get(row);
    const cells = [data.columns, ...rows];
    const change = escape.checked ? (cell) => (isFormula(cell) ? `'${cell}` : cell) : (cell) => cell;
    return cells.map((row) => row.map((cell) => field(change(cell))).join(",")).join("\r\n") + "\r\n";
  }

  const escape = document.createElement("input");
  escape.type = "checkbox";

  // Beside the button that saves, if there are such cells: training needs them as they are, spreadsheets run them.
  function offerEscaping() {
    const count = [data.columns, ...data.rows].flat().filter(isFormula).length, line = document.createElement("label");
    const cells = count === 1 ? "1 cell begins" : `${count} cells begin`;
    line.append(escape, ` ${cells} like a formula, which a spreadsheet would run: put ' before each`);
    if (count > 0) document.getElementById("save")?.after(line);
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
    a: () => go(data.doubtful[current].suggested),
    l: () => go(data.doubtful[current].label),
    o: () => articles[current].querySelector(".other").focus(),
    u: () => decide(current, undefined),
    d: save,
  };
  data.classes.slice(0, 9).forEach((name, index) => (keys[index + 1] = () => go(name)));

  articles.forEach((article, index) => {
    const other = article.querySelector(".other");
    article.addEventListener("focusin", () => select(index));
    article.querySelector(".accept").addEventListener("click", () => decide(index, data.doubtful[index].suggested));
    article.querySelector(".leave").addEventListener("click", () => decide(index, data.doubtful[index].label));
    other.addEventListener("change", () => {
      if (other.value !== "") decide(index, other.tagName === "SELECT" ? data.classes[Number(other.value)] : other.value);
    });
    draw(index);
  });
  document.getElementById("save")?.addEventListener("click", save);
  offerEscaping();
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
