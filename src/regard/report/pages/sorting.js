// Tables that can be sorted by each of their columns: first the largest number, or the first name, then the other way.
"use strict";

{
  const number = (text) => parseFloat(text.replace("−", "-").replace("<", "").replaceAll(",", ""));
  const written = (row, column) => row.cells[column].textContent.trim();

  function sort(table, column) {
    const head = table.tHead.rows[0].cells, rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => written(row, column));
    const numeric = texts.every((text) => text === "" || text === "–" || !Number.isNaN(number(text)));
    const before = head[column].getAttribute("aria-sort");
    const order = before === "none" ? (numeric ? "descending" : "ascending") : before === "ascending" ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const missing = (text) => numeric && Number.isNaN(number(text));
    rows.sort((a, b) => {
      const one = written(a, column), other = written(b, column);
      if (missing(one) || missing(other)) return missing(one) - missing(other); // a dash is last in both orders
      return sign * (numeric ? number(one) - number(other) : one.localeCompare(other, undefined, { numeric: true }));
    });
    for (const cell of head) cell.setAttribute("aria-sort", "none");
    head[column].setAttribute("aria-sort", order);
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...cell.childNodes);
      button.addEventListener("click", () => sort(table, column));
      cell.append(button);
      cell.setAttribute("aria-sort", "none");
    });
  }
}
