// Fields that shorten a list to the entries that contain what is typed: `data-finds` names the list.
"use strict";

for (const field of document.querySelectorAll("input[data-finds]")) {
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const entries = [...document.getElementById(field.dataset.finds).children];
  const status = document.getElementById(`${field.dataset.finds}-status`);
  field.hidden = false;
  field.addEventListener("input", () => {
    const wanted = plain(field.value.trim());
    for (const entry of entries) entry.hidden = !plain((entry.querySelector(".name") ?? entry).textContent).includes(wanted);
    const left = entries.filter((entry) => !entry.hidden).length;
    if (status) status.textContent = wanted ? `${left} of ${entries.length}` : "";
  });
}
