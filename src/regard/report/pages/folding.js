// Folded parts: opened by a link to them, and all of them for printing.
"use strict";

{
  const unfold = (hash) => {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  };
  let folded = [];

  // also for a link to the part that the address names already, which changes nothing that could be listened to
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) setTimeout(() => unfold(link.hash));
  });
  addEventListener("hashchange", () => unfold(location.hash));
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("main details:not([open]):not(.picker)")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
  unfold(location.hash);
}
