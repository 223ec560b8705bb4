// The search box: a list of tokens that contain the query, navigable with the arrow keys.
"use strict";

const LISTED = 50;

function matches(scatter, typed) {
  const wanted = typed.trim().normalize().toLowerCase(), found = [];
  if (!wanted) return null;
  scatter.data.token.forEach((token, k) => {
    const at = token.normalize().toLowerCase().indexOf(wanted);
    if (at < 0) return;
    const rank = token.length === wanted.length ? 0 : at === 0 ? 1 : 2; // exact match, prefix, others
    found.push([rank, -(scatter.data.count[k] ?? 0), k]);
  });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((entry) => entry[2]);
}

// `marked` gets the set of matches (null: empty query), `chosen` the token that was selected.
function makeSearch(scatter, { input, list, status }, marked, chosen) {
  let found = [], active = -1;

  function search() {
    const hits = matches(scatter, input.value);
    found = (hits ?? []).slice(0, LISTED);
    status.textContent = hits === null ? "" : summary(hits.length, input.value.trim());
    list.replaceChildren(...found.map(option));
    open(found.length > 0); // without matches, the message stays
    marked(hits && new Set(hits));
  }

  function summary(count, typed) {
    if (!count) return `No token contains “${typed}”.`;
    return `${count.toLocaleString("en")} token${count === 1 ? "" : "s"}` + (count > LISTED ? `, the first ${LISTED} listed` : "");
  }

  function option(k, index) {
    const { token, kind, polarity, kinds } = scatter.data;
    const label = element("bdi", "", [token[k]]), note = `${kinds[kind[k]].name}, ${written(polarity[k])}`;
    const node = element("li", "", [label, element("span", "note", [note])]);
    node.id = `search-result-${index}`;
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", "false");
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // keep the focus in the search box
      take(index);
    });
    return node;
  }

  function open(yes) {
    list.hidden = !yes;
    if (!yes && found.length) status.textContent = "";
    input.setAttribute("aria-expanded", String(yes));
    walk(-1);
  }

  function walk(index) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = index;
    const now = list.children[active];
    if (!now) return input.removeAttribute("aria-activedescendant");
    now.setAttribute("aria-selected", "true");
    now.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", now.id);
  }

  function take(index) {
    if (!found.length) return;
    const k = found[Math.max(index, 0)];
    open(false);
    chosen(k);
  }

  const keys = {
    ArrowDown: () => (list.hidden ? search() : walk((active + 1) % found.length)),
    ArrowUp: () => (list.hidden ? search() : walk(active > 0 ? active - 1 : found.length - 1)),
    Enter: () => take(active),
    Escape: () => (list.hidden ? clear() : open(false)),
  };

  function clear() {
    input.value = "";
    search();
  }

  input.addEventListener("input", search);
  input.addEventListener("focus", search);
  input.addEventListener("blur", () => (open(false), (status.textContent = "")));
  input.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.isComposing) return;
    event.preventDefault();
    keys[event.key]();
  });
}
