// Which types of tokens the scatter plot shows: a button per type, or for many types a list to choose from, with a search.
"use strict";

function makeKinds(scatter, redraw) {
  const buttons = [...document.querySelectorAll(".kind")], picker = document.querySelector(".picker");
  const boxes = picker ? [...picker.querySelectorAll("input[type=checkbox]")] : [];
  const kindOf = (element) => Number(element.dataset.kind);

  // Nothing chosen in the list: every type is shown.
  function choose() {
    const chosen = boxes.filter((box) => box.checked);
    scatter.hidden = new Set(chosen.length ? boxes.filter((box) => !box.checked).map(kindOf) : []);
    picker.querySelector("summary span").textContent = chosen.length ? `${chosen.length} of ${boxes.length} shown` : `all ${boxes.length} shown`;
    document.getElementById("chosen").replaceChildren(...chosen.map(chip));
    redraw();
  }

  function chip(box) {
    const { name } = scatter.data.kinds[kindOf(box)];
    const button = element("button", "", [box.parentElement.querySelector("svg").cloneNode(true), element("bdi", "", [name])]);
    button.type = "button";
    button.setAttribute("aria-label", `Hide ${name}`);
    button.addEventListener("click", () => {
      box.checked = false;
      choose();
      picker.querySelector("summary").focus();
    });
    return button;
  }

  function show() {
    for (const button of buttons) button.setAttribute("aria-pressed", String(!scatter.hidden.has(kindOf(button))));
    redraw();
  }

  for (const button of buttons) {
    button.addEventListener("click", () => {
      const kind = kindOf(button);
      if (!scatter.hidden.delete(kind)) scatter.hidden.add(kind);
      show();
    });
  }
  for (const box of boxes) box.addEventListener("change", choose);
  picker?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !picker.open) return;
    picker.open = false;
    picker.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (picker && !picker.contains(event.target)) picker.open = false;
  });

  return {
    reveal(kind) {
      if (!scatter.hidden.has(kind)) return;
      if (!picker) {
        scatter.hidden.delete(kind);
        return show();
      }
      boxes.find((box) => kindOf(box) === kind).checked = true;
      choose();
    },
  };
}
