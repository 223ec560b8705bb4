// The time plots: values of the mark that is pointed at or focused, arrow keys between the marks, and one system in all plots.
"use strict";

{
  const tip = document.getElementById("tip"), marks = [...document.querySelectorAll(".mark")];
  const keys = [...document.querySelectorAll(".keys button")];
  let pinned = null; // number of the system that a key has selected

  function emphasise(system) {
    for (const mark of marks) mark.classList.toggle("off", system !== null && mark.dataset.system !== system);
  }

  function show(mark) {
    const name = document.createElement("strong");
    name.textContent = mark.dataset.name;
    tip.replaceChildren(name, mark.dataset.values);
    tip.hidden = false;
    const box = mark.getBoundingClientRect(), width = tip.offsetWidth, height = tip.offsetHeight;
    const left = Math.min(Math.max(box.left + box.width / 2 - width / 2, 8), document.documentElement.clientWidth - width - 8);
    const above = box.top - height - 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${above < 4 ? box.bottom + 6 : above}px`;
    emphasise(mark.dataset.system);
  }

  function hide() {
    tip.hidden = true;
    emphasise(pinned);
  }

  for (const mark of marks) {
    mark.addEventListener("pointerenter", () => show(mark));
    mark.addEventListener("pointerleave", hide);
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("blur", hide);
  }
  addEventListener("scroll", () => { if (!tip.hidden && !document.activeElement.matches(".mark")) hide(); }, { passive: true });

  // One mark of each plot is reached with Tab, the others from it with the arrow keys, from left to right.
  for (const figure of document.querySelectorAll(".points")) {
    const row = [...figure.querySelectorAll(".mark")];
    const enter = (chosen) => row.forEach((mark, index) => mark.setAttribute("tabindex", index === chosen ? "0" : "-1"));
    enter(0);
    row.forEach((mark, index) => {
      mark.addEventListener("focus", () => enter(index));
      mark.addEventListener("keydown", (event) => {
        const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -row.length, End: row.length };
        if (event.key === "Escape") return hide();
        if (!(event.key in steps)) return;
        event.preventDefault();
        row[Math.min(Math.max(index + steps[event.key], 0), row.length - 1)].focus();
      });
    });
  }

  for (const key of keys) {
    const system = key.dataset.system;
    key.addEventListener("click", () => {
      pinned = pinned === system ? null : system;
      for (const other of keys) other.setAttribute("aria-pressed", String(other.dataset.system === pinned));
      emphasise(pinned);
    });
    key.addEventListener("pointerenter", () => emphasise(system));
    key.addEventListener("pointerleave", () => emphasise(pinned));
  }
}
