(() => {
  "use strict";
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));

  // Unfold what a link leads into, before the browser goes there.
  const unfold = (hash) => {
    const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.hidden) at.hidden = false;
    }
    return target;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) unfold(link.getAttribute("href"));
  });
  const arrive = () => {
    const target = unfold(location.hash);
    if (target) target.scrollIntoView();
  };
  window.addEventListener("hashchange", arrive);

  const answers = all("article.answer");
  const entries = all("nav li[data-for]");
  const box = find("#filter");
  const status = find("#matches");
  let texts = null;
  const read = () => answers.map((answer) =>
    all("h2, .text, .sources .title", answer).map((part) => part.textContent).join(" ").toLocaleLowerCase());

  const filter = () => {
    const words = box.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const found = find("input[name=status]:checked").value;
    if (words.length && !texts) texts = read();
    let count = 0;
    answers.forEach((answer, i) => {
      const shown = (!found || answer.dataset.found === found) && words.every((word) => texts[i].includes(word));
      answer.hidden = entries[i].hidden = !shown;
      count += shown;
    });
    status.textContent = words.length || found ? `${count} of ${answers.length} shown` : "";
    find("#no-match").hidden = count > 0 || answers.length === 0;
  };
  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  all("input[name=status]").forEach((choice) => choice.addEventListener("change", filter));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      box.focus();
    }
  });

  const button = find("button.unfold");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Fold all" : "Unfold all";
    all("article.answer details").forEach((part) => { part.open = open; });
  });

  if (answers.length > 1) find(".filter").hidden = button.hidden = false;
  if (matchMedia("(max-width: 60rem)").matches) find(".contents").open = false;
  arrive();
})();
