// The token of a server that asks for one. It is kept for this tab only and sent only by these scripts: a cookie would be sent with
// requests of other pages, and to other servers on the same host, whatever their port.
import { make } from "./elements.js";

const KEY = "regard-token";
let asking = null; // one dialog for all requests that wait

export const currentToken = () => sessionStorage.getItem(KEY);

// Resolves when there is another token than the refused one.
export async function otherToken(refused) {
  if (currentToken() !== refused) return;
  asking ??= ask(refused).finally(() => (asking = null));
  await asking;
}

function ask(refused) {
  const field = make("input", { type: "password", id: "token", autocomplete: "off", required: true, pattern: "[!-~]+" });
  const problem = make("p", { class: "alert", role: "alert" }, "This is not the token of this server.");
  problem.hidden = refused === null;
  const form = make(
    "form",
    { method: "dialog" },
    make("p", {}, make("label", { for: "token" }, "This server asks for a token.")),
    problem,
    make("p", { class: "tools" }, field, make("button", { class: "main" }, "Continue")),
    make("p", { class: "note" }, "It is kept until this tab is closed."),
  );
  const dialog = make("dialog", { class: "card", "aria-label": "Token" }, form);
  document.body.append(dialog);
  dialog.addEventListener("cancel", (event) => event.preventDefault()); // nothing works without it
  dialog.showModal();
  return new Promise((done) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, field.value.trim());
      dialog.remove();
      done();
    });
  });
}
