(() => {
  "use strict";
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const answers = all("article.answer");
  const entries = all("nav .contents li");

{% include "timeline.js" %}

  // ---- The graph of an answer, drawn when it is opened: boxes from the lists beside it, places from its numbers.
  const TOP = 34, ROW = 42, SPACE = 14, LINE = 14, PADDING = 11, GAP = 46, QUESTION = 140;
  const pen = document.createElement("canvas").getContext("2d");
  const font = (weight, size) => `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;

  const wrapped = (text, width, lines, style) => {
    pen.font = style;
    const fits = (words) => pen.measureText(words).width <= width;
    const out = [""];
    for (const word of text.split(/\s+/)) {
      const joined = out[out.length - 1] ? `${out[out.length - 1]} ${word}` : word;
      if (fits(joined)) { out[out.length - 1] = joined; continue; }
      if (out[out.length - 1]) out.push("");
      for (const char of word) {
        if (out[out.length - 1] && !fits(out[out.length - 1] + char)) out.push("");
        out[out.length - 1] += char;
      }
      if (out.length > lines) break;
    }
    if (out.length <= lines) return out;
    let last = out[lines - 1];
    while (last && !fits(`${last}…`)) last = Array.from(last).slice(0, -1).join("").trimEnd();
    return [...out.slice(0, lines - 1), `${last}…`];
  };

  const contentsOf = (part) => {
    const answer = part.closest("article");
    const nodes = all(".nodes", part).map((column) => ({
      name: find("h4", column).textContent,
      more: find("p", column) ? find("p", column).textContent : "",
      boxes: all("li", column).map((node) => ({
        kind: node.className === "way" ? "way" : "node",
        value: find("i", node).textContent,
        text: find("i", node).nextSibling.textContent.trim(),
        note: find("em", node) ? find("em", node).textContent : "",
      })),
    }));
    const chunks = all(".evidence > ol > li", answer).map((chunk) => ({
      kind: "chunk",
      text: `${find(".rank", chunk).textContent} · ${find("h4 bdi", chunk).textContent}`,
      href: `#${chunk.id}`,
    }));
    const question = { kind: "question", text: find("h2", answer).textContent };
    return [{ name: "Question", boxes: [question] }, ...nodes, { name: "Chunks", boxes: chunks }];
  };

  const linesOf = (box, width) => {
    const room = width - 2 * PADDING;
    const style = font({ question: 550, chunk: 600 }[box.kind] || 400, 11.5);
    if (!box.note) return wrapped(box.text, room, box.kind === "question" ? 7 : 2, style);
    // Questions of one document begin alike, answers tell them apart: a line each.
    return [box.text, box.note].flatMap((text) => wrapped(text, room, 1, style));
  };

  const drawBox = (box, svg) => {
    const label = [box.text, box.note, box.value].filter(Boolean).join(", ");
    const parent = box.href ? element("a", { href: box.href, "aria-label": `Chunk: ${label}` }, svg) : svg;
    const group = element("g", { class: box.kind, transform: `translate(${box.x} ${box.y})` }, parent);
    if (!box.href) { group.setAttribute("role", "img"); group.setAttribute("aria-label", label); }
    element("title", {}, group, label);
    element("rect", { width: box.width, height: box.height, rx: 7 }, group);
    const top = box.height / 2 - 7 * box.lines.length + (box.value ? 12.5 : 11);
    box.lines.forEach((line, i) => {
      element("text", { x: PADDING, y: top + LINE * i, class: box.note && i ? "second" : "" }, group, line);
    });
    if (!box.value) return;
    const wide = 12 + 6 * box.value.length;
    element("rect", { class: "pill", x: box.width - wide - 9, y: -10, width: wide, height: 16, rx: 8 }, group);
    element("text", { class: "value", x: box.width - 9 - wide / 2, y: 1.5, "text-anchor": "middle" }, group, box.value);
  };

  const drawEdge = ([from, to, tenths, ...lanes], boxes, left, width, parent) => {
    const start = boxes[from], end = boxes[to];
    let x = start.x + start.width, y = start.y + start.height / 2, d = `M${x} ${y}`;
    const stops = lanes.map((lane, i) => [left(start.column + 1 + i), lane]).concat([[end.x, end.y + end.height / 2]]);
    stops.forEach(([at, height], i) => {
      const bend = (x + at) / 2;
      d += `C${bend} ${y} ${bend} ${height} ${at} ${height}`;
      [x, y] = [at, height];
      if (i < stops.length - 1) d += `H${x += width}`;
    });
    element("path", { d, "stroke-width": 1 + 0.35 * tenths, "stroke-opacity": 0.3 + 0.06 * tenths }, parent);
  };

  const draw = (part) => {
    const [height, even, links] = JSON.parse(part.dataset.graph);
    const tops = even.map(([y, more, ...rest]) => (more < 0
      ? Array.from({ length: -more }, (_, i) => y + i * (ROW + SPACE)) : [y, more, ...rest].filter((top) => top !== undefined)));
    const edges = links.flatMap(([before, chunk, tenths, ...lanes], i) => [
      before >= 0 && [before, i + 1, tenths], chunk && [i + 1, chunk, tenths, ...lanes],
    ]).filter(Boolean).sort((one, other) => one[2] - other[2]);
    const columns = contentsOf(part);
    const last = tops.length - 1;
    const width = Math.max(176, Math.min(300, (part.clientWidth - 36 - QUESTION - last * GAP) / last));
    const left = (column) => (column ? QUESTION + GAP + (column - 1) * (width + GAP) : 1);
    const full = left(last) + width + 1;
    const svg = element("svg", { width: full, height, viewBox: `0 0 ${full} ${height}`, role: "group", "aria-label": "Picture of the path" });
    const heads = element("g", { class: "heads", "aria-hidden": "true" }, svg);
    const lines = element("g", { class: "edges", "aria-hidden": "true" }, svg);
    const boxes = [];
    tops.forEach((ys, column) => {
      element("text", { x: left(column), y: 14 }, heads, columns[column].name);
      ys.forEach((y, i) => {
        const box = { ...columns[column].boxes[i], column, x: left(column), y, width: column ? width : QUESTION - 1 };
        box.lines = linesOf(box, box.width);
        box.height = column ? ROW : Math.max(ROW, box.lines.length * LINE + 18);
        if (!column) box.y = TOP + (height - TOP - 8 - box.height) / 2;
        boxes.push(box);
      });
      if (columns[column].more) {
        element("text", { class: "more", x: left(column) + PADDING, y: Math.max(TOP, ...ys) + ROW + 18 }, svg, columns[column].more);
      }
    });
    edges.forEach((edge) => drawEdge(edge, boxes, left, width, lines));
    boxes.forEach((box) => drawBox(box, svg));
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", `Picture of the path of question ${find(".number", part.closest("article")).textContent}, scrolls sideways`);
    scroll.append(svg);
    find("summary", part).after(scroll);
    part.classList.add("drawn");
  };

  // ---- The timeline of an answer: its list is made of the places of its sentences when it is opened.
  const dateWords = (from, to) => {
    const [one, other] = [dayOf(from), dayOf(to)];
    const words = (day) => `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
    if (from === to) return words(one);
    const ends = other.getUTCMonth() !== dayOf(to + 1).getUTCMonth();
    if (one.getUTCDate() > 1 || !ends) return `${words(one)} – ${words(other)}`;
    const year = other.getUTCFullYear(), same = one.getUTCFullYear() === year;
    if (same && one.getUTCMonth() === 0 && other.getUTCMonth() === 11) return String(year);
    if (same && one.getUTCMonth() === other.getUTCMonth()) return `${MONTHS[other.getUTCMonth()]} ${year}`;
    return `${MONTHS[one.getUTCMonth()]}${same ? "" : ` ${one.getUTCFullYear()}`} – ${MONTHS[other.getUTCMonth()]} ${year}`;
  };
  const charactersOf = (text, start, length) => Array.from(text).slice(start, start + length).join("");
  const marksOf = (passage, start, length) => {
    all("mark.event", passage).forEach((mark) => { mark.replaceWith(...mark.childNodes); });
    passage.normalize();
    const walk = document.createTreeWalker(passage, NodeFilter.SHOW_TEXT), parts = [];
    let at = 0;
    while (walk.nextNode()) {
      const letters = Array.from(walk.currentNode.data);
      const from = Math.max(0, start - at), to = Math.min(letters.length, start + length - at);
      if (from < to) parts.push([walk.currentNode, letters.slice(0, from).join("").length, letters.slice(0, to).join("").length]);
      at += letters.length;
    }
    return parts.map(([node, from, to]) => {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      const mark = htmlPart("mark", { class: "event" });
      range.surroundContents(mark);
      return mark;
    });
  };
  const leadTo = (link, chunk, start, length) => link.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    unfold(`#${chunk.id}`);
    const [mark] = marksOf(find(".passage", chunk), start, length);
    mark.tabIndex = -1;
    mark.focus({ preventScroll: true });
    mark.scrollIntoView({ block: "center" });
  });
  const listOf = (part) => {
    const numbers = part.dataset.events.split(",").map(Number), answer = part.closest("article");
    const chunks = all(".evidence > ol > li", answer);
    const outer = htmlPart("ol", { class: "units" });
    let list = null, year = null, before = 0;
    for (let n = 0; n < numbers.length; n += 6) {
      const [since, days, place, start, length, told] = numbers.slice(n, n + 6);
      const from = before += since, to = from + days;
      const passage = find(".passage", chunks[place]);
      if (dayOf(from).getUTCFullYear() !== year) {
        year = dayOf(from).getUTCFullYear();
        const unit = htmlPart("li", { class: "unit" }, outer);
        htmlPart("h4", {}, unit, String(year));
        list = htmlPart("ol", {}, unit);
      }
      const item = htmlPart("li", { "data-when": `${from},${to},${told}`, class: from < to ? "vague" : "" }, list);
      htmlPart("time", {}, item, dateWords(from, to));
      const text = charactersOf(passage.textContent, start, length).replace(/\s+/g, " ").trim();
      const link = htmlPart("a", { class: "what", dir: "auto", href: `#${chunks[place].id}` }, item, text);
      if (told) htmlPart("em", {}, item, told & 1 ? "expected" : "report’s date");
      leadTo(link, chunks[place], start, length);
    }
    part.append(outer);
  };
  const tell = (part) => {
    part.classList.add("drawn");
    listOf(part);
    drawTimeline(part);
  };

  // ---- Which words of a chunk match which of the question: a list beside each chunk, made when the evidence is opened.
  const align = (part) => {
    const [understood, places, ...hits] = part.dataset.align.split("|");
    const answer = part.closest("article");
    const question = Array.from(find(understood ? ".notes li bdi" : "h2", answer).textContent);
    const parts = places.split(",").map((place) => place.split(".").map(Number))
      .map(([start, length]) => question.slice(start, start + length).join(""));
    all(":scope > ol > li", part).forEach((chunk, n) => {
      const [first, matches] = (hits[n] || ":").split(":");
      const fields = matches.split(","), passage = find(".passage", chunk);
      const words = `${fields.filter(Boolean).length} of ${parts.length} ${parts.length === 1 ? "part" : "parts"} of the question`;
      const list = htmlPart("details", { class: "align" });
      htmlPart("summary", {}, list, words);
      const pairs = htmlPart("ul", {}, list);
      parts.forEach((text, i) => {
        const pair = htmlPart("li", {}, pairs), field = fields[i];
        htmlPart("bdi", {}, pair, text);
        pair.append(" → ");
        if (!field || field === "t") { htmlPart("em", {}, pair, field ? "title" : "not here"); return; }
        const [from, length] = field.split(".").map(Number), start = Number(first) + from;
        const link = htmlPart("a", { dir: "auto", href: `#${chunk.id}` }, pair);
        link.textContent = charactersOf(passage.textContent, start, length).replace(/\s+/g, " ").trim();
        leadTo(link, chunk, start, length);
      });
      find(".facts", chunk).after(list);
    });
    part.removeAttribute("data-align");
  };

  const opened = (part) => {
    if (!part.open) return;
    if (part.matches(".path") && !part.matches(".drawn")) draw(part);
    if (part.matches(".timeline") && !part.matches(".drawn")) tell(part);
    if (part.matches(".evidence")) {
      if (part.dataset.align) align(part);
    }
    if (part.matches(".more")) fill();
  };
  document.addEventListener("toggle", (event) => opened(event.target), true);

  // ---- Links unfold what they lead into, before the browser goes there.
  const unfold = (hash) => {
    const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") { at.open = true; opened(at); }
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

  // ---- Filters. What is filtered by is read from the page when it is first needed.
  const field = (id) => document.getElementById(id);
  const [box, from, to, least, most] = ["filter", "from", "to", "least", "most"].map(field);
  const choices = ["by-status", "by-type", "by-site"].map(field);
  let known = null;
  const hosts = (answer) => {
    const links = all(find(".sources", answer) ? ".sources a.url" : ".evidence a.url", answer);
    return [...new Set(links.map((link) => link.hostname.replace(/^www\./, "")))];
  };
  const facts = () => known || (known = answers.map((answer) => {
    const said = find(".sources", answer) || answer;
    const text = (selector) => { const part = find(selector, answer); return part ? part.textContent : ""; };
    return {
      words: all("h2, header .whole p, .text, .sources .title, .id", answer).map((part) => part.textContent).join(" ").toLocaleLowerCase(),
      chosen: [[text(".status")], [text(".type")], hosts(answer)],
      days: all("time", said).map((time) => time.dateTime),
      sure: parseFloat(text(".sure").replace(/\D+/, "")),
    };
  }));

  const fill = () => choices.forEach((choice, i) => {
    if (choice.options.length > 1) return;
    const counts = new Map();
    facts().forEach((fact) => fact.chosen[i].filter(Boolean).forEach((value) => counts.set(value, (counts.get(value) || 0) + 1)));
    const values = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 200);
    values.forEach(([value, count]) => choice.add(new Option(`${value} (${count})`, value)));
    choice.disabled = values.length === 0;
  });

  const filter = () => {
    const words = box.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const found = find("input[name=status]:checked").value;
    const dated = from.value || to.value, sure = least.value || most.value;
    const active = words.length || found || dated || sure || choices.some((choice) => choice.value);
    const matches = (fact, answer) =>
      (!found || answer.dataset.found === found) &&
      words.every((word) => fact.words.includes(word)) &&
      choices.every((choice, i) => !choice.value || fact.chosen[i].includes(choice.value)) &&
      (!dated || fact.days.some((day) => day >= from.value && (!to.value || day <= to.value))) &&
      (!sure || (fact.sure >= (least.value || 0) && fact.sure <= (most.value || 100)));
    let count = 0;
    answers.forEach((answer, i) => {
      const shown = !active || matches(facts()[i], answer);
      answer.hidden = entries[i].hidden = !shown;
      count += shown;
    });
    find("#matches").textContent = active ? `${count} of ${answers.length} shown` : "";
    find(".clear").hidden = !active;
    find("#no-match").hidden = count > 0 || answers.length === 0;
  };
  let waiting = 0;
  find(".filter").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  find(".clear").addEventListener("click", () => {
    [box, from, to, least, most, ...choices].forEach((part) => { part.value = ""; });
    find("input[name=status]").checked = true;
    filter();
    box.focus();
  });

  const button = find("button.unfold");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Fold the evidence" : "Unfold the evidence";
    all(".answer details.evidence").forEach((part) => { part.open = open; });
  });

  if (answers.length > 0) find(".tools").hidden = false;
  if (answers.length > 1) find(".filter").hidden = false;
  if (matchMedia("(max-width: 60rem)").matches) find(".contents").open = false;
  if (answers.length === 1 && find(".evidence")) find(".evidence").open = true;
  arrive();
})();
