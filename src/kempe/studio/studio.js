"use strict";
// Everything that comes from the table is set as text, never as HTML.
(() => {
  const $ = (id) => document.getElementById(id);
  const view = { state: null, xy: null, labels: null, pairs: [], selected: [], drag: null, busy: false };

  function made(tag, text, kind) {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  }

  async function ask(path, body) {
    const options = body === undefined ? {} : {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "X-Kempe": "studio" },
    };
    const answer = await fetch(path, { credentials: "same-origin", ...options });
    if (answer.status === 204) return null;
    const found = await answer.json();
    if (answer.status === 409) { await show(found); throw new Error("Another window was quicker; this is what it looks like now."); }
    if (!answer.ok) throw new Error(found.error || answer.statusText);
    return found;
  }

  async function numbers(path, kind) {
    const answer = await fetch(path, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.statusText);
    return new kind(await answer.arrayBuffer());
  }

  function say(text) { $("news").textContent = text; }

  async function act(action, body, said) {
    if (view.busy) return;
    view.busy = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      const state = await ask("/do/" + action, { version: view.state.version, ...body });
      await show(state);
      say([said, state.changed, heard(state)].filter(Boolean).join(" "));
    } catch (error) { say(error.message); }
    view.busy = false;
    document.body.removeAttribute("aria-busy");
  }

  const heard = (state) => state.question
    ? `Question ${state.question.number}: ${state.question.cards[0].id} and ${state.question.cards[1].id}.`
    : "There is nothing left to ask.";

  const rowsOfQuestion = () => view.state.question.cards.map((card) => card.row);
  const colour = (cluster) => view.state.colours[cluster % view.state.colours.length];
  const told = (one) => (one.probably ? "probably " : "") + one.said;
  const ANSWERS = ["together", "apart", "probably-together", "probably-apart", "unsure"];

  async function show(state) {
    view.state = state;
    document.title = `${state.title} · kempe studio`;
    $("title").textContent = state.title;
    const rows = state.n_rows.toLocaleString("en");
    $("progress").textContent = `${state.n_answers} answer${state.n_answers === 1 ? "" : "s"}, ${rows} rows.`;
    $("log").textContent = state.log ? `Kept in ${state.log}` : "";
    $("changed").textContent = state.changed;
    showQuestion(state.question);
    showConflicts(state.conflicts);
    showClusters(state);
    showHistory(state.history);
    showScore(state);
    [view.labels, view.pairs] = await Promise.all([numbers("/get/labels", Uint16Array), ask("/get/pairs")]);
    draw();
  }

  function showQuestion(question) {
    for (const id of [...ANSWERS, "skip"]) $(id).disabled = !question;
    $("back").disabled = !view.state.n_answers;
    $("why").textContent = question ? `Asked because: ${question.why}.` : "Everything that can be asked is known.";
    ["first", "second"].forEach((id, n) => $(id).replaceChildren(...(question ? card(question.cards[n]) : [])));
    ["first", "second"].forEach((id, n) => { $(id).style.borderTopColor = question ? colour(question.cards[n].cluster) : ""; });
  }

  function card(content) {
    const list = made("dl");
    for (const cell of content.cells) {
      list.append(made("dt", cell.column));
      const value = made("dd", cell.image ? "" : cell.text || "–", cell.differs ? "differs" : "same");
      if (cell.image) {
        const image = made("img");
        image.src = `/get/image?row=${content.row}&column=${cell.number}`;
        image.alt = cell.text;
        value.append(image);
      }
      list.append(value);
    }
    const where = view.state.clusters[content.cluster];
    return [made("h3", content.id), made("p", `now in ${where ? where.name : content.cluster}`, "where"), list];
  }

  function takeBack(one) {
    const button = made("button", "Take back");
    button.setAttribute("aria-label", `Take back: ${one.ids[0]} and ${one.ids[1]} ${told(one)}`);
    button.addEventListener("click", () => act("retract", { rows: one.rows, said: one.said }, "Taken back."));
    return button;
  }

  function sentence(one, node) {
    node.append(made("span", one.ids[0]), " and ", made("span", one.ids[1]), ": ", made("span", told(one), "said"));
    if (one.label) node.append(` (label ${one.label})`);
    if (one.overruled) node.append(" ", made("span", "overruled by the rows", "missed"));
    if (one.predicted === false) node.append(" ", made("span", "not predicted", "missed"));
    node.append(takeBack(one));
    return node;
  }

  function showConflicts(conflicts) {
    $("conflicts").hidden = !conflicts.length;
    $("conflict-list").replaceChildren(...conflicts.map((conflict) => {
      const box = made("div"), list = made("ul");
      list.append(...conflict.answers.map((one) => sentence(one, made("li"))));
      box.append(made("p", `Left out for now, because ${conflict.proof}. Take back the answer that is wrong:`), list);
      return box;
    }));
  }

  function showClusters(state) {
    const head = made("tr");
    head.append(...["cluster", "rows", ...state.columns].map((name) => { const th = made("th", name); th.scope = "col"; th.title = name; return th; }));
    $("cluster-head").replaceChildren(head);
    $("clusters").replaceChildren(...state.clusters.map((cluster) => {
      const line = made("tr"), name = made("th"), swatch = made("span", "", "swatch");
      swatch.style.background = colour(cluster.number);
      name.scope = "row";
      name.append(swatch, cluster.name);
      line.append(name, made("td", cluster.size.toLocaleString("en")));
      line.append(...cluster.centre.map((value) => made("td", value === null ? "–" : Number(value.toPrecision(4)).toString())));
      return line;
    }));
    $("chosen").textContent = state.chosen === "spread"
      ? "Rows join the answered rows that they are most like, which predicted your answers best."
      : "Clusters by k-means under your answers.";
  }

  function showHistory(history) {
    $("history").replaceChildren(...[...history].reverse().map((one) => sentence(one, made("li"))));
    $("history").setAttribute("start", String(view.state.n_answers));
  }

  function showScore(state) {
    $("score").textContent = state.score === null ? "How many answers were predicted is shown after the first."
      : `${Math.round(100 * state.score)} % of the answers were predicted before they were given. Questions are about rows in doubt, so this is less than the share of all pairs that are right.`;
    $("curve").setAttribute("aria-label", $("score").textContent);
    drawCurve(state.curve);
  }

  // Drawing

  function paper(canvas) {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const ink = canvas.getContext("2d");
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, width, height);
    return { ink, width, height, style: getComputedStyle(document.documentElement) };
  }

  const EDGE = 10;
  function place(row) {
    const canvas = $("map"), width = canvas.clientWidth - 2 * EDGE, height = canvas.clientHeight - 2 * EDGE;
    return [EDGE + view.xy[2 * row] * width, EDGE + (1 - view.xy[2 * row + 1]) * height];
  }

  // Rows are drawn when they or the paper change; what moves over them is drawn on a copy.
  function ground(canvas) {
    const { labels, xy } = view, old = view.ground;
    if (old && old.labels === labels && old.width === canvas.width && old.height === canvas.height) return old.sheet;
    const sheet = document.createElement("canvas"), ratio = devicePixelRatio || 1;
    sheet.width = canvas.width;
    sheet.height = canvas.height;
    const ink = sheet.getContext("2d"), n = labels.length, size = n > 20000 ? 1.5 : n > 3000 ? 2.5 : n > 500 ? 4 : 6;
    const width = canvas.clientWidth - 2 * EDGE, height = canvas.clientHeight - 2 * EDGE;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.globalAlpha = n > 20000 ? 0.5 : 0.8;
    const members = view.state.clusters.map(() => []);
    for (let row = 0; row < n; row++) members[labels[row]].push(row);
    members.forEach((rows, cluster) => {
      ink.fillStyle = colour(cluster);
      for (const row of rows) ink.fillRect(EDGE + xy[2 * row] * width - size / 2, EDGE + (1 - xy[2 * row + 1]) * height - size / 2, size, size);
    });
    view.ground = { sheet, labels, width: canvas.width, height: canvas.height };
    return sheet;
  }

  function draw() {
    if (!view.xy || !view.labels || !view.state) return;
    const canvas = $("map"), { ink, width, height, style } = paper(canvas);
    ink.drawImage(ground(canvas), 0, 0, width, height);
    if ($("show-pairs").checked) drawPairs(ink, style);
    if (view.state.question) drawQuestion(ink, style);
    view.selected.forEach((row) => ring(ink, row, 7, style.getPropertyValue("--ink"), 2));
    if (view.drag && view.drag.moved) {
      ink.strokeStyle = style.getPropertyValue("--ink");
      ink.setLineDash([4, 3]);
      ink.strokeRect(...box(view.drag));
      ink.setLineDash([]);
    }
  }

  function line(ink, from, to) { ink.beginPath(); ink.moveTo(...place(from)); ink.lineTo(...place(to)); ink.stroke(); }

  function ring(ink, row, radius, stroke, width) {
    ink.beginPath();
    ink.arc(...place(row), radius, 0, 2 * Math.PI);
    ink.strokeStyle = stroke;
    ink.lineWidth = width;
    ink.stroke();
  }

  function drawPairs(ink, style) {
    ink.lineWidth = 1;
    for (const [first, second, together, certain] of view.pairs) {
      ink.globalAlpha = certain ? 1 : 0.5;
      ink.strokeStyle = style.getPropertyValue(together ? "--good" : "--high");
      ink.setLineDash(together ? [] : [4, 3]);
      line(ink, first, second);
    }
    ink.globalAlpha = 1;
    ink.setLineDash([]);
  }

  function drawQuestion(ink, style) {
    const rows = rowsOfQuestion();
    ink.strokeStyle = style.getPropertyValue("--ink");
    ink.lineWidth = 1.5;
    line(ink, ...rows);
    rows.forEach((row) => {
      ink.beginPath();
      ink.arc(...place(row), 5, 0, 2 * Math.PI);
      ink.fillStyle = colour(view.labels[row]);
      ink.fill();
      ring(ink, row, 9, style.getPropertyValue("--ink"), 2.5);
    });
  }

  function drawCurve(curve) {
    const { ink, width, height, style } = paper($("curve"));
    const left = 44, base = height - 18, top = 8;
    ink.font = "12px system-ui, sans-serif";
    ink.fillStyle = style.getPropertyValue("--soft");
    ink.strokeStyle = style.getPropertyValue("--grid");
    for (const share of [0, 0.5, 1]) {
      const y = base - share * (base - top);
      ink.fillText(`${100 * share} %`, 0, y + 4);
      ink.beginPath(); ink.moveTo(left, y); ink.lineTo(width, y); ink.stroke();
    }
    ink.textAlign = "right";
    ink.fillText("answers", width - 2, height - 3);
    ink.textAlign = "left";
    ink.strokeStyle = style.getPropertyValue("--accent");
    ink.lineWidth = 2;
    ink.beginPath();
    curve.forEach((share, n) => {
      const x = left + (curve.length < 2 ? 0 : n / (curve.length - 1)) * (width - left - 6);
      if (n) ink.lineTo(x, base - share * (base - top)); else ink.moveTo(x, base - share * (base - top));
    });
    ink.stroke();
  }

  // The map under the pointer

  function spot(event) {
    const frame = $("map").getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  function nearest(at) {
    let best = -1, least = 12 * 12;
    for (let row = 0; row < view.labels.length; row++) {
      const [x, y] = place(row), away = (x - at[0]) ** 2 + (y - at[1]) ** 2;
      if (away < least) { least = away; best = row; }
    }
    return best;
  }

  const box = (drag) => [Math.min(drag.from[0], drag.to[0]), Math.min(drag.from[1], drag.to[1]),
    Math.abs(drag.from[0] - drag.to[0]), Math.abs(drag.from[1] - drag.to[1])];

  function inside(drag) {
    const [left, top, width, height] = box(drag), found = [];
    for (let row = 0; row < view.labels.length && found.length < 1000; row++) {
      const [x, y] = place(row);
      if (x >= left && x <= left + width && y >= top && y <= top + height) found.push(row);
    }
    return found;
  }

  function select(rows) {
    view.selected = rows;
    $("selection").hidden = !rows.length;
    $("selected").textContent = rows.length === 1 ? "1 row selected; click another." : `${rows.length} rows selected.`;
    for (const id of ["pair-together", "pair-apart"]) $(id).disabled = rows.length !== 2;
    draw();
  }

  let hovering = 0;
  async function hover(at) {
    const turn = ++hovering, row = view.labels ? nearest(at) : -1;
    $("tip").hidden = true;
    if (row < 0) return;
    const found = await ask(`/get/row?row=${row}`).catch(() => null);
    if (!found || turn !== hovering) return;
    $("tip").textContent = `${found.id}, ${view.state.clusters[found.cluster].name}`;
    $("tip").style.left = `${Math.min(at[0] + 12, $("map").clientWidth - 140)}px`;
    $("tip").style.top = `${at[1] + 12}px`;
    $("tip").hidden = false;
  }

  function listen() {
    for (const id of ANSWERS) {
      const said = id.replace("probably-", ""), probably = said !== id;
      const heard = probably ? `Probably ${said}.` : `${said[0].toUpperCase()}${said.slice(1)}.`;
      $(id).addEventListener("click", () => act("answer", { rows: rowsOfQuestion(), said, ...(probably && { confidence: view.state.probably }) }, heard));
    }
    $("skip").addEventListener("click", () => act("skip", { rows: rowsOfQuestion() }, "Skipped."));
    $("back").addEventListener("click", () => act("undo", {}, "Taken back."));
    $("search").addEventListener("click", () => { say("Searching…"); act("search", {}, "Searched."); });
    for (const said of ["together", "apart"])
      $(`pair-${said}`).addEventListener("click", async () => { await act("answer", { rows: view.selected, said }, "Noted."); select([]); });
    $("give-name").addEventListener("click", async () => { await act("label", { rows: view.selected, name: $("name").value }, "Labelled."); select([]); });
    $("clear").addEventListener("click", () => select([]));
    $("show-pairs").addEventListener("change", draw);
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input:not([type=checkbox])") || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const key = (event.shiftKey ? "shift " : "") + event.key.toLowerCase();
      const id = { t: "together", a: "apart", "shift t": "probably-together", "shift a": "probably-apart", u: "unsure", s: "skip", b: "back" }[key];
      if (id && !$(id).disabled) { event.preventDefault(); $(id).click(); }
    });
    const map = $("map");
    let waiting = 0;
    map.addEventListener("pointerdown", (event) => { view.drag = { from: spot(event), to: spot(event), moved: false }; });
    map.addEventListener("pointermove", (event) => {
      const at = spot(event);
      if (view.drag) {
        view.drag.to = at;
        view.drag.moved = view.drag.moved || Math.hypot(at[0] - view.drag.from[0], at[1] - view.drag.from[1]) > 5;
        if (view.drag.moved) requestAnimationFrame(draw);
        return;
      }
      clearTimeout(waiting);
      waiting = setTimeout(() => hover(at), 60);
    });
    map.addEventListener("pointerleave", () => { clearTimeout(waiting); hovering++; $("tip").hidden = true; });
    addEventListener("pointerup", (event) => {
      const drag = view.drag;
      view.drag = null;
      if (!drag || !view.labels) return;
      if (drag.moved) { select(inside(drag)); return; }
      const row = nearest(spot(event));
      if (row < 0) return;
      select(view.selected.includes(row) ? view.selected.filter((one) => one !== row) : [...view.selected, row]);
    });
    addEventListener("resize", () => { draw(); if (view.state) drawCurve(view.state.curve); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); if (view.state) drawCurve(view.state.curve); });
  }

  // Other windows may answer, too.
  async function watch() {
    if (view.state && !view.busy && !document.hidden) {
      try {
        const state = await ask(`/get/state?version=${view.state.version}`);
        if (state && !view.busy) await show(state);
      } catch (error) { say("The studio has ended; start it again, and what you answered is there."); }
    }
    setTimeout(watch, 1500);
  }

  async function begin() {
    listen();
    try {
      view.xy = await numbers("/get/map", Float32Array);
      await show(await ask("/get/state"));
      say(heard(view.state));
      watch();
    } catch (error) { say(error.message); }
  }
  begin();
})();
