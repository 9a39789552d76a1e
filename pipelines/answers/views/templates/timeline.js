  // ---- A timeline: a strip to scale over the list of its events. A day is a point, what is vague a span with soft
  // ends. Wheel, buttons and keys zoom; the list keeps to what is in view.
  const DAY = 864e5, MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const dayOf = (number) => new Date(number * DAY);
  const numberOf = (year, month) => new Date(0).setUTCFullYear(year, month, 1) / DAY;
  const element = (name, attributes, parent, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const htmlPart = (name, attributes, parent, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  // Steps of the scale, in months; below a month they are days.
  const STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000];
  const ticks = (from, to, most) => {
    const days = (to - from) / most, found = [];
    if (days < 16) {
      const step = [1, 2, 7, 14].find((size) => size >= days) || 14;
      for (let day = Math.ceil(from / step) * step; day <= to; day += step) {
        const at = dayOf(day);
        found.push([day, `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}${found.length ? "" : ` ${at.getUTCFullYear()}`}`]);
      }
      return found;
    }
    const step = STEPS.find((size) => size * 30.4 >= days) || 12000;
    const start = dayOf(from), first = start.getUTCFullYear() * 12 + start.getUTCMonth();
    for (let month = Math.ceil(first / step) * step; ; month += step) {
      const year = Math.floor(month / 12), day = numberOf(year, month - 12 * year);
      if (day > to) return found;
      if (day >= from) found.push([day, step < 12 && month % 12 ? `${MONTHS[month - 12 * year]}${found.length ? "" : ` ${year}`}` : String(year)]);
    }
  };

  let drawnTimelines = 0;
  const drawTimeline = (host) => {
    const items = Array.from(host.querySelectorAll("li[data-when]"));
    const events = items.map((item) => {
      const [from, to, marks] = item.dataset.when.split(",").map(Number);
      return { item, from, to: to + 1, vague: to > from, told: marks, text: item.querySelector(".what").textContent };
    });
    if (!events.length) return;
    const first = Math.min(...events.map((event) => event.from)), last = Math.max(...events.map((event) => event.to));
    const margin = Math.max(1, (last - first) * .04);
    const whole = [first - margin, last + margin];
    const soft = `soft-${drawnTimelines += 1}`;
    let view = whole.slice();

    const strip = htmlPart("div", { class: "strip" });
    const tools = htmlPart("p", { class: "zoom" }, strip);
    const frame = htmlPart("div", { class: "scale", tabindex: "0", role: "group" }, strip);
    const state = htmlPart("p", { class: "in-view", role: "status" }, strip);
    host.querySelector("ol").before(strip);

    const draw = () => {
      const width = Math.max(200, frame.clientWidth - 2), x = (day) => (day - view[0]) / (view[1] - view[0]) * width;
      const lanes = [], svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const fade = element("linearGradient", { id: soft }, element("defs", {}, svg));
      [[0, 0], [.25, 1], [.75, 1], [1, 0]].forEach(([offset, opacity]) => element("stop", { offset, "stop-opacity": opacity }, fade));
      const grid = element("g", { class: "ticks" }, svg), marks = element("g", { class: "marks" }, svg);
      const shown = events.filter((event) => event.to > view[0] && event.from < view[1]);
      shown.forEach((event) => {
        const middle = (x(event.from) + x(event.to)) / 2;
        const half = event.vague ? Math.max(9, (x(event.to) - x(event.from)) / 2) : 6;
        const [start, end] = [Math.max(-20, middle - half), Math.min(width + 20, middle + half)];
        let lane = lanes.findIndex((taken) => taken < start - 2);
        if (lane < 0) lane = lanes.length < 8 ? lanes.push(-1) - 1 : lanes.indexOf(Math.min(...lanes));
        lanes[lane] = end;
        const y = 12 + lane * 16;
        const mark = event.vague
          ? element("rect", { x: start, y: y - 5, width: Math.max(1, end - start), height: 10, rx: 5, fill: `url(#${soft})` }, marks)
          : element("circle", { cx: middle, cy: y, r: 5, class: event.told ? "unsure" : "" }, marks);
        element("title", {}, mark, `${event.item.querySelector("time").textContent}: ${event.text}`);
        mark.addEventListener("click", () => event.item.querySelector("a, summary").focus());
      });
      const height = 12 + Math.max(1, lanes.length) * 16 + 20;
      ticks(view[0], view[1], width / 78).forEach(([day, label]) => {
        element("path", { d: `M${x(day)} 0V${height - 16}` }, grid);
        element("text", { x: x(day) + 3, y: height - 4 }, grid, label);
      });
      for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" })) svg.setAttribute(key, value);
      frame.replaceChildren(svg);
      events.forEach((event) => { event.item.hidden = !shown.includes(event); });
      host.querySelectorAll(".unit").forEach((unit) => { unit.hidden = !unit.querySelector("li[data-when]:not([hidden])"); });
      state.textContent = shown.length === events.length ? "" : `${shown.length} of ${events.length} events in view`;
    };
    const look = (from, to) => {
      const full = whole[1] - whole[0], wide = Math.min(full, Math.max(2, to - from));
      const start = Math.min(whole[1] - wide, Math.max(whole[0], from + (to - from - wide) / 2));
      view = [start, start + wide];
      draw();
    };
    const zoom = (by, at = .5) => {
      const wide = (view[1] - view[0]) * by, day = view[0] + at * (view[1] - view[0]);
      look(day - at * wide, day + (1 - at) * wide);
    };
    const move = (by) => look(view[0] + by * (view[1] - view[0]), view[1] + by * (view[1] - view[0]));
    const keys = {
      "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), "0": () => look(...whole),
      ArrowLeft: () => move(-.25), ArrowRight: () => move(.25), Home: () => look(whole[0], whole[0] + view[1] - view[0]),
      End: () => look(whole[1] - view[1] + view[0], whole[1]),
    };
    frame.setAttribute("aria-label", `Scale of ${events.length} events; plus and minus zoom, arrows move, 0 shows all`);
    frame.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    });
    // A wheel turns the page, unless the scale has the focus or Ctrl is held.
    frame.addEventListener("wheel", (event) => {
      if (document.activeElement !== frame && !event.ctrlKey) return;
      event.preventDefault();
      const place = frame.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.25 : .8, (event.clientX - place.left) / place.width);
    }, { passive: false });
    let held = null;
    frame.addEventListener("pointerdown", (event) => { held = event.clientX; });
    window.addEventListener("pointerup", () => { held = null; });
    frame.addEventListener("pointermove", (event) => {
      if (held === null || Math.abs(event.clientX - held) < 4) return;
      move((held - event.clientX) / frame.clientWidth);
      held = event.clientX;
    });
    frame.addEventListener("dblclick", (event) => {
      const place = frame.getBoundingClientRect();
      zoom(.5, (event.clientX - place.left) / place.width);
    });
    [["−", "Zoom out", "-"], ["+", "Zoom in", "+"], ["All", "Show all events", "0"]].forEach(([text, label, key]) => {
      htmlPart("button", { type: "button", "aria-label": label }, tools, text).addEventListener("click", keys[key]);
    });
    htmlPart("span", {}, tools, "a point is a day (empty: expected, or its report’s date), a soft span a vaguer date");
    new ResizeObserver(draw).observe(frame);
  };
